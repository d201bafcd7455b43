/** Which failures of an operation the faults of a plan explain. */
import { ReliedPackGone } from '../../src/archiver/store/commit.ts';
import { HoldfastError, isAbort } from '../../src/base/errors.ts';

export interface Circumstances {
  readonly isCancelled: boolean;
  /** Some machine is a copy of another. */
  readonly isCloned: boolean;
  /** Two records have one place. */
  readonly isForked: boolean;
  /** The storage lied, or somebody slept for so long, that something may not be where it has to be. */
  readonly mayLack: boolean;
}

/** Why an operation may fail so; undefined for what nothing explains. */
export function excuseFor(
  error: unknown,
  { isCancelled, isCloned, isForked, mayLack }: Circumstances,
): string | undefined {
  if (isCancelled && (isAbort(error) || error instanceof HoldfastError)) return 'cancelled';
  if (error instanceof ReliedPackGone) return undefined;
  if (!(error instanceof HoldfastError)) return undefined;
  // Somebody else writes as this writer: that is what has to be said.
  if (isCloned && (error.code === 'DESTINATION_EXISTS' || isForked)) return 'fork';
  if (error.code === 'DESTINATION_EXISTS') return undefined;
  if (error.side === 'destination') return error.code;
  switch (error.code) {
    case 'REPOSITORY_LOCKED':
    case 'REFUSED':
    case 'SNAPSHOT_NOT_FOUND':
      return error.code;
    case 'NO_REPOSITORY':
    case 'CORRUPT_DATA':
      return mayLack ? error.code : undefined;
    default:
      return undefined;
  }
}
