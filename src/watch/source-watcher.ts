/** The interface to all watchers: what has changed in a source since the last time it was asked. */
import type { ByteString } from '../base/byte-path.ts';
import type { Clock } from '../base/clock.ts';
import { errnoOf, type HoldfastError, isAbort, StateError } from '../base/errors.ts';
import { type FarPlace, farPlaceOf } from '../system/far-mounts.ts';
import { ChangeLog, type TakenChanges } from './change-log.ts';
import { directoriesBelow, MOST_LISTED } from './directories.ts';
import { FarSource } from './far-source.ts';
import { MOUNTS_CHANGED, mountsOf, type MountView } from './mounts.ts';
import { NativeSource } from './native-source.ts';
import { PollingSource } from './polling-watcher.ts';
import { QuietPeriod, sleepDetector } from './quiet-period.ts';
import { lookAtRoot, type RootState, sameRoot, withoutLinks } from './root-state.ts';
import type { ChangeFeed, Changes, ChangeSink, ChangeSummary, WatchState } from './change-feed.ts';

export interface WatchRequest {
  /** Absolute and normalised. Reported paths are real paths, with symbolic links resolved. */
  readonly root: ByteString;
  /** Absolute paths that no backup includes. */
  readonly never: readonly ByteString[];
  /** Whether to poll, for a file system that does not report changes. */
  readonly poll: boolean;
  readonly clock: Clock;
  /** Since when nobody has watched, if the source was watched before. Milliseconds since 1970. */
  readonly unwatchedSince?: number | undefined;
  /** Milliseconds without a change before a backup is worthwhile; default 2 s. */
  readonly quietMs?: number | undefined;
  /** Milliseconds after the first change after which a backup is worthwhile in any case; default 60 s. */
  readonly patienceMs?: number | undefined;
  /** Milliseconds between two looks when polling; default 60 s. */
  readonly pollMs?: number | undefined;
  /** Files that are examined one by one when polling; default 20,000. Beyond that only directories are. */
  readonly mostPolled?: number | undefined;
}

/** Callbacks; they must be fast and must not throw. */
export interface WatchEvents {
  /** Changes have gathered and it has been quiet for a while, or they have waited long enough. */
  changed(summary: ChangeSummary): void;
  /** It is not known any more what has changed, so the next backup walks everything. The reason is in plain words. */
  lost(reason: string): void;
  /** A problem that a person should know or act on. */
  problem(error: HoldfastError): void;
}

export interface SourceWatcher extends AsyncDisposable {
  readonly state: WatchState;
  /** Number of watched directories. */
  readonly directories: number;
  /**
   * Hands over the changes and begins a new set. Each reader (such as a destination) has sets of its own; its first one
   * is unknown. `forAll`: the run serves all backups that the gathered changes would begin, so they begin none unless
   * the set is put back.
   */
  take(reader?: string, forAll?: boolean): Changes;
  /** Puts back the changes that a failed or abandoned run had taken. */
  putBack(changes: Changes, reader?: string): void;
  /**
   * Changes from now on, until the returned function is called, begin no backup: they are made by a backup itself,
   * which would otherwise begin the next one. They are still recorded.
   */
  ownChanges(): () => void;
  /**
   * Makes the next set of each reader unknown, for this reason, until an unknown set is taken and not put back. Readers
   * that have done so since `unlessSince` (milliseconds since 1970) are left alone.
   */
  unknown(reason: string, unlessSince?: number): void;
  /** Whether the next set of this reader is unknown. */
  isUnknownTo(reader: string): boolean;
  /** Drops what was kept for other readers, which will not come again. */
  keepReaders(isKept: (reader: string) => boolean): void;
  /** Whether changes have gathered that were not reported by `changed` yet. */
  readonly hasGathered: boolean;
  close(): Promise<void>;
}

const QUIET_MS = 2_000;
const PATIENCE_MS = 60_000;
const POLL_MS = 60_000;
/** Milliseconds between two checks of the root and the clocks. */
const CHECK_MS = 30_000;

/** Begins to watch in the background. Until watching works, `take` returns `unknown`. */
export function watchSource(request: WatchRequest, on: WatchEvents): SourceWatcher {
  return new WatchedSource(request, on);
}

class WatchedSource implements SourceWatcher, ChangeSink {
  readonly #request: WatchRequest;
  readonly #on: WatchEvents;
  readonly #log: ChangeLog;
  readonly #quiet: QuietPeriod;
  readonly #hasSlept: () => boolean;
  readonly #ended = new AbortController();
  readonly #checks: Promise<void>;
  /** Set when the root is on a network or user-space file system, which may hang: then only the feed accesses it. */
  #far: FarPlace | undefined;
  #root: RootState;
  #mounts: MountView;
  #feed: ChangeFeed;
  /** Settles when replaced feeds are closed. */
  #closing: Promise<unknown> = Promise.resolve();
  #gathered: { events: number; firstAt: number; lastAt: number; lost: boolean } | undefined;
  /** Events that a reader has taken with `forAll`. If it puts its changes back, they begin a backup after all. */
  readonly #served = new Map<string, number>();
  #lastReason = '';
  /** Backups that are changing the source at the moment, and until when their changes may still be reported. */
  #changing = 0;
  #changedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(request: WatchRequest, on: WatchEvents) {
    const { root, clock, quietMs = QUIET_MS, patienceMs = PATIENCE_MS } = request;
    this.#request = request;
    this.#on = on;
    this.#log = new ChangeLog(clock);
    this.#quiet = new QuietPeriod({ quietMs, patienceMs, clock }, () => this.#due());
    this.#hasSlept = sleepDetector(clock);
    this.#far = silentPlaceOf(root);
    this.#root = lookUnlessFar(root, this.#far);
    this.#mounts = mountsOf(this.#root.path);
    this.#feed = this.#open(request.unwatchedSince);
    this.#checks = this.#checkOften();
  }

  get state(): WatchState {
    if (this.#ended.signal.aborted) return 'closed';
    return this.#root.kind === 'absent' ? 'absent' : this.#feed.state;
  }

  get directories(): number {
    return this.#feed.directories;
  }

  get hasGathered(): boolean {
    return this.#gathered !== undefined;
  }

  take(reader = '', forAll = false): Changes {
    this.#check();
    this.#served.delete(reader);
    if (forAll && this.#gathered !== undefined) {
      this.#served.set(reader, this.#gathered.events);
      this.#gathered = undefined;
      this.#lastReason = '';
    }
    const taken = this.#log.take(reader, this.#untold());
    if (taken.unknown !== undefined) return unknown(taken.unknown);
    const changes = wholePaths(taken);
    if (changes.kind === 'unknown') this.#log.looksAtEverything(reader);
    return changes;
  }

  /** Why changes are incomplete at the moment, for all readers. */
  #untold(): string | undefined {
    const state = this.state;
    if (state === 'polling') return 'the file system of the source does not report changes';
    if (state !== 'watching') return 'the source is not being watched at the moment';
    if (this.#mounts.silent.length > 0)
      return 'a part of the source is on a file system that does not report changes';
    return undefined;
  }

  putBack(changes: Changes, reader = ''): void {
    this.#log.putBack(reader, changes);
    const events = this.#served.get(reader);
    this.#served.delete(reader);
    if (events !== undefined) this.#gather(events);
  }

  ownChanges(): () => void {
    this.#changing += 1;
    return () => {
      this.#changing -= 1;
      const untilMs = this.#request.clock.monotonic() + this.#feed.lagMs;
      this.#changedUntilMs = Math.max(this.#changedUntilMs, untilMs);
    };
  }

  async close(): Promise<void> {
    this.#ended.abort();
    this.#quiet.close();
    await this.#checks;
    await this.#closing;
    await this.#feed.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  directory(path: ByteString): void {
    this.#log.directory(path);
  }

  subtree(path: ByteString): void {
    this.#log.subtree(path);
  }

  happened(events: number): void {
    if (this.#changing === 0 && this.#request.clock.monotonic() >= this.#changedUntilMs) this.#gather(events);
  }

  #gather(events: number): void {
    const now = this.#request.clock.now();
    const { events: before, firstAt, lost } = this.#gathered ?? { events: 0, firstAt: now, lost: false };
    this.#gathered = { events: before + events, firstAt, lastAt: now, lost };
    this.#quiet.touch();
  }

  unknown(reason: string, unlessSince?: number): void {
    this.#log.lose(reason, unlessSince);
    if (this.#gathered !== undefined) this.#gathered = { ...this.#gathered, lost: true };
  }

  isUnknownTo(reader: string): boolean {
    return this.#log.isUnknownTo(reader);
  }

  keepReaders(isKept: (reader: string) => boolean): void {
    this.#log.keepReaders(isKept);
  }

  lose(reason: string): void {
    this.#gather(0);
    this.unknown(reason);
    // A storm of events causes this again and again, but one message is enough.
    if (this.#lastReason !== reason) this.#on.lost(reason);
    this.#lastReason = reason;
  }

  problem(error: HoldfastError): void {
    this.#on.problem(error);
  }

  #open(unwatchedSince?: number): ChangeFeed {
    const { poll, pollMs = POLL_MS, mostPolled, clock } = this.#request;
    const { path: root } = this.#root;
    // Events have real paths.
    const never = this.#request.never.map(withoutLinks);
    if (this.#far === undefined && this.#root.kind === 'other')
      return new PollingSource({ root, never, pollMs }, this);
    if (this.#far !== undefined || poll || this.#mounts.silentRoot)
      return new FarSource({ root, never, clock, pollMs, mostFiles: mostPolled }, this);
    return new NativeSource({ root, never, clock, mounts: this.#mounts, unwatchedSince }, this);
  }

  /** Replaces the feed after the source has moved or was replaced. */
  #reopen(): void {
    // The old feed is asked to close before the new one is opened, so this also happens in that order.
    this.#closing = Promise.all([this.#closing, this.#feed.close()]);
    this.#feed = this.#open(this.#request.clock.now());
  }

  #due(): void {
    const gathered = this.#gathered;
    this.#gathered = undefined;
    this.#lastReason = '';
    if (gathered === undefined) return;
    const { events, firstAt, lastAt, lost } = gathered;
    this.#on.changed({ directories: lost ? null : this.#log.size, events, firstAt, lastAt });
  }

  async #checkOften(): Promise<void> {
    const { clock } = this.#request;
    const { signal } = this.#ended;
    try {
      for (;;) {
        await clock.sleep(CHECK_MS, signal);
        this.#check();
      }
    } catch (error) {
      if (!isAbort(error) && !signal.aborted) this.problem(brokenCheck(error));
    }
  }

  #check(): void {
    if (this.#ended.signal.aborted) return;
    if (this.#hasSlept()) this.lose('the computer slept, or its clock was set');
    this.#checkRoot();
    this.#checkMounts();
    if (!this.#feed.check()) this.#reopen();
  }

  #checkRoot(): void {
    const { root } = this.#request;
    const [before, wasFar] = [this.#root, this.#far !== undefined];
    this.#far = silentPlaceOf(root);
    this.#root = lookUnlessFar(root, this.#far);
    if (wasFar === (this.#far !== undefined) && sameRoot(before, this.#root)) return;
    const reason =
      this.#root.kind === 'absent'
        ? 'the source is gone: it was removed or unmounted'
        : before.kind === 'absent'
          ? 'the source has come back'
          : 'there is another directory or file system in place of the source';
    this.lose(reason);
    this.#reopen();
  }

  #checkMounts(): void {
    const before = this.#mounts;
    this.#mounts = mountsOf(this.#root.path);
    if (before.text === this.#mounts.text) return;
    this.lose(MOUNTS_CHANGED);
    this.#reopen();
  }
}

/** File systems that a local program serves from a disk (`fuseblk`) do report changes. */
function silentPlaceOf(root: ByteString): FarPlace | undefined {
  const far = farPlaceOf(root);
  return far?.type === 'fuseblk' ? undefined : far;
}

function lookUnlessFar(root: ByteString, far: FarPlace | undefined): RootState {
  if (far === undefined) return lookAtRoot(root);
  return { kind: 'directory', path: far.path, device: 0n, inode: 0n };
}

function unknown(reason: string): Changes {
  return { kind: 'unknown', reason };
}

/** The directories of the set, with everything below new directories. */
function wholePaths({ directories, subtrees, since }: TakenChanges): Changes {
  const paths = new Set(directories);
  for (const top of subtrees) {
    const below = directoriesBelow(top, MOST_LISTED - paths.size);
    if (below === undefined) return unknown('large directories were added to the source');
    for (const path of below) paths.add(path);
  }
  return { kind: 'paths', paths: [...paths], since };
}

function brokenCheck(cause: unknown): StateError {
  return new StateError('WATCH_FAILED', 'Holdfast can no longer check the source for changes', {
    hint: 'Scheduled backups continue. Restart the agent to watch again.',
    details: { reason: errnoOf(cause) ?? String(cause) },
    cause,
  });
}
