import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EVENTS_COUNT, EVENTS_MS } from '../../../src/db/events.ts';
import { IDEMPOTENCY_MS } from '../../../src/db/idempotency.ts';
import { NO_BOOKKEEPING, type JobRecord } from '../../../src/db/jobs.ts';
import type { Job } from '../../../src/jobs/job.ts';
import { BACKUP_SPEC, jobOf } from '../../support/api-jobs.ts';
import { databaseSite, type DatabaseSite } from './open-database.ts';

let site: DatabaseSite;

beforeEach(() => {
  site = databaseSite();
});
afterEach(() => {
  site.remove();
});

describe('credentials', () => {
  const added = { apiKey: 'hfk_1', name: 'laptop', secretHash: Buffer.from('hash'), createdAt: 5 };

  it('are kept, with when they were used', () => {
    site.reopen().credentials.add(added);
    const { credentials } = site.reopen();
    credentials.used('hfk_1', 9);
    const kept = { ...added, generation: 1, lastUsedAt: 9, revokedAt: null };
    expect(credentials.find('hfk_1')).toEqual(kept);
    expect(credentials.list()).toEqual([kept]);
    expect(credentials.find('hfk_2')).toBeUndefined();
  });

  it('begin a new generation with each new secret, until they are revoked', () => {
    const { credentials } = site.reopen();
    credentials.add(added);
    expect(credentials.rotate('hfk_1', Buffer.from('new'))).toMatchObject({ generation: 2 });
    expect(credentials.revoke('hfk_1', 20)).toBe(true);
    expect(credentials.revoke('hfk_1', 30)).toBe(false);
    expect(credentials.rotate('hfk_1', Buffer.from('newer'))).toBeUndefined();
    expect(credentials.find('hfk_1')).toMatchObject({ revokedAt: 20, secretHash: Buffer.from('new') });
  });

  it('do not take the place of one another', () => {
    const { credentials } = site.reopen();
    credentials.add(added);
    expect(() => credentials.add({ ...added, name: 'other' })).toThrow('UNIQUE');
    expect(credentials.find('hfk_1')).toMatchObject({ name: 'laptop' });
  });

  it('are not changed when the change cannot be told', () => {
    const database = site.reopen();
    database.credentials.add(added);
    database.onDurable(() => {
      throw new Error('the journal is full');
    });
    expect(() => database.credentials.revoke('hfk_1', 20)).toThrow('the journal is full');
    expect(database.credentials.find('hfk_1')).toMatchObject({ revokedAt: null });
  });

  it('stay revoked when an older record of them comes back', () => {
    const database = site.reopen();
    database.credentials.add(added);
    const [before] = [...database.durable()];
    database.credentials.revoke('hfk_1', 20);
    if (before?.kind !== 'credential') throw new Error('no record of the credential');
    database.restore(before);
    expect(database.credentials.find('hfk_1')).toMatchObject({ revokedAt: 20 });
  });
});

describe('jobs that are brought back', () => {
  it('take their place among the others by when they were made', () => {
    const { jobs } = site.reopen();
    const insert = (id: string, created_at: number): void =>
      jobs.insert({ job: jobOf(BACKUP_SPEC, { id, created_at }), bookkeeping: NO_BOOKKEEPING });
    for (const [id, at] of [
      ['c', 30],
      ['d', 40],
      ['a', 10],
      ['b', 20],
    ] as const)
      insert(id, at);
    jobs.addProblem('a', { path: '/x', code: 'EACCES', message: 'no' });
    jobs.reorder();
    insert('e', 50);
    expect([...jobs.all()].map(({ job }) => job.id)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(jobs.page({ limit: 3, before: 'e' }).map(({ id }) => id)).toEqual(['d', 'c', 'b']);
    expect(jobs.get('a')?.problems).toHaveLength(1);
  });
});

describe('jobs of a pass', () => {
  const add = (id: string, pass: string | null): JobRecord => ({
    job: jobOf(BACKUP_SPEC, { id }),
    bookkeeping: { ...NO_BOOKKEEPING, pass },
  });

  it('are found by it, and by another one once they belong to that', () => {
    const { jobs } = site.reopen();
    for (const [id, pass] of [
      ['a', 'p'],
      ['b', 'p'],
      ['c', null],
    ] as const)
      jobs.insert(add(id, pass));
    const idsOf = (pass: string): readonly string[] => jobs.ofPass(pass).map(({ job }) => job.id);
    expect(idsOf('p')).toEqual(['a', 'b']);
    jobs.update(add('a', 'q'));
    expect([idsOf('p'), idsOf('q'), idsOf('r')]).toEqual([['b'], ['a'], []]);
    expect(site.reopen().jobs.ofPass('q')[0]?.bookkeeping.pass).toBe('q');
  });

  it('may have been noted before there were passes', () => {
    const { jobs } = site.reopen();
    const { job, bookkeeping } = add('old', null);
    const { pass: _pass, readsItself: _readsItself, ...early } = bookkeeping;
    jobs.insert({ job, bookkeeping: early as typeof bookkeeping });
    expect(jobs.record('old')?.bookkeeping).toEqual(NO_BOOKKEEPING);
  });
});

describe('idempotency keys', () => {
  const key = { key: 'k', route: 'POST /backup', caller: 'hfk_1' };
  const response = { status: 202, headers: { location: '/v1/backup/bkp_1' }, body: '{"success":true}' };

  it('give the answer of the first request again for a day', () => {
    const { idempotency } = site.reopen();
    expect(idempotency.begin(key, 'body', 0)).toEqual({ kind: 'new' });
    expect(idempotency.begin(key, 'body', 1)).toEqual({ kind: 'running' });
    expect(idempotency.begin(key, 'another', 1)).toEqual({ kind: 'reused' });
    idempotency.finish(key, response);
    expect(idempotency.begin(key, 'body', IDEMPOTENCY_MS - 1)).toEqual({ kind: 'done', response });
    expect(idempotency.begin(key, 'body', IDEMPOTENCY_MS)).toEqual({ kind: 'new' });
  });

  it('belong to one caller and one route', () => {
    const { idempotency } = site.reopen();
    idempotency.begin(key, 'body', 0);
    expect(idempotency.begin({ ...key, caller: 'hfk_2' }, 'body', 0)).toEqual({ kind: 'new' });
    expect(idempotency.begin({ ...key, route: 'POST /restore' }, 'body', 0)).toEqual({ kind: 'new' });
  });

  it('are free again when the request came to nothing, or the agent ended before it was answered', () => {
    const { idempotency } = site.reopen();
    idempotency.begin(key, 'body', 0);
    idempotency.abandon(key);
    expect(idempotency.begin(key, 'other', 0)).toEqual({ kind: 'new' });
    expect(site.reopen().idempotency.begin(key, 'third', 0)).toEqual({ kind: 'new' });
  });

  it('outlive a restart once they are answered, and are forgotten after a day', () => {
    const first = site.reopen().idempotency;
    first.begin(key, 'body', 0);
    first.finish(key, response);
    const { idempotency } = site.reopen();
    expect(idempotency.begin(key, 'body', 10)).toEqual({ kind: 'done', response });
    idempotency.prune(IDEMPOTENCY_MS);
    expect(idempotency.begin(key, 'other', 10)).toEqual({ kind: 'new' });
  });
});

describe('events', () => {
  const status = { kind: 'status' as const, jobId: null, data: { paused: true } };

  it('have ids that rise across restarts', () => {
    const first = site.reopen().events.append({ ...status, at: 1 });
    const { events } = site.reopen();
    const second = events.append({ ...status, at: 2 });
    expect(second.id).toBeGreaterThan(first.id);
    expect(events.after(first.id, undefined, 10)).toEqual([second]);
    expect(events.latestId()).toBe(second.id);
  });

  it('go on above a floor, and never below what they had reached', () => {
    const { events } = site.reopen();
    events.startAbove(1_000);
    expect(events.append({ ...status, at: 1 }).id).toBe(1_001);
    events.startAbove(5);
    expect(events.append({ ...status, at: 1 }).id).toBe(1_002);
  });

  it('of progress make room for the next one of the same job', () => {
    const { events } = site.reopen();
    const update = { kind: 'job.updated' as const, at: 1, passing: true };
    events.append({ ...update, jobId: 'bkp_1', data: { percent: 1 } });
    events.append({ ...update, jobId: 'bkp_2', data: { percent: 5 } });
    events.append({ ...update, jobId: 'bkp_1', data: { percent: 2 } });
    expect(events.after(0, undefined, 10).map(({ data }) => data['percent'])).toEqual([5, 2]);
    expect(events.after(0, 'bkp_1', 10)).toHaveLength(1);
  });

  it('are kept for a week', () => {
    const { events } = site.reopen();
    events.append({ ...status, at: 1 });
    events.append({ ...status, at: EVENTS_MS });
    events.prune(EVENTS_MS + 2);
    expect(events.after(0, undefined, 10).map(({ at }) => at)).toEqual([EVENTS_MS]);
    // Not the last one, so that its id does not come again.
    expect(events.append({ ...status, at: 3 }).id).toBe(3);
  });

  it('are kept up to a number', () => {
    const database = site.reopen();
    database.transaction(() => {
      for (let count = 0; count < EVENTS_COUNT + 50; count += 1) database.events.append({ ...status, at: 1 });
    });
    database.events.prune(1);
    expect(database.events.after(0, undefined, 1)[0]?.id).toBe(51);
  });
});

describe('the smaller stores', () => {
  it('keep when schedules ran', () => {
    site.reopen().schedules.putAll([['/home daily', { lastRun: null, nextRun: 7 }]]);
    const { schedules } = site.reopen();
    expect(schedules.get('/home daily')).toEqual({ lastRun: null, nextRun: 7 });
    schedules.putAll([['/home daily', { lastRun: 7, nextRun: 9 }]]);
    expect([...schedules.all()]).toEqual([['/home daily', { lastRun: 7, nextRun: 9 }]]);
    schedules.remove('/home daily');
    expect(schedules.get('/home daily')).toBeUndefined();
  });

  it('keep settings and repositories, and tell of what changed', () => {
    const database = site.reopen();
    const told: unknown[] = [];
    database.onDurable((record) => told.push(record));
    database.settings.set('pause', 'x');
    database.settings.set('pause', 'x');
    database.settings.set('pause', undefined);
    database.repositories.set({ url: 'file:///mnt', repositoryId: 'r1', since: 4 });
    expect(told).toEqual([
      { kind: 'setting', key: 'pause', value: 'x' },
      { kind: 'setting', key: 'pause', value: null },
      { kind: 'repository', url: 'file:///mnt', repositoryId: 'r1', since: 4 },
    ]);
    const { settings, repositories } = site.reopen();
    expect(settings.get('pause')).toBeUndefined();
    expect(repositories.get('file:///mnt')).toEqual({ url: 'file:///mnt', repositoryId: 'r1', since: 4 });
    expect(repositories.get('file:///other')).toBeUndefined();
  });
});

describe('answers that are remembered', () => {
  const record = (id: string, changes: Partial<Job> = {}): JobRecord => ({
    job: { ...jobOf(BACKUP_SPEC, changes), id },
    bookkeeping: NO_BOOKKEEPING,
  });

  it('about jobs are kept for as many sources as settings may have, each at its destination', () => {
    const { jobs } = site.reopen();
    jobs.insert({ job: jobOf(BACKUP_SPEC, { id: 'bkp_1' }), bookkeeping: NO_BOOKKEEPING });
    const first = jobs.newest({ types: ['backup'], source: BACKUP_SPEC.source });
    expect(first?.id).toBe('bkp_1');
    for (let count = 0; count < 1_000; count += 1)
      for (const status of ['completed', 'failed', 'queued'] as const)
        jobs.newest({ types: ['backup'], source: `/s/${count}`, status });
    expect(jobs.newest({ types: ['backup'], source: BACKUP_SPEC.source })).toBe(first);
  });

  it('about jobs are right after every change, and after one that was undone', () => {
    const database = site.reopen();
    const { jobs } = database;
    const look = (): readonly unknown[] => [
      jobs.count('queued'),
      jobs.count('completed'),
      jobs.newest({ types: ['backup'] })?.id,
      jobs.newest({ status: 'completed' })?.size_bytes,
    ];
    expect([look(), look()]).toEqual([
      [0, 0, undefined, undefined],
      [0, 0, undefined, undefined],
    ]);
    jobs.insert(record('bkp_1'));
    expect([look(), look()]).toEqual([
      [1, 0, 'bkp_1', undefined],
      [1, 0, 'bkp_1', undefined],
    ]);
    expect(() =>
      database.transaction(() => {
        jobs.insert(record('bkp_2'));
        jobs.update(record('bkp_1', { status: 'completed', size_bytes: 7, finished_at: 5 }));
        expect(look()).toEqual([1, 1, 'bkp_2', 7]);
        throw new Error('undone');
      }),
    ).toThrow('undone');
    expect(look()).toEqual([1, 0, 'bkp_1', undefined]);
    jobs.update(record('bkp_1', { status: 'completed', size_bytes: 8, finished_at: 5 }));
    expect(look()).toEqual([0, 1, 'bkp_1', 8]);
    jobs.insert(record('bkp_3', { status: 'completed', size_bytes: 9, finished_at: 6 }));
    jobs.prune(500 * 86_400_000);
    expect(look()).toEqual([0, 1, 'bkp_3', 9]);
  });

  it('about settings and repositories are right after a change that was undone', () => {
    const database = site.reopen();
    const { repositories, settings } = database;
    const known = { url: 'file:///a', repositoryId: 'r', since: 5 };
    const look = (): readonly unknown[] => [settings.get('a'), repositories.get('file:///a')];
    expect(look()).toEqual([undefined, undefined]);
    expect(() =>
      database.transaction(() => {
        settings.set('a', '1');
        repositories.set(known);
        expect(look()).toEqual(['1', known]);
        throw new Error('undone');
      }),
    ).toThrow('undone');
    expect(look()).toEqual([undefined, undefined]);
    settings.set('a', '2');
    repositories.set(known);
    expect(look()).toEqual(['2', known]);
    settings.set('a', undefined);
    expect(look()).toEqual([undefined, known]);
  });
});
