/**
 * Finds out how a server can be made to create a file without ever replacing another: by its extensions, then by
 * trying.
 */
import { DestinationError } from '../../base/errors.ts';
import { temporaryName } from '../new-file.ts';
import { isStatus, STATUS, statusOf } from './answers.ts';
import type { Lane } from './lane.ts';

/**
 * How a file gets its final name. `link`: by a hard link, which never replaces. `claim`: guarded by a file that only
 * one of several writers can create. `look`: after a mere look, so that two concurrent writers of one name may both
 * succeed.
 */
export type Publishing = 'link' | 'claim' | 'look';

export interface Abilities {
  readonly publishing: Publishing;
  /** The server handles requests in order, so that several can be sent before the last one is answered. */
  readonly inOrder: boolean;
  readonly syncs: boolean;
}

/**
 * What OpenSSH offers is believed; whether its file system has links shows at the first put. Other servers are tried
 * out with temporary files, which are removed again.
 */
export async function findAbilities(lane: Lane, root: string, appendOnly: boolean): Promise<Abilities> {
  const syncs = lane.offers('fsync@openssh.com');
  const links = lane.offers('hardlink@openssh.com');
  if (lane.isOpenSsh && links) return { publishing: 'link', inOrder: true, syncs };
  // With append-only access nothing is tried, as the files could not be removed again.
  if (appendOnly) return { publishing: links ? 'link' : 'look', inOrder: false, syncs };
  return { publishing: await tryOut(lane, root, links), inOrder: false, syncs };
}

/** Whether the destination's file system has hard links: OpenSSH offers the request even where it does not. */
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
    // Where nothing may be written the way of writing does not matter, and reading works.
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
