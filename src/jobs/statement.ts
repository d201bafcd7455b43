/** All that can be said of whether somebody is protected, and how bad each of it is. */
import type { SnapshotPlace } from '../watch/way-back.ts';

export type Level = 'good' | 'warning' | 'bad';

/**
 * The one ranking: whatever is higher is said first. From 500 on somebody is not protected, or files are at stake; from 100
 * on something is to be put right; below that it is good to know.
 */
const SEVERITIES = {
  no_source: 990,
  /** An error of a part of the agent that only it can explain: its state, the partner. */
  check_failed: 950,
  files_rewritten: 930,
  source_unreadable: 920,
  source_left_out: 915,
  source_empty: 910,
  files_disappeared: 900,
  files_burst: 890,
  name_claimed: 880,
  destination_gone: 870,
  damaged: 860,
  drill_failed: 850,
  never_backed_up: 800,
  overdue: 700,

  first_backup_runs: 490,
  first_backup_paused: 480,
  last_failed: 450,
  files_unread: 400,
  clock_behind: 380,
  same_place: 370,
  state_nearly_full: 360,
  /** A warning of a part of the agent that only it can explain. */
  check_warns: 340,
  check_undone: 320,
  drill_undone: 310,
  prune_failed: 300,
  paused: 250,
  not_watched: 200,

  destination_away: 60,
  same_disk: 50,
  untested: 40,
  protected: 10,
} as const;

export type StatementCode = keyof typeof SEVERITIES;

export const STATEMENT_CODES = Object.keys(SEVERITIES) as readonly StatementCode[];

/** Why a backup fails, or why there is none. */
export const REASONS = [
  'away',
  'full',
  'other_repository',
  'emptied',
  'locked_out',
  'denied',
  'unreachable',
  'source_missing',
  'source_empty',
  'other',
] as const;
export type Reason = (typeof REASONS)[number];

export interface StatementFacts {
  /** Sources it is true of; none where it is not about sources. */
  readonly paths: readonly string[];
  /** What they are called: their last component, `~` for the home directory, or the path where two would be called the same. */
  readonly names: readonly string[];
  /** The destinations, where others of the same source are not meant. */
  readonly to: readonly string[];
  /** The oldest of the last good backups of what it is about, in milliseconds since 1970; null when one has none. */
  readonly since: number | null;
  /** Files that could not be read, at most a few of them; paths. */
  readonly files: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
  readonly reason: Reason | null;
  /** Of the check that says it. */
  readonly check: string | null;
  /** The last snapshot from before what an alarm tells; null where that is not known, and of anything else. */
  readonly before: SnapshotPlace | null;
}

export interface Statement extends StatementFacts {
  readonly code: StatementCode;
  readonly level: Level;
  /** The higher, the worse. */
  readonly severity: number;
}

/** The worst there is to say. */
export interface Headline extends Statement {
  /** Others that are to be put right; where nothing is, others that are good to know. */
  readonly more: number;
}

const NOTHING: StatementFacts = {
  paths: [],
  names: [],
  to: [],
  since: null,
  files: [],
  figures: {},
  reason: null,
  check: null,
  before: null,
};

export function statement(code: StatementCode, facts: Partial<StatementFacts> = {}): Statement {
  return { ...NOTHING, ...facts, code, level: levelOf(code), severity: SEVERITIES[code] };
}

export function levelOf(code: StatementCode): Level {
  const severity = SEVERITIES[code];
  return severity >= 500 ? 'bad' : severity >= 100 ? 'warning' : 'good';
}

/** The worst first; those of one severity stay in their order. */
export function ranked(statements: readonly Statement[]): readonly Statement[] {
  return statements.toSorted((a, b) => b.severity - a.severity);
}

/** @param statements ranked; one at least */
export function headlineOf(statements: readonly Statement[]): Headline {
  const [worst = statement('no_source'), ...others] = statements;
  const more = others.filter(({ level, code }) =>
    worst.level === 'good' ? code !== 'protected' : level !== 'good',
  );
  return { ...worst, more: more.length };
}
