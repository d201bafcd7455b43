/** What is fuzzed: a parser, inputs that it takes, and what may come of any other. */
import type { SeededRandom } from '../support/seeded-random.ts';
import type { Group, NAMES } from './targets/all.ts';

/** Whether the parser took the input or refused it in the way it should. Anything else is thrown. */
export type Verdict = 'taken' | 'refused';

export interface FuzzTarget {
  /** Files below src/ that do the parsing: their coverage is reported. */
  readonly files: readonly string[];
  /** Most of them are taken by the parser. */
  readonly seeds: readonly Uint8Array[];
  /** Bytes of the longest input that is made: what the parser itself takes, or where it gets too slow to search. */
  readonly maxBytes: number;
  /** Words that the syntax has. */
  readonly words?: readonly string[];
  /** A change that keeps the input's structure, so that what lies behind the first check is reached. */
  readonly change?: (input: Buffer, random: SeededRandom) => Buffer;
  /** Bytes by which one input may make the process grow; MOST_MEMORY when absent. */
  readonly mostMemory?: number;
  /** @throws when the parser did what it never may: another error than its own, or a value that is not what was read */
  readonly run: (input: Buffer) => Verdict | Promise<Verdict>;
}

/** Targets are made in the process that runs them, once its sources can be watched. */
export type TargetMaker = () => FuzzTarget | Promise<FuzzTarget>;

/** All targets of one file below targets/. */
export type TargetTable<G extends Group> = Readonly<Record<(typeof NAMES)[G][number], TargetMaker>>;

/** Milliseconds of processor time that one input may take. */
export const MOST_MS = 1_000;
/** Bytes by which one input may make the process grow. */
export const MOST_MEMORY = 256 * 1024 * 1024;
