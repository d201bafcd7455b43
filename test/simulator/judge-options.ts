import type { Manifest } from './source-tree.ts';

/** What a snapshot must give back, by the tag of its run. */
export type Expected = ReadonlyMap<string, Manifest>;

/** What who judges has to know of those whom he judges. */
export interface JudgeOptions {
  readonly expected: Expected;
  readonly isCloned: boolean;
  readonly isLied: boolean;
  /** Slept for longer than the grace period: this machine, or any. */
  readonly overslept: (host?: string) => boolean;
  readonly isStore: boolean;
  /** When a machine last began to list tombstones to see whether the packs that it relies on are marked, where that can be told. */
  readonly reliedMs: (host: string) => number | undefined;
  /** When the longest of the prunes began that may store a mark now; in milliseconds since 1970. */
  readonly prunesSinceMs: () => number;
  /** The same of retention, which may count on what a person forgets meanwhile. */
  readonly retentionsSinceMs: () => number;
  /** How long a machine that prunes has slept at a time at most. */
  readonly prunersSleptMs: () => number;
  /** The machine that has slept since it set about storing this. */
  readonly sleeper: (key: string) => string | undefined;
}
