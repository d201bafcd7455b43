/** What backups of this process learned of the trees they stored, for as long as the repository stays open. */
import type { KnownTree } from '../archiver/before/known-tree.ts';
import type { ByteString } from '../base/byte-path.ts';
import type { Repository } from '../repository/repository.ts';

const byRepository = new WeakMap<Repository, Map<ByteString, KnownTree>>();

export function recallTree(repository: Repository, source: ByteString): KnownTree | undefined {
  return byRepository.get(repository)?.get(source);
}

export function keepTree(repository: Repository, source: ByteString, known: KnownTree | undefined): void {
  const trees = byRepository.get(repository) ?? new Map<ByteString, KnownTree>();
  byRepository.set(repository, trees);
  if (known === undefined) trees.delete(source);
  else trees.set(source, known);
}
