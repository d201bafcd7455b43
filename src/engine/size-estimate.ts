/** Measures a source by a walk with the rules of a backup, which opens no files except those with exclude rules. */
import type { Decision } from '../exclude/decision.ts';
import {
  createExcluder,
  type DirectoryScope,
  type ExcludeOptions,
  type Excluder,
  type NeverPath,
} from '../exclude/excluder.ts';
import { readRuleFile } from '../archiver/walk/rule-files.ts';
import { kindOf, openDirectory, statPath } from '../archiver/source/stat.ts';
import { resolveSources } from '../archiver/source/sources.ts';
import { joinBytes, type ByteString } from '../base/byte-path.ts';
import { pathText, treePath } from '../base/tree-path.ts';
import type { Clock } from '../base/clock.ts';
import { errnoOf } from '../base/errors.ts';
import { excludeOf } from './exclude-rules.ts';
import { LeftOutList, type LeftOutEntry } from './left-out-list.ts';
import type { EstimateOrder, SourceEstimate } from './protocol.ts';
import type { EntryStat } from '../system/entry-stat.ts';

/** The most directories directly below the source that are returned. */
const MOST_SHOWN = 20;
/** Milliseconds between two intermediate results. */
const TELL_MS = 500;
/** Entries between two looks at the clock. */
const STEP = 256;

interface Subtotal {
  readonly path: ByteString;
  bytes: number;
  files: number;
}

interface OpenDirectory {
  readonly path: ByteString;
  readonly parent: DirectoryScope | undefined;
  /** For the directory directly below the source that contains it; undefined for the source itself. */
  readonly subtotal: Subtotal | undefined;
}

/**
 * Counts until everything is counted or the time is over. `seen` receives intermediate results twice a second.
 * @throws {SourceError} INVALID_SOURCE
 * @throws {RequestError} for an invalid exclude rule
 */
export function estimateSource(
  order: EstimateOrder,
  never: readonly NeverPath[],
  clock: Pick<Clock, 'monotonic'>,
  seen: (estimate: SourceEstimate) => void,
): SourceEstimate {
  // With the slash, as somebody who chooses a link to a directory wants the directory.
  const [root = treePath(order.path)] = resolveSources([`${order.path}/`], '/', never).paths;
  const counting = new Counting(root, order.withinMs, clock, seen);
  counting.count(excludeOf(order.exclude, [], never));
  return counting.estimate();
}

class Counting {
  readonly #root: ByteString;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #seen: (estimate: SourceEstimate) => void;
  readonly #endsAt: number;
  #tellAt: number;
  #steps = 0;
  #isLate = false;
  #isComplete = false;
  #files = 0;
  #directories = 0;
  #bytes = 0;
  #unreadable = 0;
  readonly #subtotals: Subtotal[] = [];
  readonly #leftOut = new LeftOutList();

  constructor(
    root: ByteString,
    withinMs: number,
    clock: Pick<Clock, 'monotonic'>,
    seen: (estimate: SourceEstimate) => void,
  ) {
    this.#root = root;
    this.#clock = clock;
    this.#seen = seen;
    this.#endsAt = clock.monotonic() + withinMs;
    this.#tellAt = clock.monotonic() + TELL_MS;
  }

  count(options: ExcludeOptions): void {
    const root = this.#root;
    const stat = this.#look(() => statPath(root));
    if (stat === undefined) return;
    const kind = plainKind(stat);
    const files = { read: readRuleFile, onError: () => undefined };
    const excluder = createExcluder(options, { root, kind, device: Number(stat.dev) }, files);
    const { rootDecision } = excluder;
    if (rootDecision.excluded) this.#leave(root, stat, rootDecision, undefined);
    else if (kind === 'file') this.#add(stat, undefined);
    else if (kind === 'directory')
      this.#walk({ path: root, parent: undefined, subtotal: undefined }, excluder);
    this.#isComplete = !this.#isLate;
    // What was left out is measured in the remaining time.
    for (const entry of this.#leftOut.unweighed()) if (!this.#isLate) this.#weigh(entry);
  }

  estimate(): SourceEstimate {
    const largest = this.#subtotals.toSorted((a, b) => b.bytes - a.bytes).slice(0, MOST_SHOWN);
    return {
      path: pathText(this.#root),
      files: this.#files,
      directories: this.#directories,
      bytes: this.#bytes,
      complete: this.#isComplete,
      unreadable: this.#unreadable,
      excludedFiles: this.#leftOut.files,
      excluded: this.#leftOut.largest(),
      largest: largest.map(({ path, bytes, files }) => ({ path: pathText(path), bytes, files })),
    };
  }

  #walk(root: OpenDirectory, excluder: Excluder): void {
    const open = [root];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (this.#isLate) return;
      const { path, parent, subtotal } = next;
      this.#list(path, (names, statOf) => {
        const scope = excluder.enterDirectory(parent, path, names);
        for (const name of names) {
          if (this.#step()) return;
          const stat = this.#look(() => statOf(name));
          if (stat === undefined) continue;
          const kind = plainKind(stat);
          const decision = scope.decide(name, kind, stat.size, Number(stat.dev));
          const entry = joinBytes(path, name);
          if (decision.excluded) this.#leave(entry, stat, decision, path);
          else if (kind === 'file') this.#add(stat, subtotal);
          else if (kind === 'directory') {
            this.#directories += 1;
            if (decision.descend)
              open.push({ path: entry, parent: scope, subtotal: subtotal ?? this.#below(entry) });
            else this.#leave(entry, stat, decision, path);
          }
        }
      });
    }
  }

  /** Measures everything that was left out, except on other file systems, which may be endless. */
  #weigh({ path, device, item }: LeftOutEntry): void {
    const open = [path];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const directory = next;
      this.#list(
        directory,
        (names, statOf) => {
          for (const name of names) {
            if (this.#step()) return;
            const stat = this.#look(() => statOf(name), 'unheard');
            if (stat === undefined || stat.dev !== device) continue;
            const kind = plainKind(stat);
            if (kind === 'file') this.#leftOut.add(item, stat.size);
            else if (kind === 'directory') open.push(joinBytes(directory, name));
          }
        },
        'unheard',
      );
      if (this.#isLate) return;
    }
  }

  #list(
    path: ByteString,
    use: (names: readonly ByteString[], statOf: (name: ByteString) => EntryStat | undefined) => void,
    trouble: 'counts' | 'unheard' = 'counts',
  ): void {
    const listed = this.#look(() => openDirectory(path), trouble);
    if (listed === undefined) return;
    try {
      use(listed.names, (name) => listed.stat(name));
    } finally {
      listed.close();
    }
  }

  #leave(
    path: ByteString,
    stat: EntryStat,
    decision: Exclude<Decision, { readonly excluded: false; readonly descend: true }>,
    directory: ByteString | undefined,
  ): void {
    const kind = plainKind(stat);
    if (kind === 'other') return;
    const item = this.#leftOut.take(path, decision, directory);
    if (kind === 'file') this.#leftOut.add(item, stat.size);
    else if (decision.excluded) this.#leftOut.weighLater({ path, device: stat.dev, item });
  }

  #add({ size }: EntryStat, subtotal: Subtotal | undefined): void {
    this.#files += 1;
    this.#bytes += size;
    if (subtotal === undefined) return;
    subtotal.files += 1;
    subtotal.bytes += size;
  }

  #below(path: ByteString): Subtotal {
    const subtotal = { path, bytes: 0, files: 0 };
    this.#subtotals.push(subtotal);
    return subtotal;
  }

  /** Undefined when there is nothing, or it cannot be examined. */
  #look<T>(look: () => T, trouble: 'counts' | 'unheard' = 'counts'): T | undefined {
    try {
      return look();
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      if (trouble === 'counts') this.#unreadable += 1;
      return undefined;
    }
  }

  /** Returns whether the time is over. */
  #step(): boolean {
    this.#steps += 1;
    if (this.#steps % STEP !== 0) return this.#isLate;
    const now = this.#clock.monotonic();
    this.#isLate = now >= this.#endsAt;
    if (now < this.#tellAt) return this.#isLate;
    this.#tellAt = now + TELL_MS;
    this.#seen(this.estimate());
    return this.#isLate;
  }
}

function plainKind(stat: EntryStat): 'file' | 'directory' | 'other' {
  const kind = kindOf(stat);
  return kind === 'file' || kind === 'directory' ? kind : 'other';
}
