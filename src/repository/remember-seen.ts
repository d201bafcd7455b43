import { DestinationError } from '../base/errors.ts';
import type { Destination } from '../destination/destination.ts';
import { copyKey } from './objects/second-copies.ts';
import type { WriterMemory, WriterState } from './writer-state.ts';

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
  if (await makeLast(destination, writer, seen, signal)) await writer.remember(seen);
}

/** False where there is nothing new. */
async function makeLast(
  destination: Destination,
  writer: WriterState,
  seen: Seen,
  signal: AbortSignal,
): Promise<boolean> {
  const { ring, config } = writer.memory;
  const keys = [
    ...(seen.ring === undefined || seen.ring <= ring ? [] : [`keys/ring-${seen.ring}`]),
    ...(seen.config === undefined || seen.config <= config ? [] : [`config/${seen.config}`]),
  ];
  if (keys.length === 0) return false;
  await destination.makeDurable?.([...keys, ...keys.map(copyKey)], signal);
  return true;
}

/**
 * The same for whoever may only want to read, as from a disk that takes no writes, or with a state directory that does not;
 * who writes tries again (chain.ts).
 */
export async function rememberIfLasting(...request: Parameters<typeof rememberSeen>): Promise<void> {
  const [, writer, seen, signal] = request;
  const remember = async (): Promise<void> => {
    if (await makeLast(...request)) await writer.rememberIfPossible(seen);
  };
  await unlessFailing(remember(), signal);
}

/**
 * The newest record of each writer, whose loss is noticed from now on. One that power loss can still take is made to
 * last before; where that fails nothing is remembered.
 */
export async function rememberHeads(
  destination: Destination,
  writer: WriterState,
  newest: WriterMemory['heads'],
  signal: AbortSignal,
): Promise<void> {
  const known = writer.memory.heads;
  const keys = Object.entries(newest)
    .filter(([id, { record }]) => known[id]?.record !== record)
    .flatMap(([, { record }]) => [`snapshots/${record}`, `trash/${record}`]);
  const remember = async (): Promise<void> => {
    await destination.makeDurable?.(keys, signal);
    await writer.rememberIfPossible({ heads: newest });
  };
  if (keys.length > 0) await unlessFailing(remember(), signal);
}

async function unlessFailing(work: Promise<void>, signal: AbortSignal): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof DestinationError) || signal.aborted) throw error;
  }
}
