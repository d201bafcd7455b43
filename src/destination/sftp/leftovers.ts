/** Removes temporary files that interrupted runs left on the server. */
import { ListBound } from '../bounds.ts';
import type { Leftovers } from '../destination.ts';
import { isKeyPart } from '../key.ts';
import { removeStale, type Leftover } from '../leftovers.ts';
import { isTemporaryName, temporaryName } from '../new-file.ts';
import { isStatus, STATUS } from './answers.ts';
import type { Lane } from './lane.ts';
import { namesIn, type OnLane } from './walk.ts';

/** Removes temporary files once they are a day old by the server's clock. */
export async function removeLeftovers(onLane: OnLane, root: string, signal: AbortSignal): Promise<Leftovers> {
  const nowMs = await onLane(async (lane) => await timeAt(lane, root));
  const remove = async (path: string): Promise<boolean> =>
    await onLane(async (lane) => {
      try {
        await lane.remove(path);
        return true;
      } catch (error) {
        if (isStatus(error, STATUS.noSuchFile)) return false;
        throw error;
      }
    });
  return await removeStale(temporariesBelow(onLane, root, signal), nowMs, remove, signal);
}

/** The server's current time, taken from a file that is created for that. */
async function timeAt(lane: Lane, root: string): Promise<number> {
  const probe = `${root}/${temporaryName()}`;
  const handle = await lane.open(probe, 'create');
  try {
    return (await lane.factsOf(handle)).modifiedMs;
  } finally {
    await lane.close(handle);
    await lane.remove(probe);
  }
}

async function* temporariesBelow(
  onLane: OnLane,
  root: string,
  signal: AbortSignal,
): AsyncGenerator<Leftover> {
  const bound = new ListBound(root);
  const waiting = [root];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    signal.throwIfAborted();
    const directory = path;
    const { count } = bound.folder(directory.slice(root.length + 1));
    const names = await onLane(
      async (lane) =>
        await namesIn(lane, directory, false, (name) => {
          signal.throwIfAborted();
          count(name);
        }),
    );
    for (const { name, type, size, modifiedMs } of names) {
      if (type === 'directory' && isKeyPart(name)) waiting.push(`${directory}/${name}`);
      else if (type === 'file' && isTemporaryName(name))
        yield { name: `${directory}/${name}`, size, modifiedMs };
    }
  }
}
