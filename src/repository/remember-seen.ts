import { DestinationError } from '../base/errors.ts';
import type { Destination } from '../destination/destination.ts';
import type { WriterState } from './writer-state.ts';

/** Numbers of the keyring and the configuration that are in force. */
interface Seen {
  readonly ring?: number;
  readonly config?: number;
}

/**
 * Remembers the keyring and the configuration that this machine goes by from now on, and makes them last before: their
 * writer may have died when others could see them and power loss could still take them. What is sealed under keys that
 * go would be lost with them, and a machine that remembers them would call the repository rolled back.
 * @throws {DestinationError} nothing is remembered then
 */
export async function rememberSeen(
  destination: Destination,
  writer: WriterState,
  seen: Seen,
  signal: AbortSignal,
): Promise<void> {
  const { ring, config } = writer.memory;
  const keys = [
    ...(seen.ring === undefined || seen.ring <= ring ? [] : [`keys/ring-${seen.ring}`]),
    ...(seen.config === undefined || seen.config <= config ? [] : [`config/${seen.config}`]),
  ];
  if (keys.length === 0) return;
  await destination.makeDurable?.(keys, signal);
  await writer.remember(seen);
}

/** The same for whoever may only want to read, as from a disk that takes no writes any more. */
export async function rememberIfLasting(
  ...[destination, writer, seen, signal]: Parameters<typeof rememberSeen>
) {
  try {
    await rememberSeen(destination, writer, seen, signal);
  } catch (error) {
    if (!(error instanceof DestinationError) || signal.aborted) throw error;
  }
}
