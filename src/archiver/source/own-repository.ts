import { asByteString, joinBytes, type ByteString } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import type { Lease } from '../../repository/lease.ts';
import { statPath } from './stat.ts';

const LEASES = asByteString('leases');

/**
 * Tells the repository of this run by the lease that the run has just stored there. Neither path nor inode says so where a
 * program shows it once more, a server of this machine, or a network drive; and a mere copy has no such lease.
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
