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
 * Remembers the numbers of the keyring and configuration that this machine uses from here on, after making both objects
 * durable. Their writer may have died while they were visible but could still be lost to power failure. Objects sealed
 * under a lost keyring would be lost as well, and a machine that remembers a lost number would report the repository as
 * rolled back.
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

/** Makes new objects durable. False where there is nothing new. */
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
 * Like `rememberSeen`, but never fails because the destination or the state directory is read-only, since the caller
 * may only want to read. Writers try again (chain.ts).
 */
export async function rememberIfLasting(...request: Parameters<typeof rememberSeen>): Promise<void> {
  const [, writer, seen, signal] = request;
  const remember = async (): Promise<void> => {
    if (await makeLast(...request)) await writer.rememberIfPossible(seen);
  };
  await unlessFailing(remember(), signal);
}

/**
 * Remembers the newest record of each writer, so that its loss is noticed later. The records are made durable first;
 * where that fails nothing is remembered.
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
