/** Runs the watchers of the sources in the settings, and keeps track of the changes that jobs have taken from them. */
import { isDeepStrictEqual } from 'node:util';
import { pathText, treePath } from '../../base/tree-path.ts';
import type { Clock } from '../../base/clock.ts';
import type { HoldfastError } from '../../base/errors.ts';
import type { SourceSettings } from '../../config/settings.ts';
import type { ChangedPaths, EngineOutcome } from '../../engine/protocol.ts';
import type { StatusCheck } from '../../jobs/agent.ts';
import { isWhole, type BackupSpec, type Job } from '../../jobs/job.ts';
import { isInside } from './source-check.ts';
import { withoutLinks } from '../../watch/root-state.ts';
import { watchSource, type SourceWatcher } from '../../watch/source-watcher.ts';
import type { Changes, WatchState } from '../../watch/change-feed.ts';

export interface WatchingParts {
  readonly clock: Clock;
  readonly never: () => readonly string[];
  /** The readers that the settings allow for these sources: changes kept for others are dropped. */
  readonly readers: (sources: readonly SourceSettings[]) => Pick<ReadonlySet<string>, 'has'>;
  /** Called when changes have gathered and a backup is worthwhile. */
  readonly changed: (source: SourceSettings) => void;
  /** Writes to the log of a job why it looks at everything. */
  readonly whole: (jobId: string, text: string) => void;
  /** Writes to the agent's log. */
  readonly note: (source: string, text: string) => void;
  readonly problem: (source: string, error: HoldfastError) => void;
}

interface Watched {
  /** All entries of the settings for this path, as it may go to other destinations with rules of its own. */
  readonly sources: readonly SourceSettings[];
  /** Directories within it that the watcher ignores. */
  readonly never: readonly string[];
  readonly watcher: SourceWatcher;
}

/** The changes that a job has taken. */
interface Taken {
  readonly watcher: SourceWatcher;
  readonly changes: Changes;
  readonly reader: string;
  /** The loss counter of the source when the changes were taken; undefined when nothing was lost. */
  readonly losses: number | undefined;
}

export class Watching implements AsyncDisposable {
  readonly #parts: WatchingParts;
  readonly #watched = new Map<string, Watched>();
  readonly #taken = new Map<string, Taken>();
  /** Sources of which events were lost, until a backup has looked at everything, with the number of losses. */
  readonly #lost = new Map<string, number>();
  #closing: Promise<unknown> = Promise.resolve();

  constructor(parts: WatchingParts) {
    this.#parts = parts;
  }

  /** Watches what these settings want, and nothing else. */
  follow(sources: readonly SourceSettings[]): void {
    const wanted = Map.groupBy(
      sources.filter(({ watch }) => watch),
      ({ path }) => path,
    );
    const again = new Set<string>();
    const unbegun: SourceSettings[] = [];
    for (const [path, { sources: before, never, watcher }] of this.#watched) {
      const now = wanted.get(path);
      // `never` matters too: a watched repository inside the source would make each backup begin the next one.
      if (
        now !== undefined &&
        polls(now) === polls(before) &&
        isDeepStrictEqual(never, this.#neverIn(path))
      ) {
        this.#watched.set(path, { sources: now, never, watcher });
        const readers = this.#parts.readers(now);
        watcher.keepReaders((reader) => readers.has(reader));
        continue;
      }
      this.#watched.delete(path);
      if (now === undefined) this.#lost.delete(path);
      else again.add(path);
      if (watcher.hasGathered) unbegun.push(...(now ?? []));
      this.#closing = Promise.all([this.#closing, watcher.close()]);
    }
    for (const [path, now] of wanted) {
      if (this.#watched.has(path)) continue;
      const watcher = this.#open(path, now, again.has(path) ? this.#parts.clock.now() : undefined);
      this.#watched.set(path, { sources: now, never: this.#neverIn(path), watcher });
    }
    // Changes that the closed watchers had gathered begin a backup, as the new ones do not know of them.
    for (const source of unbegun) this.#parts.changed(source);
  }

  /**
   * A full walk is due: backups of the source look at everything until one that did so has completed.
   * @param reader who takes the changes of the backup that is due
   * @param sinceMs when the walk was due, if it was missed: a look at everything since then is enough
   * @returns whether that backup is to look at everything
   */
  lookAtEverything(path: string, reader: string | undefined, sinceMs?: number): boolean {
    const watcher = this.#watched.get(path)?.watcher;
    watcher?.unknown('that is due once a day', sinceMs);
    return watcher !== undefined && (reader === undefined || watcher.isUnknownTo(reader));
  }

  /**
   * What a backup has to look at; null for everything. The changes belong to the job until `ended`.
   * @param inPass other jobs copy its snapshot
   */
  take(job: Job, reader: string, inPass = false): ChangedPaths | null {
    const { spec, id } = job;
    if (spec.type !== 'backup' || spec.options.dry_run) return null;
    const watched = this.#watched.get(spec.source);
    if (watched === undefined) return null;
    const { watcher } = watched;
    // Only one job at a time reads a source, so other jobs of this reader have stopped: what they still hold goes back.
    for (const [other, taken] of this.#taken)
      if (other === id || (taken.watcher === watcher && taken.reader === reader)) this.giveBack(other);
    const changes = watcher.take(reader, servesAll(spec, watched.sources, inPass));
    this.#taken.set(id, { watcher, changes, reader, losses: this.#lost.get(spec.source) });
    if (changes.kind === 'unknown') this.#parts.whole(id, `Checking all files, because ${changes.reason}.`);
    return changes.kind === 'paths' ? { paths: changes.paths, since: changes.since } : null;
  }

  /** The job has looked at what it took, if its engine says that it has read the source. To be called before `ended`. */
  completed({ id, spec }: Job, { hasReadSource }: Pick<EngineOutcome, 'hasReadSource'>): void {
    const taken = this.#taken.get(id);
    // A snapshot without what a request excluded is no basis for later runs.
    if (taken === undefined || spec.type !== 'backup' || !hasReadSource || !isWhole(spec)) return;
    if (taken.changes.kind === 'unknown' && this.#lost.get(spec.source) === taken.losses)
      this.#lost.delete(spec.source);
    this.#taken.delete(id);
  }

  /** The job has ended: changes that it took, but that no later run can rely on, go back for the next backup. */
  ended({ id }: Job): void {
    this.giveBack(id);
  }

  /** A command of the settings runs for the job: its changes to the source begin no backup. The returned function ends that. */
  commandRuns({ spec }: Job): () => void {
    const watched = spec.type === 'backup' ? this.#watched.get(spec.source) : undefined;
    return watched?.watcher.ownChanges() ?? (() => undefined);
  }

  giveBack(jobId: string): void {
    const taken = this.#taken.get(jobId);
    if (taken === undefined) return;
    taken.watcher.putBack(taken.changes, taken.reader);
    this.#taken.delete(jobId);
  }

  /** Without paths, as anybody on the machine may read them. */
  checks(): readonly StatusCheck[] {
    if (this.#lost.size === 0) return [];
    return [
      {
        name: 'watching',
        status: 'ok',
        message: 'The system did not report every change; the next backup checks all files.',
      },
    ];
  }

  stateOf(path: string): WatchState | undefined {
    return this.#watched.get(path)?.watcher.state;
  }

  /** Number of watched directories in all sources. */
  get directories(): number {
    return [...this.#watched.values()].reduce((sum, { watcher }) => sum + watcher.directories, 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([
      this.#closing,
      ...[...this.#watched.values()].map(async ({ watcher }) => await watcher.close()),
    ]);
  }

  #neverIn(path: string): readonly string[] {
    const real = realPath(path);
    const inside = this.#parts
      .never()
      .map(realPath)
      .filter((directory) => isInside(directory, real));
    return [...new Set(inside)].sort();
  }

  #open(path: string, sources: readonly SourceSettings[], unwatchedSince?: number): SourceWatcher {
    const { clock, never, changed, note, problem } = this.#parts;
    return watchSource(
      {
        root: treePath(path),
        never: never().map((one) => treePath(one)),
        poll: polls(sources),
        clock,
        unwatchedSince,
      },
      {
        changed: () => {
          for (const source of this.#watched.get(path)?.sources ?? sources) changed(source);
        },
        lost: (reason) => {
          this.#lost.set(path, (this.#lost.get(path) ?? 0) + 1);
          note(path, `The next backup checks all files, because ${reason}.`);
        },
        problem: (error) => problem(path, error),
      },
    );
  }
}

function realPath(path: string): string {
  return pathText(withoutLinks(treePath(path)));
}

/** Whether this backup covers everything that the changes would begin: all destinations, and no further exclude rules. */
function servesAll(
  { destination, options }: BackupSpec,
  [source, ...others]: readonly SourceSettings[],
  inPass: boolean,
): boolean {
  if (source === undefined || others.length > 0 || options.exclude.length > 0) return false;
  const { destinations } = source;
  return destinations.includes(destination) && (inPass || destinations.length === 1);
}

/** One watcher serves all entries, so it polls when one of them asks for it. */
function polls(sources: readonly SourceSettings[]): boolean {
  return sources.some(({ poll }) => poll);
}
