/** Repeats alarms that nobody has acknowledged: the first notice may have reached nobody. */
import { hostname } from 'node:os';
import type { Clock } from '../../base/clock.ts';
import { zonedTime } from '../../base/units.ts';
import type { SettingStore } from '../../db/settings.ts';
import { createNotice } from '../../notify/notice.ts';
import type { Notifier } from '../../notify/notifier.ts';
import type { Alarm } from '../../watch/alarms.ts';
import type { Alarms } from './alarm-book.ts';

export interface AlarmReminderParts {
  readonly alarms: Pick<Alarms, 'open'>;
  readonly settings: Pick<SettingStore, 'get' | 'set'>;
  readonly notifier: Pick<Notifier, 'notify'>;
  readonly clock: Clock;
}

const TOLD = 'alarms told';
const DAY_MS = 86_400_000;

/** Sends notices about new alarms. */
export function tellRaised(
  raised: readonly Alarm[],
  { notifier, clock }: Pick<AlarmReminderParts, 'notifier' | 'clock'>,
): void {
  for (const { text, source, kind } of raised) {
    const isSaidByJob = kind === 'empty';
    notifier.notify(createNotice({ kind: 'alarm', host: hostname(), text, source, isSaidByJob }, clock));
  }
}

/** To be called periodically. Each open alarm is repeated once a day, also across restarts. */
export function tellOpenAlarms({ alarms, settings, notifier, clock }: AlarmReminderParts): void {
  const nowMs = clock.now();
  const kept = settings.get(TOLD);
  const before = new Map(kept === undefined ? [] : (JSON.parse(kept) as [string, number][]));
  const told = new Map<string, number>();
  for (const alarm of alarms.open()) {
    const last = before.get(alarm.id) ?? alarm.at;
    // A time in the future was stored while the clock was wrong.
    const isDue = nowMs - last >= DAY_MS || last > nowMs;
    if (isDue) notifier.notify(createNotice(reminderOf(alarm), clock));
    if (isDue || before.has(alarm.id)) told.set(alarm.id, isDue ? nowMs : last);
  }
  const text = told.size === 0 ? undefined : JSON.stringify([...told]);
  if (text !== kept) settings.set(TOLD, text);
}

function reminderOf({ source, at, text }: Alarm) {
  const since = zonedTime(at);
  return {
    kind: 'alarm' as const,
    host: hostname(),
    source,
    text: `${text} Nobody has acknowledged it since ${since}.`,
  };
}
