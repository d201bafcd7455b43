/** All statements about whether a person is protected, with their severity. */
import type { PartnerCheckCode } from './agent.ts';
import type { SnapshotPlace } from '../watch/way-back.ts';

export type Level = 'good' | 'warning' | 'bad';

/**
 * The only ranking: the highest severity is said first. From 500 on the person is not protected or files are at risk;
 * from 100 on something has to be put right; below that it is good to know.
 */
const SEVERITIES = {
  no_source: 990,
  /** An error that only the affected part of the agent can explain, such as the state or the partner. */
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
  command_failed: 420,
  files_unread: 400,
  clock_behind: 380,
  same_place: 370,
  state_nearly_full: 360,
  /** A warning that only the affected part of the agent can explain. */
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
  'no_secret',
  'denied',
  'unreachable',
  'source_missing',
  'source_unreadable',
  'source_silent',
  'source_own',
  'source_unfit',
  'source_empty',
  'read_only',
  'no_permission',
  'foreign',
  'command',
  /** Nothing starts the backups of the source. */
  'unscheduled',
  'other',
] as const;
export type Reason = (typeof REASONS)[number];

export interface StatementFacts {
  /** The sources concerned; empty when the statement is not about sources. */
  readonly paths: readonly string[];
  /**
   * Display names of the sources: the last component, `~` for the home directory, or the whole path where two names
   * would be the same.
   */
  readonly names: readonly string[];
  /** The destinations concerned; empty when all destinations of the sources are. */
  readonly to: readonly string[];
  /**
   * The oldest of the last good backups of what the statement is about, in milliseconds since 1970; null when one of
   * them has none.
   */
  readonly since: number | null;
  /** Paths of files that could not be read, a few at most. */
  readonly files: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
  readonly reason: Reason | null;
  /** Name of the check behind the statement. */
  readonly check: string | null;
  /** Which of the things that the check can say it says; null where its name tells. */
  readonly checkCode: PartnerCheckCode | null;
  /** Id of the job that says more; missing where no single one does. */
  readonly job?: string | null;
  /** The last snapshot from before the event of an alarm; null when it is unknown, and for other statements. */
  readonly before: SnapshotPlace | null;
}

export interface Statement extends StatementFacts {
  readonly code: StatementCode;
  readonly level: Level;
  /** Higher is worse. */
  readonly severity: number;
}

/** The worst statement. */
export interface Headline extends Statement {
  /** The number of other statements that are shown below it. */
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
  checkCode: null,
  before: null,
};

export function statement(code: StatementCode, facts: Partial<StatementFacts> = {}): Statement {
  return { ...NOTHING, ...facts, code, level: levelOf(code), severity: SEVERITIES[code] };
}

export function levelOf(code: StatementCode): Level {
  const severity = SEVERITIES[code];
  return severity >= 500 ? 'bad' : severity >= 100 ? 'warning' : 'good';
}

/** The worst first; statements of the same severity keep their order. */
export function ranked(statements: readonly Statement[]): readonly Statement[] {
  return statements.toSorted((a, b) => b.severity - a.severity);
}

/** @param statements ranked, at least one */
export function headlineOf(statements: readonly Statement[]): Headline {
  const [worst = statement('no_source'), ...others] = statements;
  return { ...worst, more: shownBelow(worst, others).length };
}

/**
 * The statements that are shown below the worst one: all that is not well or, when all is well, what is good to know. A
 * shared disk is always shown, as it is a risk that lasts, whatever else is wrong for the moment.
 */
export function shownBelow(worst: Statement, others: readonly Statement[]): readonly Statement[] {
  return others.filter(({ level, code }) =>
    worst.level === 'good' ? code !== 'protected' : level !== 'good' || code === 'same_disk',
  );
}
