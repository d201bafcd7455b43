/** Temporary objects, and claims, that killed runs have left on the server. */
import { ListBound } from '../bounds.ts';
import type { Leftovers } from '../destination.ts';
import { isKeyPart } from '../key.ts';
import { removeStale, type Leftover } from '../leftovers.ts';
import { isTemporaryName, temporaryName } from '../new-file.ts';
import type { Folder } from './folder.ts';

/** Removes those that the server shows, once they are a day old by its clock. */
export async function removeLeftovers(folder: Folder, signal: AbortSignal): Promise<Leftovers> {
  const nowMs = await timeAt(folder, signal);
  const remove = async (name: string): Promise<boolean> => (await folder.remove(name, signal)) === 'removed';
  return await removeStale(temporariesIn(folder, signal), nowMs, remove, signal);
}

/** The server's present time, which only an object just stored tells; 0 when it does not say. */
async function timeAt(folder: Folder, signal: AbortSignal): Promise<number> {
  const probe = temporaryName();
  await folder.put(probe, Buffer.from('1'), undefined, signal);
  try {
    return (await folder.look(probe, signal))?.modifiedMs ?? 0;
  } finally {
    await folder.remove(probe, signal);
  }
}

async function* temporariesIn(folder: Folder, signal: AbortSignal): AsyncGenerator<Leftover> {
  const bound = new ListBound(folder.url);
  const waiting = [''];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const below = name === '' ? '' : `${name}/`;
    for (const [child, entry] of (await folder.children(name, bound.folder(name), signal)) ?? []) {
      const { isFolder, size = 0, modifiedMs } = entry;
      if (isFolder && isKeyPart(child)) waiting.push(below + child);
      else if (isTemporaryName(child) && modifiedMs !== undefined)
        yield { name: `${below}${child}${isFolder ? '/' : ''}`, size, modifiedMs };
    }
  }
}
