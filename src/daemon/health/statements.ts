/** Derives all statements about how well the person is protected. The page, the command line and programs show them. */
import { basename } from 'node:path/posix';
import type { Settings } from '../../config/settings.ts';
import type { JobStore } from '../../db/jobs.ts';
import type { StatusCheck } from '../../jobs/agent.ts';
import type { JobError } from '../../jobs/job.ts';
import { ranked, statement, type Reason, type Statement, type StatementFacts } from '../../jobs/statement.ts';
import type { Alarm } from '../../watch/alarms.ts';
import type { Place } from '../places/destinations.ts';
import type { MaintenanceFindings } from './maintenance-checks.ts';
import { sourceNames } from '../sources/configured-source.ts';
import type { Standing } from './standing.ts';

export interface StatementParts {
  readonly settings: () => Pick<Settings, 'sources'>;
  readonly jobs: Pick<JobStore, 'count'>;
  readonly now: () => number;
  readonly home: string;
  readonly alarms: () => readonly Alarm[];
  /** Sources that should be watched but are not. */
  readonly unwatched: () => readonly string[];
  /** Free bytes for the state, if they are few; null while there are enough, or when that is unknown. */
  readonly scarceBytes: () => number | null;
  /** Whether the destination is on the same disk as the source; false where that is unknown. */
  readonly sharesDisk: (destination: string, source: string) => boolean;
  /** The names of each place that several destinations share. */
  readonly onePlaces: () => readonly (readonly string[])[];
  /** Whether the destination was on the system disk when it was last seen: that one cannot have been unplugged. */
  readonly isOfSystem: (destination: string) => boolean;
  /**
   * Since when no restore from the destination has been tried, in milliseconds since 1970; null when there is nothing
   * to restore, or when that is unknown.
   */
  readonly untestedSince: (destination: string) => number | null;
  /** Whether a good backup of the source is known, to whichever destination, and there are snapshots to restore from. */
  readonly hasEarlier: (source: string) => boolean;
}

export interface Known {
  readonly standings: readonly Standing[];
  readonly maintenance: MaintenanceFindings;
  /** Destinations of the settings that are missing or cannot be reached. */
  readonly away: readonly Place[];
  /** `until` null: until somebody resumes. */
  readonly pause: { readonly until: number | null } | undefined;
  readonly checks: readonly StatusCheck[];
}

/** Tolerance for the clock, in milliseconds. */
const CLOCK_SLACK_MS = 300_000;
const UNTESTED_MS = 60 * 86_400_000;

/** Names of checks for which a more detailed statement exists. */
const SAID_OTHERWISE: ReadonlySet<string> = new Set([
  'destinations',
  'overdue',
  'sources',
  'destinations of a source',
  'unread files',
  'left out',
  'commands',
  'damage',
  'restore drills',
  'checks not done',
  'drills not done',
  'prune',
  'alarms',
  'pause',
  'clock',
  'state room',
  'watcher',
  'same disk',
]);

/** The worst first, at least one. */
export function statementsOf(parts: StatementParts, known: Known): readonly Statement[] {
  const { standings } = known;
  const scene = new Scene(parts, known);
  const all = [
    ...alarmStatements(scene),
    ...placeStatements(scene),
    ...standingStatements(scene),
    ...ofChecks(known),
    ...noteStatements(scene),
  ];
  const base =
    standings.length === 0 ? statement('no_source') : statement('protected', scene.about(standings));
  return ranked([...all, base]);
}

const UNWRITTEN: ReadonlySet<string> = new Set(['state', 'state_full', 'state_gone']);

/** Whether the state cannot be written, which says more than how little room it has. */
export function isUnwritten(checks: Known['checks']): boolean {
  return checks.some(({ name, status }) => UNWRITTEN.has(name) && status === 'error');
}

/** Whether a time is in the future. */
export function isAhead(at: number | null, nowMs: number): boolean {
  return at !== null && at - nowMs > CLOCK_SLACK_MS;
}

class Scene {
  readonly parts: StatementParts;
  readonly known: Known;
  readonly #names: ReadonlyMap<string, string>;

  constructor(parts: StatementParts, known: Known) {
    this.parts = parts;
    this.known = known;
    const paths = known.standings.map(({ source }) => source.path);
    this.#names = sourceNames([...paths, ...parts.alarms().map(({ source }) => source)], parts.home);
  }

  name(path: string): string {
    return this.#names.get(path) ?? path;
  }

  /** The destination, if it is missing or cannot be reached. */
  away(destination: string): Place | undefined {
    return this.known.away.find(({ name }) => name === destination);
  }

  isAway(destination: string): boolean {
    return this.away(destination) !== undefined;
  }

  /** The facts about these sources. `to` has their destinations, unless all destinations of the sources are meant. */
  about(meant: readonly Standing[]): Pick<StatementFacts, 'paths' | 'names' | 'to' | 'since'> {
    const asked = new Set(meant.map(({ source }) => source.path));
    const paths = [...asked];
    const ofThem = this.known.standings.filter(({ source }) => asked.has(source.path));
    const to = [...new Set(meant.map(({ destination }) => destination))];
    return {
      paths,
      names: paths.map((path) => this.name(path)),
      to: ofThem.length === meant.length ? [] : to,
      since: oldest(meant),
    };
  }
}

const ALARM_CODES = {
  empty: 'source_empty',
  unreadable: 'source_unreadable',
  left_out: 'source_left_out',
  shrunk: 'files_disappeared',
  rewritten: 'files_rewritten',
  burst: 'files_burst',
  claimed: 'name_claimed',
} as const;

function alarmStatements(scene: Scene): readonly Statement[] {
  return scene.parts.alarms().map(({ kind, source, facts, before: snapshot = null }) => {
    const figures = Object.fromEntries(
      Object.entries(facts).flatMap(([name, value]) => (typeof value === 'number' ? [[name, value]] : [])),
    );
    const { files_before: before = 0, files = 0 } = figures;
    const failure = scene.known.standings.find((one) => one.source.path === source)?.failure;
    const last = scene.known.standings.find((one) => one.source.path === source && one.isLeftOut);
    return statement(ALARM_CODES[kind], {
      paths: [source],
      names: [typeof facts['folder'] === 'string' ? basename(facts['folder']) : scene.name(source)],
      job: kind === 'left_out' ? (last?.lastJob ?? null) : null,
      figures: kind === 'shrunk' ? { ...figures, files_gone: Math.max(0, before - files) } : figures,
      reason: kind === 'empty' && failure?.details['is_there'] === false ? 'source_missing' : null,
      before: snapshot,
    });
  });
}

function placeStatements(scene: Scene): readonly Statement[] {
  const { maintenance, away } = scene.known;
  const of = (code: Statement['code'], to: readonly string[]): readonly Statement[] =>
    to.length === 0 ? [] : [statement(code, { to })];
  const gone = away.filter((place) => isGone(place, scene));
  const emptied = scene.known.standings.filter((one) => isEmptied(one, scene));
  const places = [...new Set(emptied.map(({ destination }) => destination))];
  return [
    ...of('destination_gone', [...new Set(gone.map(({ name }) => name))]),
    ...(emptied.length === 0
      ? []
      : [statement('destination_gone', { ...scene.about(emptied), to: places, figures: { empty: 1 } })]),
    ...of('damaged', maintenance.damaged),
    ...of('drill_failed', maintenance.unrestored),
    ...of('check_undone', maintenance.unchecked),
    ...of('drill_undone', maintenance.undrilled),
    ...of('prune_failed', maintenance.unpruned),
  ];
}

/** The system disk cannot be unplugged, so a missing folder on it was deleted or moved. */
function isGone({ name, directory }: Place, { parts }: Scene): boolean {
  return directory !== undefined && parts.isOfSystem(name);
}

/**
 * Whether the backups of the source are not where they were, and nowhere else. What was deleted from the system disk is
 * said in any case, as no other disk can be plugged in.
 */
function isEmptied(one: Standing, { parts, known }: Scene): boolean {
  const { failure, destination, source } = one;
  if (failure === null || reasonFor(failure) !== 'emptied') return false;
  const isElsewhere = known.standings.some(
    (other) =>
      other.source.path === source.path &&
      other.destination !== destination &&
      other.lastGoodAt !== null &&
      !other.overdue &&
      other.failure === null,
  );
  return parts.isOfSystem(destination) || !isElsewhere;
}

function standingStatements(scene: Scene): readonly Statement[] {
  const { standings, pause } = scene.known;
  const { jobs, alarms, now } = scene.parts;
  const hasAlarm = (path: string, ...kinds: readonly Alarm['kind'][]): boolean =>
    alarms().some(({ source, kind }) => source === path && kinds.includes(kind));
  const reasonOf = (one: Standing): Reason | null => {
    const place = scene.away(one.destination);
    if (place === undefined) {
      if (one.failure !== null) return reasonFor(one.failure);
      return one.source.schedule === 'off' && !one.source.watch ? 'unscheduled' : null;
    }
    if (place.directory === undefined) return 'unreachable';
    // What was deleted from the system disk has a statement of its own, and no disk to plug in.
    return isGone(place, scene) ? null : 'away';
  };
  const withReason = (meant: readonly Standing[]): Partial<StatementFacts> => {
    const reasons = new Set(meant.map(reasonOf));
    const [only = null] = reasons;
    const reason = reasons.size === 1 ? only : null;
    const isHeldUp = reason === null && pause !== undefined;
    const jobs = new Set(meant.map(({ failedJob }) => failedJob));
    const [job = null] = jobs;
    return {
      ...scene.about(meant),
      reason,
      job: jobs.size === 1 ? job : null,
      figures: isHeldUp ? { paused: 1 } : {},
    };
  };

  // Rules that leave out everything have a statement of their own, and so has an empty source: both say why there is none.
  const never = standings.filter((one) => one.lastGoodAt === null && !one.isLeftOut);
  const overdue = standings.filter(
    (one) => one.lastGoodAt !== null && one.overdue && !hasAlarm(one.source.path, 'empty'),
  );
  // At another destination, or where this one was before: the person has something to restore from.
  const hasEarlier = never.length > 0 && never.every(({ source }) => scene.parts.hasEarlier(source.path));
  const isFirst =
    never.length > 0 &&
    (hasEarlier || never.length === standings.length) &&
    never.every((one) => one.failure === null && !one.overdue && !scene.isAway(one.destination)) &&
    jobs.count('running') + jobs.count('queued') > 0;
  const isHeld = pause !== undefined && jobs.count('running') === 0;
  const failed = standings.filter(
    (one) =>
      one.failure !== null &&
      one.lastGoodAt !== null &&
      !one.overdue &&
      // A disk that is away has a statement of its own, which goes by the age of its backups.
      !scene.isAway(one.destination) &&
      !isEmptied(one, scene) &&
      !hasAlarm(one.source.path, 'empty'),
  );
  const unread = standings.filter(
    (one) => one.unread.files + one.unread.folders > 0 && !hasAlarm(one.source.path, 'unreadable', 'empty'),
  );
  const leftOut = standings.filter((one) => one.isLeftOut && !hasAlarm(one.source.path, 'left_out', 'empty'));
  const unprepared = standings.filter(({ hasFailedCommand }) => hasFailedCommand);
  const ahead = standings.filter(({ statedGoodAt }) => isAhead(statedGoodAt, now()));
  const aheadMs = Math.max(0, ...ahead.map(({ statedGoodAt }) => (statedGoodAt ?? 0) - now()));
  const found: Statement[] = [];
  if (isFirst) {
    // It may be waiting for hours, as for mains power.
    const waits = jobs.count('running') === 0 && !isHeld ? { waits: 1 } : {};
    const earlier = hasEarlier ? { earlier: 1 } : {};
    const code = isHeld ? 'first_backup_paused' : 'first_backup_runs';
    const to = hasEarlier ? { to: [...new Set(never.map(({ destination }) => destination))] } : {};
    found.push(statement(code, { ...scene.about(never), ...to, figures: { ...waits, ...earlier } }));
  } else if (never.length > 0) found.push(statement('never_backed_up', withReason(never)));
  if (overdue.length > 0) found.push(statement('overdue', withReason(overdue)));
  for (const meant of bySourceAndReason(failed, reasonOf))
    found.push(statement('last_failed', withReason(meant)));
  if (leftOut.length > 0)
    found.push(
      statement('source_left_out', { ...scene.about(leftOut), to: [], job: leftOut[0]?.lastJob ?? null }),
    );
  if (unprepared.length > 0)
    found.push(
      statement('command_failed', { ...scene.about(unprepared), job: unprepared[0]?.lastJob ?? null }),
    );
  if (unread.length > 0) found.push(unreadStatement(unread, scene));
  if (ahead.length > 0) found.push(statement('clock_behind', { figures: { ahead_ms: aheadMs } }));
  if (pause !== undefined && !(isFirst && isHeld))
    found.push(statement('paused', { ...scene.about(standings), figures: pauseFigures(pause) }));
  return found;
}

function pauseFigures({ until }: NonNullable<Known['pause']>): StatementFacts['figures'] {
  return until === null ? {} : { until_ms: until };
}

/** One statement for each source and reason, as each needs another remedy. */
function bySourceAndReason(
  failed: readonly Standing[],
  reasonOf: (one: Standing) => Reason | null,
): Iterable<readonly Standing[]> {
  return Map.groupBy(failed, (one) => `${reasonOf(one)} ${one.source.path}`).values();
}

/** Counts each source once, as the same files are missing at each of its destinations. */
function unreadStatement(unread: readonly Standing[], scene: Scene): Statement {
  const perSource = [...Map.groupBy(unread, ({ source }) => source.path).values()].flatMap(
    ([one]) => one ?? [],
  );
  const sum = (of: 'files' | 'folders'): number => perSource.reduce((all, one) => all + one.unread[of], 0);
  return statement('files_unread', {
    ...scene.about(unread),
    to: [],
    job: perSource[0]?.lastJob ?? null,
    files: perSource.flatMap((one) => one.unread.named).slice(0, 3),
    figures: { files: sum('files'), folders: sum('folders') },
  });
}

function noteStatements(scene: Scene): readonly Statement[] {
  const { standings, away } = scene.known;
  const { unwatched, onePlaces, scarceBytes, sharesDisk, untestedSince, now } = scene.parts;
  const notes: Statement[] = [];
  // Of a source that is not there, or cannot be backed up, that is said, and no watching would help.
  const closed = unwatched().filter((path) => !isUnfit(path, scene));
  if (closed.length > 0)
    notes.push(statement('not_watched', { paths: closed, names: closed.map((path) => scene.name(path)) }));
  for (const place of onePlaces()) {
    const there = standings.filter(({ destination }) => place.includes(destination));
    const twice = [...Map.groupBy(there, ({ source }) => source.path).values()].filter((of) => of.length > 1);
    if (twice.length > 0)
      notes.push(
        statement('same_place', {
          ...scene.about(twice.flat()),
          to: place.filter((name) => twice.flat().some((one) => one.destination === name)),
        }),
      );
  }
  const scarce = isUnwritten(scene.known.checks) ? null : scarceBytes();
  if (scarce !== null) notes.push(statement('state_nearly_full', { figures: { free_bytes: scarce } }));
  for (const place of away) {
    const { name, directory } = place;
    const at = standings.filter(({ destination }) => destination === name);
    // Nothing is backed up to it, or a worse statement covers it.
    if (at.length === 0 || at.some((one) => one.lastGoodAt === null || one.overdue)) continue;
    if (isGone(place, scene)) continue;
    const far = directory === undefined ? 1 : 0;
    notes.push(statement('destination_away', { ...scene.about(at), to: [name], figures: { far } }));
  }
  // A source survives a disk failure as long as one of its destinations is elsewhere.
  const elsewhere = new Set(
    standings
      .filter(({ destination, source }) => !sharesDisk(destination, source.path))
      .map(({ source }) => source.path),
  );
  const alone = standings.filter(
    ({ source, destination, lastGoodAt }) =>
      // Of a destination that is gone there is nothing on any disk.
      !elsewhere.has(source.path) && lastGoodAt !== null && !scene.isAway(destination),
  );
  if (alone.length > 0)
    notes.push(
      statement('same_disk', {
        ...scene.about(alone),
        to: [...new Set(alone.map(({ destination }) => destination))],
      }),
    );
  for (const name of new Set(standings.map(({ destination }) => destination))) {
    const since = untestedSince(name);
    const untestedMs = since === null ? 0 : now() - since;
    if (untestedMs > UNTESTED_MS)
      notes.push(statement('untested', { to: [name], figures: { untested_ms: untestedMs } }));
  }
  return notes;
}

function isUnfit(path: string, { known, parts }: Scene): boolean {
  const unfit = new Set<Reason | undefined>([
    'source_missing',
    'source_silent',
    'source_unfit',
    'source_own',
  ]);
  return (
    parts.alarms().some(({ source, kind }) => source === path && kind === 'empty') ||
    known.standings.some(
      ({ source, failure }) => source.path === path && failure !== null && unfit.has(reasonFor(failure)),
    )
  );
}

function ofChecks({ checks }: Known): readonly Statement[] {
  return checks.flatMap(({ name, status, code }) =>
    status === 'ok' || SAID_OTHERWISE.has(name)
      ? []
      : [
          statement(status === 'error' ? 'check_failed' : 'check_warns', {
            check: name,
            checkCode: code ?? null,
          }),
        ],
  );
}

const REASONS: Readonly<Record<string, Reason>> = {
  INSUFFICIENT_STORAGE: 'full',
  WRONG_PASSPHRASE: 'locked_out',
  DECRYPTION_FAILED: 'locked_out',
  SECRET_UNAVAILABLE: 'no_secret',
  SECRET_UNSAFE: 'no_secret',
  DESTINATION_AUTH_FAILED: 'denied',
  DESTINATION_UNREACHABLE: 'unreachable',
  HOOK_FAILED: 'command',
  SOURCE_SUSPICIOUSLY_EMPTY: 'source_empty',
};

function reasonFor({ code, details }: JobError): Reason {
  if (code === 'DESTINATION_ERROR' && details['reason'] === 'different') return 'other_repository';
  if (code === 'DESTINATION_ERROR' && details['reason'] === 'empty') return 'emptied';
  if (code === 'DESTINATION_ERROR' && details['found'] !== undefined) return 'foreign';
  if (code === 'DESTINATION_ERROR' && details['errno'] === 'EROFS') return 'read_only';
  if (code === 'DESTINATION_ERROR' && ['EACCES', 'EPERM'].includes(String(details['errno'])))
    return 'no_permission';
  if (code === 'SOURCE_SUSPICIOUSLY_EMPTY' && details['is_there'] === false) return 'source_missing';
  if (code === 'INVALID_SOURCE') return SOURCE_REASONS[String(details['reason'])] ?? 'source_missing';
  return REASONS[code] ?? 'other';
}

/** By the `reason` of INVALID_SOURCE. */
const SOURCE_REASONS: Readonly<Record<string, Reason>> = {
  not_readable: 'source_unreadable',
  not_answering: 'source_silent',
  inside_state_directory: 'source_own',
  inside_repository: 'source_own',
  unsupported_type: 'source_unfit',
};

/** Null when one of them has no good backup. */
function oldest(standings: readonly Standing[]): number | null {
  const times = standings.flatMap(({ lastGoodAt }) => (lastGoodAt === null ? [] : [lastGoodAt]));
  return times.length === 0 || times.length < standings.length ? null : Math.min(...times);
}
