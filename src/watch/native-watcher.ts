/**
 * The system's own events, through the native watcher: the only file that imports it. All sources of a process share
 * one queue of events in it, so starting over is a matter of all of them.
 *
 * What it does not do, and its caller therefore does: it watches a new directory but not those that are in it already
 * or come with it, tells of no event that the kernel dropped, goes on under the old name below a directory that was
 * renamed (and can then not let go of it), and is silent when the kernel refuses to watch a new directory.
 */
import { mkdtemp, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { subscribe, type AsyncSubscription, type Event, type Options } from '@parcel/watcher';
import type { Clock } from '../base/clock.ts';
import { bytesReadBy, EventPressure, queueLength, threads, threadsNamedAsMain } from './event-pressure.ts';
import { canOpenQueue } from './watch-limit.ts';

export type NativeEvent = Pick<Event, 'type' | 'path'>;

/** A source. It is started and stopped with all the others. */
export interface NativeClient {
  /** @returns false when it could not watch its source */
  start(): Promise<boolean>;
  /** @returns false when something could not be let go of */
  stop(): Promise<boolean>;
  /** The kernel may have dropped events. */
  overflowed(): void;
}

export interface NativeHandlers {
  readonly clock: Clock;
  events(events: readonly NativeEvent[]): void;
  failed(error: Error): void;
}

const clients = new Set<NativeClient>();
let turn: Promise<void> = Promise.resolve();
let pressure: EventPressure | undefined;
/**
 * Directories that are subscribed, as they were spelled. The native watcher reads a directory once for each spelling,
 * and takes what it knows from then for the truth as long as anything of it is held.
 */
const held = new Set<string>();
/** Another way to the root of the file system, of which there may be any number in a row. */
const DETOUR = '/proc/self/root';
/** Left to itself it looks for a program (watchman), which it would let watch with other gaps than those known here. */
const OPTIONS: Options = process.platform === 'linux' ? { backend: 'inotify' } : {};

/** Starts one more source. */
export async function joinNative(client: NativeClient): Promise<void> {
  await inTurn(async () => {
    clients.add(client);
    if (!(await client.start())) await renew(new Set([client]));
  });
}

/** Stops a source for good. What cannot be let go of by itself is let go of by starting the others over. */
export async function leaveNative(client: NativeClient): Promise<void> {
  await inTurn(async () => {
    if (!clients.delete(client)) return;
    const clean = await client.stop();
    if (clients.size === 0) await release();
    else if (!clean) await renew(new Set());
  });
}

/** Starts all sources over. */
export async function renewNative(): Promise<void> {
  queuedRenewal ??= inTurn(async () => {
    queuedRenewal = undefined;
    await renew(new Set());
  });
  await queuedRenewal;
}

/** One that has not begun does for all who want it. */
let queuedRenewal: Promise<void> | undefined;

async function inTurn(work: () => Promise<void>): Promise<void> {
  const mine = turn.then(work);
  turn = mine.catch(() => {});
  await mine;
}

async function renew(without: Set<NativeClient>): Promise<void> {
  for (const client of clients) await client.stop();
  await release();
  for (const client of clients) {
    if (without.has(client) || (await client.start())) continue;
    // What it managed to watch counts against the limit until everything is let go of.
    await renew(without.add(client));
    return;
  }
}

/** With nothing else subscribed, the end of one clean subscription closes the queue and frees all that belongs to it. */
async function release(): Promise<void> {
  if (!canOpenQueue()) return;
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-watch-'));
  try {
    const subscription = await subscribe(directory, () => {}, OPTIONS);
    await subscription.unsubscribe();
  } finally {
    await rmdir(directory);
    pressure = undefined;
    held.clear();
  }
}

/**
 * Watches a directory and everything below it but `leftOut`. Paths are absolute.
 * @returns what ends it, and says whether all of it was let go of
 */
export async function subscribeNative(
  directory: string,
  leftOut: readonly string[],
  handlers: NativeHandlers,
): Promise<() => Promise<boolean>> {
  let detour = '';
  while (held.has(`${detour}${directory}`)) detour += DETOUR;
  const spelled = `${detour}${directory}`;
  // Not `ignore`, which takes brackets and stars in a path for a pattern.
  const options: Options & { ignorePaths: readonly string[] } = {
    ...OPTIONS,
    ignorePaths: leftOut.map((path) => `${detour}${path}`),
  };
  const asGiven = (event: Event): NativeEvent => ({
    type: event.type,
    path: event.path.slice(detour.length).replace(/^\/{2,}/, '/'),
  });
  const before = pressure === undefined ? threads() : undefined;
  held.add(spelled);
  let subscription: AsyncSubscription;
  try {
    subscription = await subscribe(
      spelled,
      (error, events) => {
        measureNative(handlers.clock, error === null ? events.length : 0);
        if (error === null) handlers.events(events.map(asGiven));
        else handlers.failed(error);
      },
      options,
    );
  } finally {
    if (before !== undefined) pressure ??= pressureSince(before);
  }
  return async () => {
    const clean = await letGo(subscription);
    if (clean) held.delete(spelled);
    return clean;
  };
}

/** The threads that read events are those that were started meanwhile. */
function pressureSince(before: ReadonlySet<string>): EventPressure {
  const readers = threadsNamedAsMain([...threads()].filter((thread) => !before.has(thread)));
  return new EventPressure({ queue: queueLength(), bytesRead: () => bytesReadBy(readers) });
}

/** Looks whether events were dropped; `reported` is how many have arrived. */
export function measureNative(clock: Clock, reported: number): void {
  if (pressure?.isTooHigh(clock.monotonic(), reported) !== true) return;
  for (const client of clients) client.overflowed();
}

async function letGo(subscription: AsyncSubscription): Promise<boolean> {
  try {
    await subscription.unsubscribe();
    return true;
  } catch {
    // As for a directory that is gone. Nothing of it arrives any more, and who is told that frees the rest (`release`).
    return false;
  }
}
