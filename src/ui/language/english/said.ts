/** The parts of the headline's sentences, each already in the reader's language. */
import type { Statement } from '../../../api/schemas/page/overview.ts';

/** `{}` stands for a path or file that the user named, which is shown distinctly. */
export interface Said {
  /** Names of the sources: `{}`, `{} and {}`. */
  readonly names: string;
  /** How many sources. */
  readonly sources: number;
  /** Names of the destinations; null when none is meant. */
  readonly to: string | null;
  /** How old the last good backup is: `4 minutes ago`, and `4 minutes`. */
  readonly ago: string;
  readonly age: string;
  readonly reason: Statement['reason'];
  /** A figure as people read it, and as a number. */
  readonly count: (figure: string) => string;
  readonly number: (figure: string) => number;
  readonly size: (figure: string) => string;
  readonly span: (figure: string) => string;
  /** Files that are named: `{}, {} and 3 more`; empty when none is. */
  readonly files: string;
  /** What a check says. */
  readonly what: string;
}

export type Sayings = Readonly<Record<Statement['code'], (said: Said) => string>>;
