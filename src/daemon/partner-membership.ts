/** Opens the enrollment with a Partner service, and provides it with facts from the rest of the agent. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../base/clock.ts';
import { StateError } from '../base/errors.ts';
import { namesIn } from '../base/atomic-file.ts';
import type { Redactor } from '../base/redact.ts';
import type { Settings } from '../config/settings.ts';
import type { SnapshotHead } from '../enrollment/heads.ts';
import { Membership } from '../enrollment/membership.ts';
import type { StoredNow } from '../enrollment/result.ts';
import type { AgentState } from '../jobs/open-state.ts';
import type { Runner } from '../jobs/runner.ts';
import { WriterState } from '../repository/writer-state.ts';
import { nextRuns, type Schedule } from '../schedule/schedule.ts';
import type { Backups } from './jobs/backups.ts';
import { planOf, zoneOf } from './jobs/planning.ts';
import type { Destinations } from './places/destinations.ts';
import { storedBytesOf } from './places/stored-bytes.ts';

export interface MembershipPlace {
  readonly stateDirectory: string;
  /** Version of the program. */
  readonly version: string;
  readonly clock: Clock;
  readonly settings: () => Settings;
  readonly state: AgentState;
  readonly destinations: Pick<Destinations, 'all'>;
  readonly backups: Pick<Backups, 'all'>;
  readonly runner: Pick<Runner, 'look'>;
  readonly redactor: Redactor;
  readonly log: Logger;
}

export async function openMembership(place: MembershipPlace): Promise<Membership> {
  const { stateDirectory, version, clock, settings, state, backups, runner, redactor, log } = place;
  const expected = oncePerDay(expectedOf);
  return await Membership.open({
    stateDirectory,
    version,
    clock,
    settings,
    store: state.database.partnerReports,
    job: (id) => state.database.jobs.record(id)?.job,
    expectedEvery: () => expected(settings(), clock.now()),
    stored: () => storedNow(place),
    heads: async () => await snapshotHeads(stateDirectory),
    backUpAll: () => backups.all('api'),
    planChanged: () => runner.look(),
    learn: redactor.learn,
    log,
  });
}

const DAY_MS = 86_400_000;

/** Caches the answer for the day and the settings, as following schedules for a week takes a while. */
function oncePerDay(ask: typeof expectedOf): typeof expectedOf {
  let known: { settings: Settings; day: number; answer: number | null } | undefined;
  return (settings, nowMs) => {
    const day = Math.floor(nowMs / DAY_MS);
    if (known?.settings !== settings || known.day !== day)
      known = { settings, day, answer: ask(settings, nowMs) };
    return known.answer;
  };
}

function expectedOf(settings: Settings, nowMs: number): number | null {
  const schedules = planOf(settings)
    .filter(({ specs }) => specs.some(({ type }) => type === 'backup'))
    .map(({ entry }) => entry.schedule);
  return expectedEvery(schedules, nowMs, zoneOf(settings));
}

/** The sum over all destinations that a job has looked at; null while there is none. */
function storedNow({ state, destinations }: MembershipPlace): StoredNow | null {
  const known = destinations.all().flatMap(({ name }) => storedBytesOf(state.database.settings, name) ?? []);
  if (known.length === 0) return null;
  return {
    bytes: known.reduce((sum, { bytes }) => sum + bytes, 0),
    at: Math.max(...known.map(({ at }) => at)),
  };
}

/**
 * Names of the files in which this machine remembers a repository, with the newest record of each writer. The service
 * is told these as a witness.
 */
const FILE = /^([0-9a-f]{32})\.json$/;

/** For each repository this machine's own writer comes first. */
async function snapshotHeads(stateDirectory: string): Promise<readonly SnapshotHead[]> {
  const heads: SnapshotHead[] = [];
  for (const name of (await namesIn(join(stateDirectory, 'repositories'))).toSorted()) {
    const repositoryId = FILE.exec(name)?.[1];
    if (repositoryId !== undefined) heads.push(...(await headsOf(stateDirectory, repositoryId)));
  }
  return heads;
}

async function headsOf(stateDirectory: string, repositoryId: string): Promise<readonly SnapshotHead[]> {
  try {
    const { memory } = await WriterState.open(stateDirectory, repositoryId);
    const { writer, seq, prev: record, heads } = memory;
    const { [writer]: _own, ...others } = heads;
    return [[writer, { seq, record }] as const, ...Object.entries(others)].map(
      ([of, head]): SnapshotHead => ({
        repository_id: repositoryId,
        writer: of,
        seq: head.seq,
        hash: head.record,
      }),
    );
  } catch (error) {
    // The next user of the repository reports that its memory is damaged.
    if (error instanceof StateError) return [];
    throw error;
  }
}

/** Bounds in seconds, as the partner API allows. */
const SHORTEST = 60;
const LONGEST = 366 * 86_400;
/** Long enough to include a weekend. */
const HORIZON_MS = 8 * 86_400_000;
const STEP = 50;
const MOST_RUNS = 2_000;

/**
 * How often backups should finish according to the schedules, which the partner's alarm about missed backups relies on.
 * Pure. Seconds between backups: of all schedules' longest pauses, the shortest. Null when nothing is scheduled.
 */
export function expectedEvery(schedules: readonly Schedule[], nowMs: number, zone: string): number | null {
  const pauses = schedules.flatMap((schedule) => longestPause(schedule, nowMs, zone) ?? []);
  if (pauses.length === 0) return null;
  return Math.min(LONGEST, Math.max(SHORTEST, Math.ceil(Math.min(...pauses) / 1000)));
}

/** The longest pause between two runs, in milliseconds; null when the schedule is never due. */
function longestPause(schedule: Schedule, nowMs: number, zone: string): number | null {
  if (schedule.periodMs !== null) return schedule.periodMs;
  let [last] = nextRuns(schedule, nowMs, zone, 1);
  if (last === undefined) return null;
  let longest: number | null = null;
  for (let count = 0; count < MOST_RUNS && (longest === null || last < nowMs + HORIZON_MS); count += STEP) {
    const runs = nextRuns(schedule, last, zone, STEP);
    for (const run of runs) {
      longest = Math.max(longest ?? 0, run - last);
      last = run;
    }
    if (runs.length < STEP) break;
  }
  return longest;
}
