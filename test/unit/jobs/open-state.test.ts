import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { moduleUrl, runScript, startScript } from '../../support/run-script.ts';
import { StateError } from '../../../src/base/errors.ts';
import type { DurableRecord } from '../../../src/db/durable.ts';
import { createJobBook } from '../../../src/jobs/job-book.ts';
import type { Job } from '../../../src/jobs/job.ts';
import { openJournal } from '../../../src/jobs/journal.ts';
import { openAgentState, type AgentState } from '../../../src/jobs/open-state.ts';
import { settle } from '../../support/manual-clock.ts';
import { backupOf, runnerSite, type RunnerSite } from './runner-site.ts';

let site: RunnerSite;

beforeEach(async () => {
  site = await runnerSite();
});
afterEach(async () => {
  await site.remove();
});

const pathOf = (...names: string[]): string => join(site.directory, ...names);
const journalFiles = (): readonly string[] => readdirSync(pathOf('journal')).filter((name) => name !== 'key');
const allJobs = (): readonly Job[] => [...site.state.database.jobs.all()].map(({ job }) => job);

/** Jobs in every state there is. */
async function history(): Promise<void> {
  const { runner, engines } = site;
  const [done, failed, canceled] = ['/done', '/failed', '/canceled'].map(
    (source, index) => runner.submit(backupOf(source, `${index}`), 'api').id,
  );
  await settle();
  engines.of(done ?? '').progress(7);
  engines.of(done ?? '').complete();
  engines.of(failed ?? '').fail('WRONG_PASSPHRASE');
  runner.cancel(canceled ?? '');
  await settle();
  runner.submit(backupOf('/running', '3'), 'api');
  runner.submit(backupOf('/waiting', '3'), 'schedule');
  await settle();
  const { credentials, repositories } = site.state.database;
  credentials.add({ apiKey: 'hfk_1', name: 'laptop', secretHash: Buffer.from('hash'), createdAt: 5 });
  credentials.add({ apiKey: 'hfk_2', name: 'gone', secretHash: Buffer.from('hash'), createdAt: 6 });
  credentials.revoke('hfk_2', 7);
  repositories.set({ url: 'file:///mnt', repositoryId: 'r1', since: 8 });
}

describe('a state database that is lost', () => {
  it.each([
    ['damaged', (path: string) => writeFileSync(path, 'x'.repeat(9_999))],
    ['gone', (path: string) => rmSync(path)],
  ])('because it is %s is rebuilt from the journal with every job', async (how, damage) => {
    await history();
    await site.runner.pause(null, false);
    const before = allJobs();
    const lastEvent = site.state.database.events.latestId();
    await site.crash(() => damage(pathOf('state.db')));

    expect(before.map(({ status }) => status)).toEqual([
      'completed',
      'failed',
      'canceled',
      'running',
      'queued',
    ]);
    const after = allJobs();
    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    expect(after.slice(0, 3)).toEqual(before.slice(0, 3));
    expect(after[3]).toMatchObject({ status: 'queued', attempt: 2 });
    // What it waits for is found out anew.
    expect(after[4]).toEqual({
      ...before[4],
      waiting_for: 'Paused until you resume it.',
      waits: { code: 'paused', params: { until: null } },
    });

    const { credentials, repositories, events } = site.state.database;
    expect(credentials.find('hfk_1')).toMatchObject({ name: 'laptop', secretHash: Buffer.from('hash') });
    expect(credentials.find('hfk_2')).toMatchObject({ revokedAt: 7 });
    expect(repositories.get('file:///mnt')).toEqual({ url: 'file:///mnt', repositoryId: 'r1', since: 8 });
    expect(site.runner.pausedUntil).toEqual({ until: null });
    expect(events.after(lastEvent, undefined, 1)[0]?.id).toBeGreaterThan(lastEvent);
    expect(site.state.findings.join('\n')).toContain('5 jobs were recovered from the journal');
    if (how === 'damaged') expect(site.state.findings.join('\n')).toContain('state.db.damaged-');
    expect(readdirSync(site.directory).some((name) => name.includes('damaged'))).toBe(how === 'damaged');
  });

  it('catches up when an older copy of it was put back', async () => {
    const { id } = site.runner.submit(backupOf('/a'), 'api');
    await settle();
    await site.crash(() => copyFileSync(pathOf('state.db'), pathOf('older.db')));
    await site.pass(60_000);
    site.engines.of(id).complete();
    await settle();
    const later = site.runner.submit(backupOf('/b'), 'api');
    await site.crash(() => renameSync(pathOf('older.db'), pathOf('state.db')));
    expect(site.job(id)).toMatchObject({ status: 'completed', attempt: 2 });
    expect(site.job(later.id)).toMatchObject({ status: 'running' });
  });

  it('tells a partner nothing again when an older copy of it was put back', async () => {
    const begin = (): void => site.state.database.partnerReports.begin('dev_1', 1);
    const backUp = async (source: string): Promise<Job> => {
      const { id } = site.runner.submit(backupOf(source), 'api');
      await settle();
      await site.pass(1_000);
      site.engines.of(id).complete();
      await settle();
      return site.job(id);
    };
    begin();
    await site.crash(() => copyFileSync(pathOf('state.db'), pathOf('older.db')));
    begin();
    const told = await backUp('/told');
    const { partnerReports } = site.state.database;
    partnerReports.note({ jobId: told.id, finishedAt: told.finished_at ?? 0, body: '{}' });
    partnerReports.settle(
      partnerReports.make(() => '{}'),
      [],
    );
    const later = await backUp('/later');
    await site.crash(() => renameSync(pathOf('older.db'), pathOf('state.db')));
    begin();
    expect(site.state.database.partnerReports.unnoted()).toEqual([later.id]);
  });
});

describe('jobs that were forgotten because they are old', () => {
  const DAY = 86_400_000;
  const backUp = async (source: string): Promise<Job> => {
    const { id } = site.runner.submit(backupOf(source), 'api');
    await settle();
    site.engines.of(id).complete();
    await settle();
    return site.job(id);
  };
  const newest = (): Job | undefined =>
    site.state.database.jobs.newest({ types: ['backup'], status: 'completed', source: '/a' });

  it('do not come back from the journal as the newest ones', async () => {
    const old = await backUp('/a');
    await site.pass(401 * DAY);
    const { id } = await backUp('/a');
    site.state.tidy();
    expect(site.state.database.jobs.record(old.id)).toBeUndefined();
    await site.restart();
    expect(newest()?.id).toBe(id);
    expect(allJobs().map((job) => job.id)).toEqual([id]);
    // Nothing was lost, so nobody is told that something was.
    expect(site.state.findings).toEqual([]);
  });
});

describe('a journal that lost lines, beside a database that is whole', () => {
  /** Of the last file: changes it as `change` says. */
  function spoil(change: (text: string) => string): void {
    const path = pathOf('journal', journalFiles().at(-1) ?? '');
    writeFileSync(path, change(readFileSync(path, 'latin1')));
  }
  /** One character within the last line. */
  const lastLine = (text: string): string =>
    `${text.slice(0, -20)}${text.at(-20) === 'A' ? 'B' : 'A'}${text.slice(-19)}`;
  const set = (key: string, value: string | undefined): void => site.state.database.settings.set(key, value);
  const get = (key: string): string | undefined => site.state.database.settings.get(key);

  it.each(['alarms', 'empty sources', 'pause'])(
    'does not say again what it said of `%s` before the line that is lost',
    async (key) => {
      const value = '{"until":null}';
      set(key, 'null');
      set(key, undefined);
      set(key, value);
      await site.crash(() => spoil(lastLine));
      expect(get(key)).toBe(value);
      expect(site.state.findings).toEqual(['1 line of the journal is damaged.']);

      // It was written anew from the database.
      await site.crash(() => rmSync(pathOf('state.db')));
      expect(get(key)).toBe(value);
      expect(site.state.findings).toEqual([]);
    },
  );

  it('does not bring back the repository that was at a place before', async () => {
    const { repositories } = site.state.database;
    for (const repositoryId of ['r1', 'r2']) repositories.set({ url: 'file:///mnt', repositoryId, since: 1 });
    await site.crash(() => spoil(lastLine));
    expect(site.state.database.repositories.get('file:///mnt')?.repositoryId).toBe('r2');
    await site.crash(() => rmSync(pathOf('state.db')));
    expect(site.state.database.repositories.get('file:///mnt')?.repositoryId).toBe('r2');
  });

  it('brings back no setting either that was removed by the line that is lost', async () => {
    set('alarms', '[]');
    set('alarms', undefined);
    await site.crash(() => spoil(lastLine));
    expect(get('alarms')).toBeUndefined();
  });

  it('is as usual after a loss of power: half a line at its end, of what never came to be', async () => {
    set('alarms', '[]');
    await site.crash(() => spoil((text) => text + (text.split('\n')[0] ?? '').slice(0, 40)));
    expect(get('alarms')).toBe('[]');
    expect(site.state.journal.damagedLines).toBe(1);
    expect(site.state.findings).toEqual([]);
  });

  it('is said to be damaged where the half line had told what the database has', async () => {
    set('alarms', '[]');
    set('alarms', undefined);
    set('alarms', '[1]');
    await site.crash(() => spoil((text) => text.slice(0, -20)));
    expect(get('alarms')).toBe('[1]');
    expect(site.state.findings).toEqual(['1 line of the journal is damaged.']);
  });

  it('still counts where the database is an older copy', async () => {
    set('alarms', '[1]');
    await site.crash(() => copyFileSync(pathOf('state.db'), pathOf('older.db')));
    set('alarms', '[2]');
    const { id } = site.runner.submit(backupOf('/a'), 'api');
    set('other', 'x');
    await site.crash(() => {
      spoil(lastLine);
      renameSync(pathOf('older.db'), pathOf('state.db'));
    });
    expect(site.job(id)).toBeDefined();
    expect(get('alarms')).toBe('[2]');
  });

  it('does not count for a job in it that the database has forgotten as old', async () => {
    const { id } = site.runner.submit(backupOf('/a'), 'api');
    await settle();
    site.engines.of(id).complete();
    await settle();
    await site.pass(401 * 86_400_000);
    const next = site.runner.submit(backupOf('/a'), 'api');
    await settle();
    site.engines.of(next.id).complete();
    await settle();
    site.state.tidy();
    expect(site.state.database.jobs.record(id)).toBeUndefined();
    set('alarms', '[]');
    set('alarms', undefined);
    set('alarms', '[1]');
    await site.crash(() => spoil(lastLine));
    expect(get('alarms')).toBe('[1]');
    expect(site.state.findings).toEqual(['1 line of the journal is damaged.']);
  });
});

describe('a job that the database could not take', () => {
  /** The line is written, `then` what else, and then the commit fails. */
  function failCommits(then: (append: (record: DurableRecord) => void) => void): void {
    const { append } = site.state.journal;
    const queued = site.state.database.jobs.count('queued');
    Object.assign(site.state.journal, {
      append: (record: DurableRecord) => {
        append(record);
        then(append);
        throw new StateError('WRITE_ERROR', 'No room', {
          cause: Object.assign(new Error('full'), { code: 'ENOSPC' }),
        });
      },
    });
    expect(() => site.runner.submit(backupOf('/a'), 'api')).toThrow(
      expect.objectContaining({ code: 'INSUFFICIENT_STORAGE' }),
    );
    expect(site.state.database.jobs.count('queued')).toBe(queued);
  }

  it('is refused, and not found in the journal later', async () => {
    site.state.database.settings.set('before', '1');
    failCommits(() => {});
    site.state.database.settings.set('after', '2');
    await site.crash(() => rmSync(pathOf('state.db')));
    expect(allJobs()).toEqual([]);
    expect(site.state.journal.damagedLines).toBe(0);
    expect(Object.fromEntries(site.state.database.settings.all())).toMatchObject({ before: '1', after: '2' });
  });

  it('is found canceled there when something else was written behind it', async () => {
    failCommits((append) => append({ kind: 'setting', key: 'behind', value: '1' }));
    await site.crash(() => rmSync(pathOf('state.db')));
    expect(allJobs().map(({ status }) => status)).toEqual(['canceled']);
  });

  it('is taken out of a journal that was just written anew, too', async () => {
    await history();
    site.state.rewriteJournal();
    const before = allJobs();
    failCommits(() => {});
    site.state.database.settings.set('after', '2');
    await site.crash(() => rmSync(pathOf('state.db')));
    expect(allJobs().map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    expect(site.state.journal.damagedLines).toBe(0);
    expect(site.state.database.settings.get('after')).toBe('2');
  });
});

describe('the journal', () => {
  it('is for its owner alone, and says nothing to whoever has not the key', async () => {
    await history();
    for (const name of readdirSync(pathOf('journal'))) {
      expect(statSync(pathOf('journal', name)).mode & 0o777).toBe(0o600);
    }
    const text = journalFiles().map((name) => readFileSync(pathOf('journal', name), 'latin1'));
    expect(text.join('')).toMatch(/^[A-Za-z0-9+/=\n]{1000,}$/);
  });

  it('is written anew when it is gone', async () => {
    await history();
    await site.runner.pause(null, true);
    await site.crash(() => rmSync(pathOf('journal'), { recursive: true }));
    const before = allJobs();
    await site.crash(() => rmSync(pathOf('state.db')));
    expect(allJobs()).toEqual(before);
  });

  it('loses a half line, a changed one and one from elsewhere, and nothing else', async () => {
    await history();
    await site.runner.pause(null, false);
    const first = journalFiles()[0] ?? '';
    const lines = readFileSync(pathOf('journal', first), 'latin1').split('\n');
    await site.crash(() => {
      appendFileSync(pathOf('journal', first), (lines[0] ?? '').slice(0, 40));
      const changed = (lines[0] ?? '').replace(/^..../, 'AAAA');
      writeFileSync(pathOf('journal', '99999998.jnl'), `${changed}\n${lines[1]}\n`, { mode: 0o600 });
      rmSync(pathOf('state.db'));
    });
    expect(allJobs()).toHaveLength(5);
    expect(site.state.journal.damagedLines).toBe(3);
    // Kept for whoever looks into it; written anew without it.
    expect(readdirSync(pathOf('journal'))).toContain('99999998.jnl.damaged');
    const before = allJobs();
    await site.crash(() => rmSync(pathOf('state.db')));
    expect(site.state.journal.damagedLines).toBe(0);
    expect(allJobs()).toEqual(before);
  });

  it('goes on with a new key when the key is damaged, and is refused when others can read it', async () => {
    await history();
    await site.crash(() => writeFileSync(pathOf('journal', 'key'), 'nonsense'));
    expect(allJobs()).toHaveLength(5);
    await site.crash(() => rmSync(pathOf('state.db')));
    expect(allJobs()).toHaveLength(5);
    chmodSync(pathOf('journal', 'key'), 0o644);
    await expect(site.crash()).rejects.toMatchObject({ code: 'STATE_NOT_PRIVATE' });
    chmodSync(pathOf('journal', 'key'), 0o600);
    await site.crash();
  });

  it('and the database are whole after the agent was killed in the middle of its work', async () => {
    const directory = pathOf('killed');
    const script = `
      import { systemClock } from '${moduleUrl('src/base/clock.ts')}';
      import { openAgentState } from '${moduleUrl('src/jobs/open-state.ts')}';
      import { createJobBook } from '${moduleUrl('src/jobs/job-book.ts')}';
      const book = createJobBook(openAgentState(process.argv[2], systemClock), systemClock);
      const spec = ${JSON.stringify(backupOf('/a'))};
      for (;;) {
        const { id } = book.add(spec, 'api').job;
        book.show(id, (record) => record);
        book.change(id, ({ job, bookkeeping }) => ({ job: { ...job, status: 'canceled' }, bookkeeping }));
        process.stdout.write(id + '\\n');
      }`;
    const told: string[] = [];
    for (let kill = 0; kill < 3; kill += 1) {
      const child = startScript(script, { args: [directory] });
      let text = '';
      child.stdout?.setEncoding('utf8').on('data', (more: string) => {
        text += more;
        if (text.length > 500 + kill * 33) child.kill('SIGKILL');
      });
      await once(child, 'close');
      told.push(...text.split('\n').filter((line) => line.length === 30));
      if (kill === 1) rmSync(join(directory, 'state.db'));
      const state = openAgentState(directory, site.clock);
      expect(state.database.setAside).toBeNull();
      for (const id of told) expect(state.database.jobs.record(id)?.job.status).toBe('canceled');
      expect(state.database.jobs.count('canceled')).toBeGreaterThanOrEqual(told.length);
      state.close();
    }
    expect(told.length).toBeGreaterThan(45);
  });

  it('loses nothing but the line that the disk had no room for', async () => {
    const directory = pathOf('full');
    const script = `
      import { execFileSync } from 'node:child_process';
      import { openJournal } from '${moduleUrl('src/jobs/journal.ts')}';
      const limit = (bytes) => execFileSync('prlimit', ['--pid', process.pid, '--fsize=' + bytes + ':']);
      const journal = openJournal(process.argv[2]);
      const append = (key) => journal.append({ kind: 'setting', key, value: 'x'.repeat(100) });
      append('before');
      limit(300);
      try {
        append('during');
      } catch (error) {
        process.stdout.write(error.code);
      }
      limit('unlimited');
      append('after');`;
    expect(await runScript(script, { args: [directory] })).toBe('WRITE_ERROR');
    const journal = openJournal(directory);
    expect(journal.found.map((record) => record.kind === 'setting' && record.key)).toEqual([
      'before',
      'after',
    ]);
    expect(journal.damagedLines).toBe(1);
    journal.close();
  });

  it('stays short, however often jobs change', async () => {
    const small = { smallBytes: 20_000 };
    const directory = pathOf('other');
    const sizeNow = (): number =>
      readdirSync(join(directory, 'journal')).reduce(
        (sum, name) => sum + statSync(join(directory, 'journal', name)).size,
        0,
      );
    let state: AgentState = openAgentState(directory, site.clock, small);
    const book = createJobBook(state, site.clock);
    const { id } = book.add(backupOf('/a'), 'api').job;
    for (let change = 0; change < 300; change += 1) {
      book.change(id, ({ job, bookkeeping }) => ({ job: { ...job, waiting_for: `${change}` }, bookkeeping }));
      state.tidy();
      expect(sizeNow()).toBeLessThan(25_000);
    }
    state.close();
    rmSync(join(directory, 'state.db'));
    state = openAgentState(directory, site.clock, small);
    expect(state.database.jobs.record(id)?.job.waiting_for).toBe('299');
    state.close();
  });
});
