/** Records the outcome for each named source: whether rules left out all of it, and whether it lost all its files. */
import { isWithin, type ByteString } from '../../base/byte-path.ts';
import { reasonOf, type Decision, type Exclusion } from '../../exclude/decision.ts';
import {
  everythingLeftOut,
  sourceLeftOut,
  type Excluder,
  type LeftOutEntries,
} from '../../exclude/excluder.ts';
import type { ArchiveObserver } from './observer.ts';

/** A source without a file, although there were some in the snapshot that it was compared with. */
export interface EmptiedSource {
  readonly path: ByteString;
  readonly filesBefore: number;
}

/** Entries of a source whose rules are looked up, and rules that are named. */
const MOST_ASKED = 100;
const MOST_NAMED = 3;

export class SourceOutcomes {
  readonly #observer: Pick<ArchiveObserver, 'ruleProblem'>;
  /** Sources from which nothing, or no file, was stored because of exclude rules. */
  readonly #leftOut = new Set<ByteString>();
  readonly #entriesLeftOut = new Map<Excluder, LeftOutEntries>();
  readonly #emptied: EmptiedSource[] = [];

  constructor(observer: Pick<ArchiveObserver, 'ruleProblem'>) {
    this.#observer = observer;
  }

  /** @param problems entries that could not be read: what they lie in is not empty */
  emptied(problems: readonly { readonly path: ByteString }[]): readonly EmptiedSource[] {
    const isUnread = (source: ByteString): boolean => problems.some(({ path }) => isWithin(path, source));
    return this.#emptied
      .filter(({ path }) => !isUnread(path))
      .toSorted((one, other) => (one.path < other.path ? -1 : 1));
  }

  get leftOut(): readonly ByteString[] {
    return [...this.#leftOut];
  }

  /** A rule leaves out the whole source, although it was named. */
  sourceLeftOut(path: ByteString, decision: Exclusion): void {
    if (this.#leftOut.has(path)) return;
    this.#leftOut.add(path);
    this.#observer.ruleProblem(sourceLeftOut(path, decision));
  }

  /** An entry, or its content, was left out by the rules of a source. */
  entryLeftOut(excluder: Excluder | undefined, name: ByteString, decide: () => Decision | undefined): void {
    if (excluder === undefined) return;
    const known = this.#entriesLeftOut.get(excluder) ?? { count: 0, examples: new Map(), isOwnOnly: true };
    known.count += 1;
    this.#entriesLeftOut.set(excluder, known);
    // Some are enough to name the rules, and to know whether there are any.
    if (known.count > MOST_ASKED) return;
    const decision = decide();
    if (decision === undefined || (!decision.excluded && decision.descend)) return;
    known.isOwnOnly &&= decision.excluded && decision.rule === 'never';
    const reason = reasonOf(decision);
    if (known.examples.size < MOST_NAMED && !known.examples.has(reason)) known.examples.set(reason, name);
  }

  /** @param filesBefore files in the snapshot that the run is compared with; undefined if the source is not in that */
  completed(
    path: ByteString,
    excluder: Excluder | undefined,
    { files, filesBefore = 0 }: { readonly files: number; readonly filesBefore: number | undefined },
  ): void {
    if (files > 0) return;
    const left = excluder && this.#entriesLeftOut.get(excluder);
    if (left === undefined) {
      if (filesBefore > 0 && !this.#leftOut.has(path)) this.#emptied.push({ path, filesBefore });
      return;
    }
    if (this.#leftOut.has(path)) return;
    this.#leftOut.add(path);
    this.#observer.ruleProblem(everythingLeftOut(path, left));
  }
}
