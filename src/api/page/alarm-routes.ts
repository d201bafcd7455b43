/** Alarms that wait for an answer. */
import { timestamp } from '../presentation/time.ts';
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
  /** The last snapshot from before what happened. */
  readonly before?: { readonly snapshot: string } | null;
}

export interface PageAlarms {
  open(): readonly OpenAlarm[];
  /** All of them; gives those that were open. */
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
