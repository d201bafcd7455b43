/** What was backed up when, what became of it, and what else happened: the other side of the account. */
import type { ManifestEntry } from '../support/tree-manifest.ts';

export type AttemptEnd =
  | { readonly kind: 'completed'; readonly snapshot: string }
  /** Killed: it may have made a snapshot all the same. */
  | { readonly kind: 'killed' }
  | { readonly kind: 'failed'; readonly reason: string; readonly excused: boolean };

/** One backup of a source that stood still meanwhile. */
export interface Attempt {
  readonly writer: string;
  readonly source: string;
  readonly version: number;
  readonly beganMs: number;
  /** What stood there, read by other code than the program's. */
  readonly manifest: readonly ManifestEntry[];
  readonly disturbed: Disturbance | undefined;
  end: AttemptEnd | undefined;
  endedMs: number;
}

export interface Disturbance {
  readonly kind: 'kill' | 'freeze' | 'kill agent' | 'freeze agent' | 'kill engine' | 'freeze engine';
  /** After the backup began. */
  readonly afterMs: number;
  readonly lastsMs: number;
}

/** What the upkeep of the repository came to. */
export interface UpkeepRun {
  readonly what: 'prune' | 'forget' | 'check';
  readonly by: string;
  readonly beganMs: number;
  readonly endedMs: number;
  readonly end: 'ok' | 'locked' | 'killed' | 'excused' | 'failed';
  readonly said: string;
  readonly removedPacks: number;
}

export class Ledger {
  readonly attempts: Attempt[] = [];
  readonly upkeep: UpkeepRun[] = [];
  /** Disturbances that hit a process that was alive. */
  readonly hits = new Map<string, number>();
  /** What must not happen. */
  readonly violations: string[] = [];

  begin(attempt: Omit<Attempt, 'beganMs' | 'end' | 'endedMs'>): Attempt {
    const begun: Attempt = { ...attempt, beganMs: Date.now(), end: undefined, endedMs: 0 };
    this.attempts.push(begun);
    return begun;
  }

  end(attempt: Attempt, end: AttemptEnd): void {
    attempt.end = end;
    attempt.endedMs = Date.now();
    if (end.kind === 'failed' && !end.excused)
      this.violations.push(`${attempt.writer}: version ${attempt.version} failed: ${end.reason}`);
  }

  hit(kind: string): void {
    this.hits.set(kind, (this.hits.get(kind) ?? 0) + 1);
  }

  count(kind: AttemptEnd['kind']): number {
    return this.attempts.filter(({ end }) => end?.kind === kind).length;
  }
}
