import { isUtf8, type ByteString } from '../base/byte-path.ts';
import { pathText } from '../base/tree-path.ts';
import type { Clock } from '../base/clock.ts';
import { isAbort, StateError } from '../base/errors.ts';
import { endsOf, type DirectoryEnd, type DirectoryEnds } from './directory-ends.ts';
import { directoriesSince, scanDirectories, statOf, subdirectoriesOf, topmost } from './directories.ts';
import { pathsOfEvent } from './event-paths.ts';
import { MOUNTS_CHANGED, type MountView } from './mounts.ts';
import {
  joinNative,
  leaveNative,
  measureNative,
  renewNative,
  subscribeNative,
  type NativeClient,
  type NativeEvent,
} from './native-watcher.ts';
import { canOpenQueue, isRaised, isWatchLimit, notText, tryToWatch, watchError } from './watch-limit.ts';
import type { ChangeFeed, WatchState, ChangeSink } from './change-feed.ts';

export interface NativeRequest {
  readonly root: ByteString;
  readonly never: readonly ByteString[];
  readonly clock: Clock;
  readonly mounts: MountView;
  /** Since when nobody has watched, if the source was watched before. Milliseconds since 1970. */
  readonly unwatchedSince?: number | undefined;
}

/** New directories with subdirectories get a subscription each; beyond this number watching starts over instead. */
const MOST_SUBSCRIPTIONS = 64;
/** Tries to subscribe, as the native watcher gives up when entries vanish while it reads the tree. */
const ATTEMPTS = 5;
/** The most events that are processed one by one. */
const MOST_EVENTS = 20_000;
/** The native watcher reports at least twice a second; the rest is for a busy machine. */
const LAG_MS = 1_500;
const RETRY_MS = 3_600_000;
const STALE_MS = 3_600_000;
/** Starting over waits until nothing has happened for the first time, but at most for the second. */
const CALM_MS = 500;
const MOST_CALMING_MS = 10_000;
/** Some file systems store times in steps of two seconds. */
const STEP_MS = 2_000;

const ENDS: Readonly<Record<DirectoryEnd, string>> = {
  unmounted: MOUNTS_CHANGED,
  moved: 'the source was moved or removed',
};

/** Turns the system's events into changed directories, and keeps all directories of the source watched. */
export class NativeSource implements ChangeFeed, NativeClient {
  readonly lagMs = LAG_MS;
  readonly #request: NativeRequest;
  readonly #sink: ChangeSink;
  readonly #ended = new AbortController();
  readonly #leftOut: readonly ByteString[];
  /** Ends of the source's root and of mount points in it. */
  #ends: DirectoryEnds;
  #isDisplaced = false;
  #state: WatchState = 'starting';
  /** Why the source is lost. */
  #trouble: StateError | undefined;
  #directories = 0;
  /** Functions that end the subscriptions: the source's, then those of directories in it. */
  #subscriptions: (() => Promise<boolean>)[] = [];
  /** Directories that cannot be watched. Each change set includes everything visible below them. */
  readonly #blind = new Set<ByteString>();
  /** The end of the queue of directories that wait to be watched, one after the other. */
  #covering: Promise<void> = Promise.resolve();
  #waiting = 0;
  /** Counts the starts, so that leftover work of an earlier start is recognised and dropped. */
  #starts = 0;
  #renewing = false;
  /** A retry is pending. A retry starts all sources over, so if each failing source added its own, retries would multiply. */
  #isRetrying = false;
  /** Since when changes are not fully reported. Milliseconds since 1970; undefined while they are. */
  #unwatchedSince: number | undefined;
  /** Something was added or removed meanwhile, or may have been. */
  #isChanged = false;
  #startedMs = 0;
  #lastEventMs = 0;

  constructor(request: NativeRequest, sink: ChangeSink) {
    this.#request = request;
    this.#sink = sink;
    this.#unwatchedSince = request.unwatchedSince;
    this.#leftOut = [...request.never, ...request.mounts.virtual, ...request.mounts.silent];
    // Set up first, while the mounts in the request are still up to date.
    this.#ends = this.#endsNow();
    this.#inBackground(joinNative(this));
  }

  get state(): WatchState {
    return this.#renewing || this.#isDisplaced ? 'starting' : this.#state;
  }

  get directories(): number {
    return this.#directories;
  }

  check(): boolean {
    const { root, clock } = this.#request;
    const end = this.#ends.seen();
    if (end !== undefined) this.#displaced(ENDS[end]);
    if (this.#isDisplaced) return false;
    measureNative(clock, 0);
    if (this.#state === 'lost' && isRaised(this.#trouble)) {
      this.#trouble = undefined;
      this.#renewSoon();
    }
    // When the native watcher fails to watch a new directory, it does not report that.
    if (this.#state === 'watching' && process.platform === 'linux') this.#tryToWatch(root);
    // A directory that was moved is also known by its old name, which can mislead, so watching starts over after a while.
    if (this.#subscriptions.length > 1 && clock.monotonic() - this.#startedMs >= STALE_MS) this.#renewSoon();
    for (const path of this.#blind) this.#sink.subtree(path);
    return true;
  }

  async close(): Promise<void> {
    this.#ended.abort();
    this.#ends[Symbol.dispose]();
    await leaveNative(this);
    await this.#covering;
  }

  async start(): Promise<boolean> {
    if (this.#ended.signal.aborted) return true;
    const { root, clock } = this.#request;
    this.#state = 'starting';
    this.#starts += 1;
    this.#startedMs = clock.monotonic();
    this.#directories = 0;
    this.#blind.clear();
    try {
      if (!this.#ends.isWatching) this.#ends = this.#endsNow();
      if (!canOpenQueue()) throw watchError(root, new Error('Too many open files'));
      await this.#cover(root);
      this.#state = 'watching';
      this.#sink.unknown('watching has just started');
      // The change was reported to nobody, and no other one may follow for long.
      if (this.#isChanged) this.#sink.happened(1);
      this.#isChanged = false;
      this.#unwatchedSince = undefined;
      return true;
    } catch (error) {
      if (this.#ended.signal.aborted) return true;
      this.#giveUp(error);
      return false;
    }
  }

  async stop(): Promise<boolean> {
    if (this.#state !== 'lost') this.#state = 'starting';
    this.#unwatchedSince ??= this.#request.clock.now();
    this.#starts += 1;
    // A subscription that is being made would fail when the queue is closed next.
    for (let last: Promise<void> | undefined; last !== this.#covering;) {
      last = this.#covering;
      await last;
    }
    const subscriptions = this.#subscriptions;
    this.#subscriptions = [];
    let clean = true;
    for (const end of subscriptions) clean = (await end()) && clean;
    return clean;
  }

  overflowed(): void {
    this.#sink.lose('so much changed at once that the system may have missed changes');
    this.#isChanged = true;
    // A new directory whose event was dropped is not watched, so watching starts over.
    this.#renewSoon();
  }

  #endsNow(): DirectoryEnds {
    const { root, mounts } = this.#request;
    return endsOf([root, ...mounts.telling.filter((path) => !this.#isLeftOut(path))]);
  }

  /** The watched directory is not the one at this path any more. */
  #displaced(reason: string): void {
    if (this.#isDisplaced) return;
    this.#isDisplaced = true;
    this.#sink.lose(reason);
  }

  /** Watches a directory with everything in it, including what is added meanwhile. */
  async #cover(top: ByteString): Promise<void> {
    const { root, clock } = this.#request;
    const { signal } = this.#ended;
    const start = this.#starts;
    if (!isUtf8(top)) throw notText(top);
    const skip = (path: ByteString): boolean => this.#isLeftOut(path);
    for (let attempt = 1; ; attempt += 1) {
      const scan = await scanDirectories(top, skip, signal);
      if (start !== this.#starts || (scan.marks.size === 0 && top !== root)) return;
      for (const path of scan.unreadable) this.#blind.add(path);
      try {
        const end = await subscribeNative(
          pathText(top),
          [...this.#leftOut, ...scan.unreadable].filter(isUtf8).map(pathText),
          {
            clock,
            events: (events) => this.#take(events),
            failed: (error) => this.#failed(error),
          },
        );
        if (start !== this.#starts) {
          await end();
          return;
        }
        this.#subscriptions.push(end);
      } catch (error) {
        // Usually a directory has vanished since the scan. The watcher gives no code; at a limit, trying again is useless.
        if (attempt === ATTEMPTS || isWatchLimit(watchError(root, error))) throw error;
        continue;
      }
      this.#directories += scan.marks.size - scan.unreadable.length;
      for (const path of await directoriesSince(scan, skip, signal, (at) => this.#sawChange(at))) {
        if (isUtf8(path)) await this.#cover(path);
        else this.#renewSoon();
      }
      return;
    }
  }

  #sawChange(changedAt: number): void {
    // A time in the future was set by a program, or while the clock was wrong.
    if (this.#unwatchedSince === undefined || changedAt > this.#request.clock.now() + STEP_MS) return;
    if (changedAt >= this.#unwatchedSince - STEP_MS) this.#isChanged = true;
  }

  #take(events: readonly NativeEvent[]): void {
    if (this.#ended.signal.aborted) return;
    this.#lastEventMs = this.#request.clock.monotonic();
    if (events.length > MOST_EVENTS) {
      this.overflowed();
      return;
    }
    let seen = 0;
    const { root } = this.#request;
    const arrived = new Map<ByteString, NativeEvent['type']>();
    for (const event of events) {
      const { directories, entries } = pathsOfEvent(event.path);
      for (const directory of directories) if (this.#concerns(directory)) this.#sink.directory(directory);
      for (const entry of entries) {
        if (this.#isLeftOut(entry)) continue;
        seen += 1;
        // After the removal of the root the watcher no longer reports changes at its top level.
        if (entry === root && event.type === 'delete') this.#displaced(ENDS.moved);
        if (this.#isNewDirectory(entry, event.type)) arrived.set(entry, event.type);
      }
    }
    this.#watchNew(arrived);
    if (seen > 0) this.#sink.happened(seen);
  }

  /** Examines the entry of an event. Returns whether it is a directory, which may have replaced another one. */
  #isNewDirectory(path: ByteString, type: NativeEvent['type']): boolean {
    const { root } = this.#request;
    if (path === root) return false;
    const stat = statOf(path);
    if (stat?.isDirectory() === true) {
      this.#sink.subtree(path);
      return true;
    }
    // Its other names are not reported.
    if (stat !== undefined && stat.nlink > 1 && type !== 'delete')
      this.#sink.unknown('a file with several names changed');
    return false;
  }

  #watchNew(arrived: ReadonlyMap<ByteString, NativeEvent['type']>): void {
    const single: ByteString[] = [];
    for (const path of topmost([...arrived.keys()])) {
      const listed = subdirectoriesOf(path);
      if (listed.kind === 'gone') continue;
      if (listed.kind === 'unreadable') this.#blind.add(path);
      // A `delete` event for an existing directory concerns another directory that used to have this name. The native
      // watcher has dropped its watch under that name, so the directory is watched anew.
      else if (listed.paths.length > 0 || arrived.get(path) === 'delete') this.#coverLater(path);
      else single.push(path);
    }
    this.#directories += single.length;
    const [one] = single;
    if (one !== undefined) this.#tryToWatch(one);
  }

  #tryToWatch(path: ByteString): void {
    try {
      tryToWatch(this.#request.root, path);
    } catch (error) {
      this.#giveUp(error);
    }
  }

  #coverLater(path: ByteString): void {
    if (this.#renewing) return;
    if (this.#subscriptions.length + this.#waiting >= MOST_SUBSCRIPTIONS || !isUtf8(path)) {
      this.#sink.unknown('many directories were added to the source');
      this.#renewSoon();
      return;
    }
    this.#waiting += 1;
    this.#covering = this.#coverAfter(this.#covering, path);
  }

  async #coverAfter(others: Promise<void>, path: ByteString): Promise<void> {
    await others;
    this.#waiting -= 1;
    await this.#coverNew(path);
  }

  async #coverNew(path: ByteString): Promise<void> {
    const start = this.#starts;
    if (this.#renewing || this.#ended.signal.aborted) return;
    try {
      await this.#cover(path);
    } catch (error) {
      if (this.#ended.signal.aborted || start !== this.#starts) return;
      if (statOf(path) === undefined) return;
      this.#giveUp(error);
      return;
    }
    // Changes in it from before it was watched were not reported.
    this.#sink.subtree(path);
  }

  #failed(error: Error): void {
    if (this.#ended.signal.aborted) return;
    this.#sink.lose('the system stopped reporting changes');
    this.#sink.problem(watchError(this.#request.root, error));
    this.#renewSoon();
  }

  /** From now on every backup walks everything, until watching succeeds. */
  #giveUp(error: unknown): void {
    const known = error instanceof StateError ? error : watchError(this.#request.root, error);
    const before = this.#state;
    this.#state = 'lost';
    this.#trouble = known;
    // Writes to existing files until then would leave no trace, so a change is assumed.
    this.#isChanged = true;
    this.#unwatchedSince ??= this.#request.clock.now();
    if (before === 'lost') return;
    this.#sink.lose(
      isWatchLimit(known)
        ? 'the system does not allow this user to watch more directories'
        : 'the source cannot be watched',
    );
    this.#sink.problem(known);
    if (this.#isRetrying) return;
    this.#isRetrying = true;
    this.#inBackground(this.#retry());
  }

  async #retry(): Promise<void> {
    await this.#request.clock.sleep(RETRY_MS, this.#ended.signal);
    this.#isRetrying = false;
    if (this.#state === 'lost') await renewNative();
  }

  /** Starts over once events have calmed down. */
  #renewSoon(): void {
    if (this.#renewing || this.#ended.signal.aborted) return;
    this.#renewing = true;
    this.#inBackground(this.#renew());
  }

  async #renew(): Promise<void> {
    const { clock } = this.#request;
    const beganMs = clock.monotonic();
    try {
      for (;;) {
        await clock.sleep(CALM_MS, this.#ended.signal);
        const now = clock.monotonic();
        if (now - this.#lastEventMs >= CALM_MS || now - beganMs >= MOST_CALMING_MS) break;
      }
      await renewNative();
    } finally {
      this.#renewing = false;
    }
  }

  #inBackground(work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (isAbort(error) || this.#ended.signal.aborted) return;
      this.#giveUp(error);
    });
  }

  #concerns(directory: ByteString): boolean {
    const { root } = this.#request;
    return directory === root || root === '/' || directory.startsWith(`${root}/`);
  }

  #isLeftOut(path: ByteString): boolean {
    return this.#leftOut.some((out) => path === out || path.startsWith(`${out}/`));
  }
}
