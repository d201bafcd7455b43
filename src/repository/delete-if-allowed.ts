/** Deletes objects that are of no use but harmless, and leaves them where the storage refuses. */
import { DestinationError } from '../base/errors.ts';
import type { Repository } from './repository.ts';

/** Deletes an object; false when the storage refuses, as it may for objects that it has to keep for a time. */
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
