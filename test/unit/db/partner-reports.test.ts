// Turn 1 of 8.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NO_BOOKKEEPING } from '../../../src/db/jobs.ts';
import { MOST_RESULTS, MOST_WAITING, type ReportContents } from '../../../src/db/partner-reports.ts';
import type { StateDatabase } from '../../../src/db/state-database.ts';
import { BACKUP_SPEC, jobOf } from '../../support/api-jobs.ts';
import { databaseSite, type DatabaseSite } from './open-database.ts';

let site: DatabaseSite;
let database: StateDatabase;

beforeEach(() => {
  site = databaseSite();
  database = site.reopen();
  database.partnerReports.begin('dev_1', 1_000);
});
afterEach(() => {
  site.remove();
});

const write = ({ seq, results, ordersTaken }: ReportContents): string =>
  JSON.stringify({ seq, results: results.map((text) => JSON.parse(text)), ordersTaken });

function note(jobId: string, finishedAt = 2_000): number {
  return database.partnerReports.note({ jobId, finishedAt, body: JSON.stringify({ jobId }) });
}

function namesIn(body: string): readonly string[] {
  const { results } = JSON.parse(body) as { readonly results: readonly { readonly jobId: string }[] };
  return results.map(({ jobId }) => jobId);
}

describe('reports to a partner', () => {
  it('hold each job once, oldest first, under numbers without gaps', () => {
    for (const id of ['a', 'b', 'a']) note(id);
    const reports = database.partnerReports;
    const first = reports.make(write);
    expect([first.seq, namesIn(first.body)]).toEqual([1, ['a', 'b']]);
    note('c');
    reports.settle(first, []);
    note('a');
    const second = reports.make(write);
    expect([second.seq, namesIn(second.body)]).toEqual([2, ['c']]);
  });

  it('stay as they are until they are answered, across a restart', () => {
    note('a');
    const made = database.partnerReports.make(write);
    note('b');
    database = site.reopen();
    database.partnerReports.begin('dev_1', 1_000);
    expect(database.partnerReports.unanswered()).toEqual(made);
    expect(database.partnerReports.waiting()).toBe(1);
    // What is in a report that the service has not answered is not told yet.
    expect(database.partnerReports.unconfirmed()).toBe(2);
    database.partnerReports.settle(made, []);
    expect(database.partnerReports.unconfirmed()).toBe(1);
    expect(database.partnerReports.unanswered()).toBeUndefined();
    expect(namesIn(database.partnerReports.make(write).body)).toEqual(['b']);
  });

  it('take a thousand results at most', () => {
    for (let index = 0; index <= MOST_RESULTS; index += 1) note(`job ${index}`);
    const first = database.partnerReports.make(write);
    expect(namesIn(first.body)).toHaveLength(MOST_RESULTS);
    database.partnerReports.settle(first, []);
    expect(namesIn(database.partnerReports.make(write).body)).toEqual([`job ${MOST_RESULTS}`]);
  });

  it('give up the oldest results when too many wait, and count them', () => {
    const dropped = database.transaction(() => {
      let sum = 0;
      for (let index = 0; index < MOST_WAITING + 5; index += 1) sum += note(`job ${index}`);
      return sum;
    });
    expect([dropped, database.partnerReports.dropped()]).toEqual([5, 5]);
    expect(database.partnerReports.waiting()).toBe(MOST_WAITING);
    expect(namesIn(database.partnerReports.make(write).body)[0]).toBe('job 5');
    expect(note('job 0')).toBe(0);
    expect(database.partnerReports.waiting()).toBe(MOST_WAITING - MOST_RESULTS);
  });

  it('that are given up are counted, and what waits behind them goes on', () => {
    note('a');
    const refused = database.partnerReports.make(write);
    note('b');
    expect(database.partnerReports.giveUp(refused)).toBe(1);
    expect(database.partnerReports.dropped()).toBe(1);
    expect(namesIn(database.partnerReports.make(write).body)).toEqual(['b']);
  });

  it('find the jobs whose end was written just before a crash', () => {
    const ended = (id: string, finishedAt: number): void =>
      database.jobs.insert({
        job: { ...jobOf(BACKUP_SPEC), id, status: 'completed', finished_at: finishedAt },
        bookkeeping: NO_BOOKKEEPING,
      });
    ended('before', 900);
    ended('noted', 2_000);
    ended('missed', 3_000);
    note('noted');
    expect(database.partnerReports.unnoted()).toEqual(['missed']);
  });

  it('never use a number twice, nor tell a job twice, when the database is lost and the journal is not', () => {
    note('a', 2_000);
    database.partnerReports.settle(database.partnerReports.make(write), []);
    const kept = [...database.durable()].filter(({ kind }) => kind === 'setting');
    const other = databaseSite();
    try {
      database = other.reopen();
      for (const record of kept) if (record.kind === 'setting') database.restore(record);
      for (const [id, finishedAt] of [
        ['a', 2_000],
        ['b', 2_500],
      ] as const) {
        database.jobs.insert({
          job: { ...jobOf(BACKUP_SPEC), id, status: 'completed', finished_at: finishedAt },
          bookkeeping: NO_BOOKKEEPING,
        });
      }
      database.partnerReports.begin('dev_1', 1_000);
      expect(database.partnerReports.unnoted()).toEqual(['b']);
      expect(database.partnerReports.make(write).seq).toBe(2);
    } finally {
      other.remove();
    }
  });

  it('begin anew with another device', () => {
    note('a');
    database.partnerReports.make(write);
    database.partnerReports.takeOrder('ord_1', 5_000);
    database.partnerReports.begin('dev_2', 9_000);
    expect(database.partnerReports.unanswered()).toBeUndefined();
    expect(database.partnerReports.untoldOrders()).toEqual([]);
    expect(database.partnerReports.make(write)).toMatchObject({ seq: 1 });
  });
});

describe('orders of a partner', () => {
  it('are taken once, also after a restart, and told until that has arrived', () => {
    expect(database.partnerReports.takeOrder('ord_1', 5_000)).toBe(true);
    database = site.reopen();
    expect(database.partnerReports.takeOrder('ord_1', 5_000)).toBe(false);
    expect(database.partnerReports.untoldOrders()).toEqual(['ord_1']);
    const report = database.partnerReports.make(write);
    expect(JSON.parse(report.body)).toMatchObject({ ordersTaken: ['ord_1'] });
    database.partnerReports.settle(report, ['ord_1']);
    expect(database.partnerReports.untoldOrders()).toEqual([]);
    expect(database.partnerReports.takeOrder('ord_1', 5_000)).toBe(false);
  });

  it('are forgotten long after their time', () => {
    database.partnerReports.takeOrder('ord_1', 5_000);
    database.partnerReports.prune(5_000 + 86_400_000);
    expect(database.partnerReports.takeOrder('ord_1', 5_000)).toBe(false);
    database.partnerReports.prune(5_001 + 7 * 86_400_000);
    expect(database.partnerReports.takeOrder('ord_1', 5_000)).toBe(true);
  });
});
