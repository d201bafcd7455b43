/** The alarm that no failure gives: nothing happened at all. Pure. */
import type { NoticeFacts } from './notice.ts';

/** Times are milliseconds since 1970. */
export interface ProtectedSource {
  readonly source: string;
  readonly destination: string;
  /** When the last run began that read the source for a backup that completed; null when there is none. */
  readonly lastGoodAt: number | null;
  /** Since when it is to be backed up: the days count from here while there is none. */
  readonly since: number;
  /** When the next one was due after that, by its schedule; null when it has none. */
  readonly dueAt: number | null;
}

export interface Absence extends ProtectedSource {
  /** Whole days without a good backup. */
  readonly days: number;
}

export interface AbsenceFindings {
  /** All sources without a recent backup. */
  readonly absent: readonly Absence[];
  /** Those of them to tell about now: once a day each. */
  readonly tell: readonly Absence[];
  /** To be given again next time: key of the source -> when it was last told. What is mended is not in it. */
  readonly told: ReadonlyMap<string, number>;
}

const DAY_MS = 24 * 3_600_000;

/** `days`: what `notices.absenceDays` of the settings says; 0 for never. */
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

export function absenceKey({ source, destination }: ProtectedSource): string {
  return JSON.stringify([source, destination]);
}

export function absenceNotice({ source, destination, lastGoodAt, days }: Absence, host: string): NoticeFacts {
  const age = days === 1 ? '1 day' : `${days} days`;
  const what =
    lastGoodAt === null
      ? `${source} has never been backed up to ${destination}, although it should have been for ${age}.`
      : `The last good backup of ${source} to ${destination} is ${age} old, of ${new Date(lastGoodAt).toISOString()}.`;
  const text = `${what} Check that the agent runs, that the schedule is not off or paused, and that the destination can be reached.`;
  return { kind: 'absence', host, source, destination, text };
}

/** After so many days; of what is backed up more seldom, a day after it was due. */
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

/** A time in the future was noted under a wrong clock. */
function isDue(toldAt: number | undefined, now: number): boolean {
  return toldAt === undefined || now - toldAt >= DAY_MS || toldAt > now;
}
