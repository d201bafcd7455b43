/** Routes for alarms that nobody has acknowledged yet. */
import { timestamp } from '../presentation/values.ts';
import type { ApiApp } from '../framework/route.ts';
import { type Alarm, Alarms } from '../schemas/page/jobs.ts';

export interface OpenAlarm {
  readonly id: string;
  readonly kind: Alarm['kind'];
  /** Path of the source. */
  readonly source: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly text: string;
  readonly facts: Readonly<Record<string, number | string>>;
  /** The last snapshot before the event; null or absent when there is none. */
  readonly before?: { readonly snapshot: string } | null;
}

export interface PageAlarms {
  open(): readonly OpenAlarm[];
  /** Acknowledges all open alarms, and returns them. */
  acknowledge(): readonly OpenAlarm[];
}

export function alarmRoutes(app: ApiApp, alarms: PageAlarms): void {
  app.get('/alarms', { schema: { response: { 200: Alarms } }, config: { scope: 'page' } }, async () =>
    shown(alarms.open()),
  );
  app.post(
    '/alarms/acknowledge',
    { schema: { response: { 200: Alarms } }, config: { scope: 'page' } },
    async () => shown(alarms.acknowledge()),
  );
}

function shown(alarms: readonly OpenAlarm[]): Alarms {
  return {
    items: alarms.map(({ id, kind, source, at, text, facts, before }) => ({
      id,
      kind,
      source,
      at: timestamp(at),
      text,
      facts: { ...facts },
      snapshot_before: before?.snapshot ?? null,
    })),
  };
}
