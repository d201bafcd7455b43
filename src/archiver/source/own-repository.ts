import { asByteString, joinBytes, type ByteString } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import type { Lease } from '../../repository/lease.ts';
import { statPath } from './stat.ts';

const LEASES = asByteString('leases');

/**
 * Recognises the repository of this run by the lease that the run has just stored in it. Path and inode cannot tell where a
 * FUSE program, a server on this machine or a network drive shows the repository again. A mere copy does not have this lease.
 */
export function isAtWorkIn({
  purpose,
}: Pick<Lease, 'purpose'>): (directory: ByteString, names: readonly ByteString[]) => boolean {
  return (directory, names) => {
    if (!names.includes(LEASES)) return false;
    const lease = joinBytes(joinBytes(directory, LEASES), asByteString(purpose));
    try {
      return statPath(lease) !== undefined;
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      return false;
    }
  };
}
