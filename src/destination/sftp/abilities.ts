/** How a server can be made to create a file under its name without ever replacing another: asked, then tried out. */
import { DestinationError } from '../../base/errors.ts';
import { temporaryName } from '../new-file.ts';
import { isStatus, STATUS, statusOf } from './answers.ts';
import type { Lane } from './lane.ts';

/**
 * `link`: a hard link never replaces. `claim`: a file that only one of several can create guards the name. `look`:
 * nothing does, so that two writers of one name at the same moment may both succeed.
 */
export type Publishing = 'link' | 'claim' | 'look';

export interface Abilities {
  readonly publishing: Publishing;
  /** Requests are worked off one after the other, so that some can be sent before the last is answered. */
  readonly inOrder: boolean;
  readonly syncs: boolean;
}

/** OpenSSH is believed, and shows at the first put whether its file system has links; of any other server files of the probe's own show it, and are removed again. */
export async function findAbilities(lane: Lane, root: string, appendOnly: boolean): Promise<Abilities> {
  const syncs = lane.offers('fsync@openssh.com');
  const links = lane.offers('hardlink@openssh.com');
  if (lane.isOpenSsh && links) return { publishing: 'link', inOrder: true, syncs };
  // Without a trace nothing can be tried there.
  if (appendOnly) return { publishing: links ? 'link' : 'look', inOrder: false, syncs };
  return { publishing: await tryOut(lane, root, links), inOrder: false, syncs };
}

/** Whether there are hard links where the destination lies: OpenSSH offers them also on a file system without. */
export async function hasLinks(lane: Lane, root: string): Promise<boolean> {
  const [file, name] = [`${root}/${temporaryName()}`, `${root}/${temporaryName()}`] as const;
  try {
    await lane.close(await lane.open(file, 'create'));
    return await succeeds(lane.link(file, name));
  } finally {
    await Promise.allSettled([file, name].map(async (path) => await lane.remove(path)));
  }
}

async function tryOut(lane: Lane, root: string, links: boolean): Promise<Publishing> {
  const [first, second, third, rival] = [0, 1, 2, 3].map(() => `${root}/${temporaryName()}`) as [
    string,
    string,
    string,
    string,
  ];
  try {
    for (const path of [first, second]) await lane.close(await lane.open(path, 'create'));
    if (links && (await succeeds(lane.link(first, third))) && !(await succeeds(lane.link(first, second))))
      return 'link';
    const rivals = Array.from({ length: 4 }, async () => await lane.open(rival, 'create'));
    const won = (await Promise.allSettled(rivals)).flatMap((rival) =>
      rival.status === 'fulfilled' ? [rival.value] : [],
    );
    for (const handle of won) await lane.close(handle);
    const again = await succeeds(lane.open(rival, 'create').then(async (handle) => await lane.close(handle)));
    return won.length === 1 && !again ? 'claim' : 'look';
  } catch (error) {
    // Where nothing may be written, how to is no question: reading works.
    if (isStatus(error, STATUS.permissionDenied, STATUS.failure)) return 'look';
    throw error;
  } finally {
    await Promise.allSettled([first, second, third, rival].map(async (path) => await lane.remove(path)));
  }
}

async function succeeds(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (statusOf(error) !== undefined) return false;
    if (error instanceof DestinationError) throw error;
    return false;
  }
}
