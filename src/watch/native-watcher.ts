/**
 * Access to the system's events through the native watcher; this is the only file that imports it. All sources of a
 * process share one event queue in it, so they can only be started over together.
 *
 * The caller has to cover what the native watcher does not do. It watches a new directory, but not the directories that are
 * already in it or come with it. It does not report events that the kernel dropped. Below a renamed directory it keeps
 * using the old name, and can then not release it. It says nothing when the kernel refuses to watch a new directory.
 */
import { mkdtemp, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { subscribe, type AsyncSubscription, type Event, type Options } from '@parcel/watcher';
import type { Clock } from '../base/clock.ts';
import { bytesReadBy, EventPressure, queueLength, threads, threadsNamedAsMain } from './event-pressure.ts';
import { canOpenQueue } from './watch-limit.ts';

export type NativeEvent = Pick<Event, 'type' | 'path'>;

/** A source. It is started and stopped together with all others. */
export interface NativeClient {
  /** @returns false when it could not watch its source */
  start(): Promise<boolean>;
  /** @returns false when something could not be released */
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
 * Subscribed directories, as they were spelled. The native watcher reads a directory once for each spelling, and relies
 * on that result as long as any of its subscriptions is held.
 */
const held = new Set<string>();
/** Another path to the root of the file system, which can be repeated to make new spellings. */
const DETOUR = '/proc/self/root';
/**
 * By default the native watcher would use the program watchman if present, which misses other events than those that
 * are handled here.
 */
const OPTIONS: Options = process.platform === 'linux' ? { backend: 'inotify' } : {};

/** Starts one more source. */
export async function joinNative(client: NativeClient): Promise<void> {
  await inTurn(async () => {
    clients.add(client);
    if (!(await client.start())) await renew(new Set([client]));
  });
}

/** Stops a source for good. What it cannot release itself is released by starting the others over. */
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

/** A renewal that has not begun yet serves all callers. */
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
    // The directories that it did watch count against the limit until everything is released.
    await renew(without.add(client));
    return;
  }
}

/** With nothing else subscribed, ending one clean subscription closes the queue and frees everything that belongs to it. */
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
 * Watches a directory and everything below it except `leftOut`. Paths are absolute.
 * @returns a function that ends it, and resolves with whether everything was released
 */
export async function subscribeNative(
  directory: string,
  leftOut: readonly string[],
  handlers: NativeHandlers,
): Promise<() => Promise<boolean>> {
  let detour = '';
  while (held.has(`${detour}${directory}`)) detour += DETOUR;
  const spelled = `${detour}${directory}`;
  // `ignore` would treat brackets and stars in a path as a pattern.
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

/** Checks whether events were dropped; `reported` is the number that has arrived. */
export function measureNative(clock: Clock, reported: number): void {
  if (pressure?.isTooHigh(clock.monotonic(), reported) !== true) return;
  for (const client of clients) client.overflowed();
}

async function letGo(subscription: AsyncSubscription): Promise<boolean> {
  try {
    await subscription.unsubscribe();
    return true;
  } catch {
    // For example, because the directory is gone. No more events arrive from it, and the caller frees the rest (`release`).
    return false;
  }
}
