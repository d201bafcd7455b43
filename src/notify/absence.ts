/** Finds sources without a recent backup, for which no failure would raise an alarm. Pure. */
import { zonedTime } from '../base/units.ts';
import type { NoticeFacts } from './notice.ts';

/** Times are milliseconds since 1970. */
export interface ProtectedSource {
  readonly source: string;
  readonly destination: string;
  /** When the run that read the source for the last completed backup began; null when there is none. */
  readonly lastGoodAt: number | null;
  /** Since when the source is to be backed up: days count from here while there is no backup. */
  readonly since: number;
  /** When the next backup was due after that, by the schedule; null when there is no schedule. */
  readonly dueAt: number | null;
}

export interface Absence extends ProtectedSource {
  /** Whole days without a good backup. */
  readonly days: number;
}

export interface AbsenceFindings {
  /** All sources without a recent backup. */
  readonly absent: readonly Absence[];
  /** The absences to report now: each once a day. */
  readonly tell: readonly Absence[];
  /**
   * To be passed to the next call: key of the source -> when it was last reported. Sources with a recent backup are not in it.
   */
  readonly told: ReadonlyMap<string, number>;
}

const DAY_MS = 24 * 3_600_000;

/** @param days `notices.absenceDays` of the settings; 0 for never */
export function findAbsences(
  sources: readonly ProtectedSource[],
  told: ReadonlyMap<string, number>,
  days: number,
  now: number,
): AbsenceFindings {
  const absent = days <= 0 ? [] : sources.flatMap((source) => absenceOf(source, days, now));
  const tell = absent.filter((absence) => isDue(told.get(absenceKey(absence)), now));
  const toldNow = new Set(tell.map(absenceKey));
  return {
    absent,
    tell,
    told: new Map(
      absent.map((absence) => {
        const key = absenceKey(absence);
        return [key, toldNow.has(key) ? now : (told.get(key) ?? now)];
      }),
    ),
  };
}

function absenceKey({ source, destination }: ProtectedSource): string {
  return JSON.stringify([source, destination]);
}

/** @param known what the headline says about it: why, as a clause, and what to do */
export function absenceNotice(
  { source, destination, lastGoodAt, days }: Absence,
  host: string,
  known: { readonly because: string; readonly advice: string },
): NoticeFacts {
  const age = days === 1 ? '1 day' : `${days} days`;
  const what =
    lastGoodAt === null
      ? `${source} has never been backed up to ${destination}, although a backup has been due for ${age}`
      : `The last good backup of ${source} to ${destination} is ${age} old (from ${zonedTime(lastGoodAt)})`;
  const text = `${what}${known.because}. ${known.advice}`.trimEnd();
  return { kind: 'absence', host, source, destination, text };
}

/** Absent after `days` days; with a longer schedule, a day after the backup was due. */
export function isAbsent(
  source: Omit<ProtectedSource, 'source' | 'destination'>,
  days: number,
  now: number,
): boolean {
  const from = source.lastGoodAt ?? source.since;
  return now - from >= days * DAY_MS && (source.dueAt === null || now - source.dueAt >= DAY_MS);
}

function absenceOf(source: ProtectedSource, days: number, now: number): readonly Absence[] {
  if (!isAbsent(source, days, now)) return [];
  const age = now - (source.lastGoodAt ?? source.since);
  return [{ ...source, days: Math.floor(age / DAY_MS) }];
}

/** A time in the future was stored while the clock was wrong. */
function isDue(toldAt: number | undefined, now: number): boolean {
  return toldAt === undefined || now - toldAt >= DAY_MS || toldAt > now;
}
