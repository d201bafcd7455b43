/** The watchers of the sources that the settings want watched, and the changes that jobs have taken from them. */
import { isDeepStrictEqual } from 'node:util';
import { bytesOfText, textOfBytes } from '../../base/byte-path.ts';
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
  /** Who may come for what changes in these sources, by the settings: what was kept for others is let go. */
  readonly readers: (sources: readonly SourceSettings[]) => Pick<ReadonlySet<string>, 'has'>;
  /** Changes have gathered: a backup is worthwhile. */
  readonly changed: (source: SourceSettings) => void;
  /** For the log of a job: why it looks at everything. */
  readonly whole: (jobId: string, text: string) => void;
  /** For people. */
  readonly note: (source: string, text: string) => void;
  readonly problem: (source: string, error: HoldfastError) => void;
}

interface Watched {
  /** All of this path: it may go to other destinations by settings of its own. */
  readonly sources: readonly SourceSettings[];
  /** What the watcher leaves out of it. */
  readonly never: readonly string[];
  readonly watcher: SourceWatcher;
}

/** What a job has taken to look at. */
interface Taken {
  readonly watcher: SourceWatcher;
  readonly changes: Changes;
  readonly reader: string;
  /** How often not everything had been told by then. */
  readonly losses: number | undefined;
}

export class Watching implements AsyncDisposable {
  readonly #parts: WatchingParts;
  readonly #watched = new Map<string, Watched>();
  readonly #taken = new Map<string, Taken>();
  /** Sources of which not everything was told, until a backup has looked at all of it; and how often. */
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
      // A destination that comes to lie in the source would have each backup begin the next one.
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
    // Whoever watches from now on was told of nothing.
    for (const source of unbegun) this.#parts.changed(source);
  }

  /**
   * A whole walk is due: the backups of the source look at everything until one has completed that did.
   * @param reader who takes the changes of the backup that is due by that
   * @param sinceMs when it was due, where that was missed: what has looked at everything since then is enough
   * @returns whether that backup is to look at everything
   */
  lookAtEverything(path: string, reader: string | undefined, sinceMs?: number): boolean {
    const watcher = this.#watched.get(path)?.watcher;
    watcher?.unknown('that is due once a day', sinceMs);
    return watcher !== undefined && (reader === undefined || watcher.isUnknownTo(reader));
  }

  /**
   * What a backup has to look at; null for everything. Belongs to the job until `ended`.
   * @param inPass others copy what it makes
   */
  take(job: Job, reader: string, inPass = false): ChangedPaths | null {
    const { spec, id } = job;
    if (spec.type !== 'backup' || spec.options.dry_run) return null;
    const watched = this.#watched.get(spec.source);
    if (watched === undefined) return null;
    const { watcher } = watched;
    // One job at a time reads a source: what others of this reader have taken is theirs no longer.
    for (const [other, taken] of this.#taken)
      if (other === id || (taken.watcher === watcher && taken.reader === reader)) this.giveBack(other);
    const changes = watcher.take(reader, servesAll(spec, watched.sources, inPass));
    this.#taken.set(id, { watcher, changes, reader, losses: this.#lost.get(spec.source) });
    if (changes.kind === 'unknown') this.#parts.whole(id, `Everything is looked at: ${changes.reason}.`);
    return changes.kind === 'paths' ? { paths: changes.paths, since: changes.since } : null;
  }

  /** What the job took, it has looked at, if its engine says that it has read the source. To be told before `ended`. */
  completed({ id, spec }: Job, { hasReadSource }: Pick<EngineOutcome, 'hasReadSource'>): void {
    const taken = this.#taken.get(id);
    // With what a request left out by rules of its own no later run is compared.
    if (taken === undefined || spec.type !== 'backup' || !hasReadSource || !isWhole(spec)) return;
    if (taken.changes.kind === 'unknown' && this.#lost.get(spec.source) === taken.losses)
      this.#lost.delete(spec.source);
    this.#taken.delete(id);
  }

  /** The job is over: what it had taken and has not looked at, so that later ones may rely on it, is for the next. */
  ended({ id }: Job): void {
    this.giveBack(id);
  }

  /** A command of the settings runs for the job: what it does to the source begins no backup. Gives what ends that. */
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

  /** Without paths: anybody on the machine may read them. */
  checks(): readonly StatusCheck[] {
    if (this.#lost.size === 0) return [];
    return [
      {
        name: 'watching',
        status: 'ok',
        message: 'Not every change was told by the system; the next backup looks at everything.',
      },
    ];
  }

  stateOf(path: string): WatchState | undefined {
    return this.#watched.get(path)?.watcher.state;
  }

  /** Watched directories of all sources. */
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
        root: bytesOfText(path),
        never: never().map((one) => bytesOfText(one)),
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
          note(path, `Everything is looked at again at the next backup: ${reason}.`);
        },
        problem: (error) => problem(path, error),
      },
    );
  }
}

function realPath(path: string): string {
  return textOfBytes(withoutLinks(bytesOfText(path)));
}

/** Whether a backup that changes begin would go nowhere else, and take in no more. */
function servesAll(
  { destination, options }: BackupSpec,
  [source, ...others]: readonly SourceSettings[],
  inPass: boolean,
): boolean {
  if (source === undefined || others.length > 0 || options.exclude.length > 0) return false;
  const { destinations } = source;
  return destinations.includes(destination) && (inPass || destinations.length === 1);
}

/** One watcher serves them all. */
function polls(sources: readonly SourceSettings[]): boolean {
  return sources.some(({ poll }) => poll);
}
