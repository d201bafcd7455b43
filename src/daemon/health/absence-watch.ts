/** Sends a notice when a source has had no good backup for days, which nobody would notice when nothing fails. */
import { hostname } from 'node:os';
import type { Clock } from '../../base/clock.ts';
import { inSlices } from '../../base/paced-work.ts';
import type { Settings } from '../../config/settings.ts';
import type { SettingStore } from '../../db/settings.ts';
import type { StateDatabase } from '../../db/state-database.ts';
import { absenceNotice, findAbsences, type ProtectedSource } from '../../notify/absence.ts';
import type { FullStatus } from '../../jobs/agent.ts';
import { adviceOf, because } from '../../jobs/protection.ts';
import type { Statement } from '../../jobs/statement.ts';
import { createNotice } from '../../notify/notice.ts';
import type { Notifier } from '../../notify/notifier.ts';
import { goodAt, noticeGood } from './good-backups.ts';
import { dueAfter, zoneOf } from '../jobs/planning.ts';

export interface AbsenceParts {
  readonly settings: () => Settings;
  readonly state: Pick<StateDatabase, 'jobs' | 'settings'>;
  readonly notifier: Pick<Notifier, 'notify'>;
  readonly clock: Clock;
  /** What the agent says about how well the person is protected. */
  readonly status: () => Promise<Pick<FullStatus, 'statements' | 'sources'>>;
}

/** Milliseconds for which a running backup is trusted to end the absence. */
const TRUSTED_MS = 24 * 3_600_000;

const TOLD = 'absence told';

/**
 * To be called periodically. What was told is stored, so that a restart does not repeat it.
 * @param signal ends the look early; then nothing is told
 */
export async function tellAbsences(
  { settings, state, notifier, clock, status }: AbsenceParts,
  signal?: AbortSignal,
): Promise<void> {
  const nowMs = clock.now();
  const { sources, notices, ...others } = settings();
  const zone = zoneOf(others);
  const kept = state.settings.get(TOLD);
  const told = new Map(kept === undefined ? [] : (JSON.parse(kept) as [string, number][]));
  const watched: ProtectedSource[] = [];
  // The first look at a source writes to the disk, which takes milliseconds for each.
  await inSlices(
    sources,
    (source) => {
      for (const destination of source.destinations) {
        const known = protectedSource(source.path, destination, state, nowMs);
        // Its end is near, or is told by itself.
        if (isBeingMade(source.path, destination, state, nowMs)) continue;
        watched.push({ ...known, dueAt: dueAfter(source, known.lastGoodAt ?? known.since, zone) });
      }
    },
    signal,
  );
  if (signal?.aborted === true) return;
  const found = findAbsences(watched, told, notices.absenceDays, nowMs);
  state.settings.set(TOLD, found.told.size === 0 ? undefined : JSON.stringify([...found.told]));
  if (found.tell.length === 0) return;
  const { statements, sources: pairs } = await status();
  for (const absence of found.tell) {
    const said = statementAbout(absence, statements);
    const known = {
      because: because(said?.reason ?? null),
      advice: said === undefined ? '' : adviceOf(said, pairs),
    };
    notifier.notify(createNotice(absenceNotice(absence, hostname(), known), clock));
  }
}

/** The statement that says why there is no recent backup. */
function statementAbout(
  { source, destination }: Pick<ProtectedSource, 'source' | 'destination'>,
  statements: readonly Statement[],
): Statement | undefined {
  const isMeant = ({ to }: Statement): boolean => to.length === 0 || to.includes(destination);
  return (
    statements.find((one) => one.code === 'destination_gone' && one.to.includes(destination)) ??
    statements.find(
      (one) =>
        (one.code === 'overdue' || one.code === 'never_backed_up') &&
        one.paths.includes(source) &&
        isMeant(one),
    )
  );
}

/** Whether a backup runs, or only waits for its turn. */
function isBeingMade(
  source: string,
  destination: string,
  { jobs }: AbsenceParts['state'],
  nowMs: number,
): boolean {
  const turns: ReadonlySet<string | undefined> = new Set([undefined, 'turn', 'reader', 'earlier']);
  return (['running', 'queued'] as const).some((status) => {
    const job = jobs.newest({ types: ['backup'], status, source, destination });
    if (job === undefined || nowMs - job.created_at > TRUSTED_MS) return false;
    return job.error === null && (status === 'running' || turns.has(job.waits?.code));
  });
}

function protectedSource(
  source: string,
  destination: string,
  { jobs, settings }: AbsenceParts['state'],
  nowMs: number,
): Omit<ProtectedSource, 'dueAt'> {
  const last = jobs.newest({ types: ['backup'], status: 'completed', good: true, source, destination });
  noticeGood(settings, destination, source, last, nowMs);
  const noted = protectedSince(settings, destination, source);
  // A time in the future was stored while the clock was wrong.
  const since = noted === undefined || noted > nowMs ? nowMs : noted;
  if (since !== noted) settings.set(sinceKey(destination, source), String(since));
  return { source, destination, lastGoodAt: goodAt(settings, destination, source, last, nowMs), since };
}

/** Since when the source is backed up to that destination, in milliseconds since 1970; undefined when it was not noted. */
export function protectedSince(
  settings: Pick<SettingStore, 'get'>,
  destination: string,
  source: string,
): number | undefined {
  const noted = settings.get(sinceKey(destination, source));
  return noted === undefined ? undefined : Number(noted);
}

/** Forgets the times of all sources at a destination that has moved to another place, so that they begin anew. */
export function forgetProtectedSince(settings: Pick<SettingStore, 'all' | 'set'>, destination: string): void {
  const prefix = sinceKey(destination, '');
  for (const key of settings.all().keys()) if (key.startsWith(prefix)) settings.set(key, undefined);
}

export function sinceKey(destination: string, source: string): string {
  return `since ${destination} ${source}`;
}
