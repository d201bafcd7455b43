/** What the sentences of the headline are made of, each part in the reader's language already. */
import type { Statement } from '../../../api/schemas/page/overview.ts';

/** `{}` stands for what the person has named, a path or a file: it is shown as that. */
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
