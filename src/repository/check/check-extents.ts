import type { DirectoryTotals } from '../../format/tree.ts';
import { chunkKey } from './check-index.ts';
import type { Findings } from './check-report.ts';
import { isDamage, type ChunkIndex } from '../chunk-index.ts';
import type { Repository } from '../repository.ts';
import type { Snapshot } from '../snapshots.ts';
import { isUnending, treeBudget } from '../contents/tree-bounds.ts';
import { TreeReader } from '../contents/tree-reader.ts';

/**
 * Reports snapshots whose stated counts differ from their trees, and those that unfold without end, which nothing can
 * read. Returns all snapshots but the latter.
 * @param roots what the trees hold, as far as they could be read
 */
export async function checkExtents(
  repository: Repository,
  index: ChunkIndex,
  snapshots: readonly Snapshot[],
  roots: ReadonlyMap<string, DirectoryTotals>,
  findings: Findings,
  signal: AbortSignal,
): Promise<readonly Snapshot[]> {
  const ending: Snapshot[] = [];
  for (const snapshot of snapshots) {
    const { id, record } = snapshot;
    const { plain, salt, root, counts } = record;
    const found = roots.get(chunkKey(root));
    if (found !== undefined && (found.files !== counts.files || found.bytes !== counts.bytes)) {
      const said = `it says that it has ${counts.files} files of ${counts.bytes} bytes`;
      const what = `${said}, its tree has ${found.files} of ${found.bytes}`;
      findings.add('error', `snapshot ${id}`, what).affects(id, undefined);
    }
    try {
      await treeBudget(new TreeReader(repository, index, { plain, salt }), root, found, signal);
      ending.push(snapshot);
    } catch (error) {
      if (isUnending(error)) findings.addError(`snapshot ${id}`, error).affects(id, undefined);
      // A damaged root has been reported already.
      else if (isDamage(error)) ending.push(snapshot);
      else throw error;
    }
  }
  return ending;
}
