/** The enrollment with a Partner service, told what the rest of the agent knows. */
import type { Logger } from 'pino';
import type { Clock } from '../base/clock.ts';
import type { Redactor } from '../base/redact.ts';
import type { Settings } from '../config/settings.ts';
import { expectedEvery } from '../enrollment/expected-every.ts';
import { Membership } from '../enrollment/membership.ts';
import type { StoredNow } from '../enrollment/result.ts';
import type { AgentState } from '../jobs/open-state.ts';
import type { Runner } from '../jobs/runner.ts';
import type { Backups } from './jobs/backups.ts';
import type { Destinations } from './places/destinations.ts';
import { planOf, zoneOf } from './jobs/planning.ts';
import { snapshotHeads } from './snapshot-heads.ts';
import { storedBytesOf } from './places/stored-bytes.ts';

export interface MembershipPlace {
  readonly stateDirectory: string;
  /** Of the program. */
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

/** Following schedules for a week takes a while: the answer holds for the day, and as long as the settings do. */
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

/** In all destinations that were looked at; null while none was. */
function storedNow({ state, destinations }: MembershipPlace): StoredNow | null {
  const known = destinations.all().flatMap(({ name }) => storedBytesOf(state.database.settings, name) ?? []);
  if (known.length === 0) return null;
  return {
    bytes: known.reduce((sum, { bytes }) => sum + bytes, 0),
    at: Math.max(...known.map(({ at }) => at)),
  };
}
