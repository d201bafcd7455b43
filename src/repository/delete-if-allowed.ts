/** What is of no use any more and does no harm where it is: it stays where the storage does not let it go. */
import { DestinationError } from '../base/errors.ts';
import type { Repository } from './repository.ts';

/** Storages can keep what is stored for a time. False when it stays. */
export async function deleteIfAllowed(
  { destination }: Pick<Repository, 'destination'>,
  key: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await destination.delete(key, signal);
    return true;
  } catch (error) {
    if (!(error instanceof DestinationError) || error.kind !== 'denied') throw error;
    return false;
  }
}
