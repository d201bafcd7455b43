import { asByteString, type ByteString } from '../../base/byte-path.ts';
import type { SnapshotRecord } from '../../format/records.ts';

/**
 * Returns a test for paths whose absence from the snapshot proves nothing, because the backup could not read them,
 * something above them or something below them.
 */
export function keptPaths({
  errors,
  errorsMore,
}: Pick<SnapshotRecord, 'errors' | 'errorsMore'>): (path: ByteString) => boolean {
  if (errorsMore > 0) return () => true;
  if (errors.length === 0) return () => false;
  const unread = new Set<ByteString>();
  const above = new Set<ByteString>();
  for (const { path } of errors) {
    unread.add(path);
    for (const one of parentsOf(path)) above.add(one);
  }
  return (path) => unread.has(path) || above.has(path) || parentsOf(path).some((one) => unread.has(one));
}

function parentsOf(path: ByteString): ByteString[] {
  const parents: ByteString[] = [];
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
    parents.push(asByteString(path.slice(0, at)));
  return parents;
}
