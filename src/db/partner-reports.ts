/**
 * Stores what a Partner service has to learn about this device. Each job that ended is reported once: its result waits,
 * then goes into a numbered report, which stays the same until it is answered.
 */
import type { Database } from './database.ts';
import type { SettingStore } from './settings.ts';

/** The most results that wait while the service is out of reach; older ones are dropped. */
export const MOST_WAITING = 10_000;
export const MOST_RESULTS = 1_000;
const MOST_ORDERS = 10;
/** Milliseconds for which an order is remembered after it expires, in case the clock is wrong. */
const ORDERS_KEPT_MS = 7 * 86_400_000;

/** Also in the journal, so that a number is never used for another report, even if the database is lost. */
const COUNTER = 'partner reports';

interface Counter {
  readonly device: string;
  /** Number of the last report that was made. */
  readonly seq: number;
  /** The latest end of a job that was put into a report. */
  readonly until: number;
}

export interface JobResult {
  readonly jobId: string;
  /** Milliseconds since 1970. */
  readonly finishedAt: number;
  /** The result to send, as JSON; null when there is nothing to report about the job. */
  readonly body: string | null;
}

export interface NumberedReport {
  readonly seq: number;
  readonly body: string;
}

/** The part of a report that the store provides. */
export interface ReportContents {
  readonly seq: number;
  /** JSON texts, oldest first. */
  readonly results: readonly string[];
  readonly ordersTaken: readonly string[];
}

export interface PartnerReportStore {
  /**
   * Begins with a device that was enrolled at that time, or continues with it. What was stored for another device is forgotten.
   */
  begin(deviceId: string, enrolledAt: number): void;
  /** Forgets the device and everything that is stored for it. */
  end(): void;
  /** Ids of backups and restores that ended since the device was enrolled, but were not noted because of a crash. */
  unnoted(): readonly string[];
  /** Queues a result, unless there is one of the same job. Returns the number of older results that were dropped for it. */
  note(result: JobResult): number;
  /** Number of results that are in no report yet. */
  waiting(): number;
  /** Number of results that the service has not confirmed: those that wait, and those in the unanswered report. */
  unconfirmed(): number;
  /** Number of results that were dropped since the device was enrolled. */
  dropped(): number;
  /** The report that was sent, or will be, and is not answered yet. */
  unanswered(): NumberedReport | undefined;
  /** Makes the next report from the waiting results. To be called when there is no unanswered one. */
  make(write: (contents: ReportContents) => string): NumberedReport;
  /** The report was answered: its contents count as reported. */
  settle(report: NumberedReport, ordersTaken: readonly string[]): void;
  /** Gives the report up: its contents will not be reported. Returns the number of results in it. */
  giveUp(report: NumberedReport): number;
  /**
   * Continues with numbers above `seq`, which the service has from this device although its state was set back. The
   * report `again` gets such a number, too.
   */
  goOnAfter(seq: number, again?: NumberedReport): void;
  /** Returns false when the order was accepted before. */
  takeOrder(jti: string, expiresAt: number): boolean;
  /** Orders that were accepted but not reported yet. */
  untoldOrders(): readonly string[];
  /** Forgets data that is not needed any more. */
  prune(nowMs: number): void;
}

export function createPartnerReportStore(db: Database, settings: SettingStore): PartnerReportStore {
  const device = db.prepare<[], { readonly device_id: string; readonly dropped: number }>(
    'SELECT device_id, dropped FROM partner_device',
  );
  const addDevice = db.prepare<[string, number]>('INSERT INTO partner_device VALUES (?, ?, 0)');
  const goOnFrom = db.prepare<[number]>('UPDATE partner_device SET since = max(since, ?)');
  const drop = db.prepare<[number]>('UPDATE partner_device SET dropped = dropped + ?');
  const unnoted = db
    .prepare<[], string>(
      `SELECT jobs.id FROM jobs, partner_device WHERE finished_at > since AND type IN ('backup', 'restore')
         AND NOT EXISTS (SELECT 1 FROM partner_results WHERE job_id = jobs.id) ORDER BY finished_at, jobs.seq`,
    )
    .pluck();
  const add = db.prepare<[string, number, string | null]>(
    'INSERT OR IGNORE INTO partner_results (job_id, finished_at, body, sending) VALUES (?, ?, ?, 0)',
  );
  const waiting = db
    .prepare<[], number>('SELECT count(*) FROM partner_results WHERE body IS NOT NULL AND sending = 0')
    .pluck();
  const unconfirmed = db
    .prepare<[], number>('SELECT count(*) FROM partner_results WHERE body IS NOT NULL')
    .pluck();
  const dropOldest = db.prepare<[number]>(
    `UPDATE partner_results SET body = NULL WHERE id IN (
       SELECT id FROM partner_results WHERE body IS NOT NULL AND sending = 0 ORDER BY id LIMIT ?)`,
  );
  const oldest = db.prepare<[number], { readonly body: string; readonly finished_at: number }>(
    `SELECT body, finished_at FROM partner_results WHERE body IS NOT NULL AND sending = 0 ORDER BY id LIMIT ?`,
  );
  const send = db.prepare<[number]>(
    `UPDATE partner_results SET sending = 1 WHERE id IN (
       SELECT id FROM partner_results WHERE body IS NOT NULL AND sending = 0 ORDER BY id LIMIT ?)`,
  );
  const sent = db.prepare<[]>(
    'UPDATE partner_results SET body = NULL, sending = 0 WHERE sending = 1 AND body IS NOT NULL',
  );
  const report = db.prepare<[], NumberedReport>('SELECT seq, body FROM partner_report');
  const addReport = db.prepare<[number, string]>('INSERT INTO partner_report VALUES (?, ?)');
  const renumberReport = db.prepare<[number, string, number]>(
    'UPDATE partner_report SET seq = ?, body = ? WHERE seq = ?',
  );
  const removeReport = db.prepare<[number]>('DELETE FROM partner_report WHERE seq = ?');
  const addOrder = db.prepare<[string, number]>('INSERT OR IGNORE INTO partner_orders VALUES (?, ?, 0)');
  const tellOrder = db.prepare<[string]>('UPDATE partner_orders SET told = 1 WHERE jti = ?');
  const untold = db
    .prepare<[number], string>('SELECT jti FROM partner_orders WHERE told = 0 ORDER BY jti LIMIT ?')
    .pluck();
  const pruneOrders = db.prepare<[number]>('DELETE FROM partner_orders WHERE expires_at < ?');
  const pruneResults = db.prepare<[]>(
    'DELETE FROM partner_results WHERE body IS NULL AND job_id NOT IN (SELECT id FROM jobs)',
  );

  const counter = (): Counter | undefined => {
    const text = settings.get(COUNTER);
    return text === undefined ? undefined : (JSON.parse(text) as Counter);
  };
  const count = (next: Counter): void => settings.set(COUNTER, JSON.stringify(next));

  return {
    begin: db.transaction((deviceId: string, enrolledAt: number): void => {
      const known = counter();
      if (device.get()?.device_id === deviceId) {
        // The database may be an older copy that was put back, while the journal has the later counter.
        if (known?.device === deviceId) goOnFrom.run(known.until);
        return;
      }
      clear(db);
      // The database was lost but not the journal: jobs that were put into reports are not reported twice.
      const isKnown = known?.device === deviceId;
      addDevice.run(deviceId, isKnown ? known.until : enrolledAt);
      if (!isKnown) count({ device: deviceId, seq: 0, until: enrolledAt });
    }),
    end: db.transaction((): void => {
      clear(db);
      settings.set(COUNTER, undefined);
    }),
    unnoted: () => unnoted.all(),
    note: db.transaction(({ jobId, finishedAt, body }: JobResult): number => {
      if (add.run(jobId, finishedAt, body).changes === 0) return 0;
      const over = (waiting.get() ?? 0) - MOST_WAITING;
      if (over <= 0) return 0;
      dropOldest.run(over);
      drop.run(over);
      return over;
    }),
    waiting: () => waiting.get() ?? 0,
    unconfirmed: () => unconfirmed.get() ?? 0,
    dropped: () => device.get()?.dropped ?? 0,
    unanswered: () => report.get(),
    make: db.transaction((write: (contents: ReportContents) => string): NumberedReport => {
      const known = counter();
      const rows = oldest.all(MOST_RESULTS);
      const seq = (known?.seq ?? 0) + 1;
      const results = rows.map(({ body }) => body);
      const made = { seq, body: write({ seq, results, ordersTaken: untold.all(MOST_ORDERS) }) };
      addReport.run(seq, made.body);
      send.run(MOST_RESULTS);
      const until = Math.max(known?.until ?? 0, ...rows.map(({ finished_at }) => finished_at));
      count({ device: device.get()?.device_id ?? '', seq, until });
      return made;
    }),
    settle: db.transaction(({ seq }: NumberedReport, ordersTaken: readonly string[]): void => {
      // Another device may have been enrolled since.
      if (removeReport.run(seq).changes === 0) return;
      sent.run();
      for (const jti of ordersTaken) tellOrder.run(jti);
    }),
    giveUp: db.transaction(({ seq }: NumberedReport): number => {
      if (removeReport.run(seq).changes === 0) return 0;
      const { changes } = sent.run();
      drop.run(changes);
      return changes;
    }),
    goOnAfter: db.transaction((highest: number, again?: NumberedReport): void => {
      const known = counter();
      if (known === undefined) return;
      const seq = Math.max(known.seq, highest) + (again === undefined ? 0 : 1);
      count({ ...known, seq });
      if (again === undefined) return;
      const body = JSON.stringify({ ...(JSON.parse(again.body) as object), seq });
      renumberReport.run(seq, body, again.seq);
    }),
    takeOrder: (jti, expiresAt) => addOrder.run(jti, expiresAt).changes > 0,
    untoldOrders: () => untold.all(MOST_ORDERS),
    prune(nowMs) {
      pruneOrders.run(nowMs - ORDERS_KEPT_MS);
      pruneResults.run();
    },
  };
}

function clear(db: Database): void {
  for (const table of ['partner_device', 'partner_results', 'partner_report', 'partner_orders'])
    db.exec(`DELETE FROM ${table}`);
}
