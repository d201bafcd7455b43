/** What is told of jobs that have ended, whatever fails meanwhile. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StateError } from '../../../src/base/errors.ts';
import { Alarms } from '../../../src/daemon/alarms/alarm-book.ts';
import { JobEnds } from '../../../src/daemon/jobs/job-ends.ts';
import type { Job } from '../../../src/jobs/job.ts';
import type { Notice } from '../../../src/notify/notice.ts';
import { settle } from '../../support/manual-clock.ts';
import { backupOf, runnerSite, type RunnerSite } from '../jobs/runner-site.ts';

/** Of a backup that finds nearly all files gone: an alarm. */
const SHRUNK = {
  files: 1,
  compared: {
    filesBefore: 1_000,
    unread: 0,
    filesNew: 0,
    filesChanged: 0,
    bytesNew: 0,
    bytesStored: 0,
    newExtensions: {},
  },
};

let site: RunnerSite;
let ends: JobEnds;
let alarms: Alarms;
let notices: Notice[];
let troubles: unknown[];
/** Called for each end that is stored, before anything else follows from it. */
let stored: () => void;
let others: ((job: Job) => void)[];

const kinds = (): readonly string[] => notices.map(({ kind }) => kind);

/** What a process has in memory. */
function begin(): void {
  alarms = new Alarms(site.state.database.settings, site.book, site.clock);
  ends = new JobEnds({
    database: site.state.database,
    alarms,
    notifier: { notify: (notice) => void notices.push(notice) },
    clock: site.clock,
    others,
    stillFailing: () => [],
    trouble: (error) => troubles.push(error),
  });
}

beforeEach(async () => {
  [notices, troubles, others] = [[], [], []];
  stored = () => undefined;
  site = await runnerSite({
    keepEnd: (job, outcome) => ends.keep(job, outcome),
    endDelayed: (job) => ends.delayed(job),
    ended: (job) => {
      stored();
      ends.ended(job);
    },
  });
  begin();
});
afterEach(async () => {
  await site.remove();
});

async function started(source = '/a'): Promise<string> {
  const { id } = site.runner.submit(backupOf(source), 'schedule');
  await settle();
  return id;
}

/** As on a full disk, from now on until the returned function is called. */
function fillDisk(): () => void {
  const { journal } = site.state;
  const { append } = journal;
  const { set } = site.state.database.settings;
  const fail = (): never => {
    throw new StateError('WRITE_ERROR', 'The disk is full');
  };
  Object.assign(journal, { append: fail });
  Object.assign(site.state.database.settings, { set: fail });
  return () => {
    Object.assign(journal, { append });
    Object.assign(site.state.database.settings, { set });
  };
}

describe('the end of a job', () => {
  it('is told at once, with the alarm that it raises, and never again', async () => {
    site.engines.of(await started()).complete(SHRUNK);
    await settle();
    expect(kinds()).toEqual(['backup.completed', 'alarm']);
    expect(alarms.open()).toHaveLength(1);
    ends.makeUp();
    await site.crash();
    begin();
    ends.makeUp();
    expect(kinds()).toEqual(['backup.completed', 'alarm']);
    expect(alarms.open()).toHaveLength(1);
  });

  it('is told once, also when what waits is made up for before', async () => {
    stored = () => ends.makeUp();
    site.engines.of(await started()).complete(SHRUNK);
    await settle();
    expect(kinds()).toEqual(['backup.completed', 'alarm']);
  });

  it('is told whatever else fails that follows from it', async () => {
    const done: string[] = [];
    others.push(
      () => done.push('before'),
      () => {
        throw new StateError('WRITE_ERROR', 'The partner cannot be told');
      },
      () => done.push('after'),
    );
    site.engines.of(await started()).complete(SHRUNK);
    await settle();
    expect(kinds()).toEqual(['backup.completed', 'alarm']);
    expect(done).toEqual(['before', 'after']);
    expect(troubles).toMatchObject([{ code: 'WRITE_ERROR' }]);
  });

  it('is told by the next start when the agent ended right after it was stored', async () => {
    stored = () => {
      throw new Error('killed');
    };
    site.engines.of(await started()).complete(SHRUNK);
    site.engines.of(await started('/b')).fail('WRONG_PASSPHRASE');
    await settle();
    expect(notices).toEqual([]);
    await site.crash();
    begin();
    ends.makeUp();
    expect(kinds()).toEqual(['backup.completed', 'alarm', 'backup.failed']);
    expect(alarms.open()).toMatchObject([{ kind: 'shrunk', source: '/a' }]);
    ends.makeUp();
    expect(notices).toHaveLength(3);
  });

  it('is told by the next start also when the database is lost', async () => {
    stored = () => {
      throw new Error('killed');
    };
    site.engines.of(await started()).fail('WRONG_PASSPHRASE');
    await settle();
    await site.crash(() => rmSync(join(site.directory, 'state.db')));
    begin();
    ends.makeUp();
    expect(kinds()).toEqual(['backup.failed']);
  });

  it('raises its alarm later when it cannot be stored at first; the notice goes out once', async () => {
    let free = (): void => undefined;
    stored = () => (free = fillDisk());
    site.engines.of(await started()).complete(SHRUNK);
    await settle();
    expect(kinds()).toEqual(['backup.completed']);
    expect(alarms.open()).toEqual([]);
    ends.makeUp();
    expect(troubles).toHaveLength(2);
    free();
    ends.makeUp();
    expect(kinds()).toEqual(['backup.completed', 'alarm']);
    expect(alarms.open()).toHaveLength(1);
  });

  it('is told from memory when it is a failure that cannot be stored, and not again once it is', async () => {
    const id = await started();
    const free = fillDisk();
    site.engines.of(id).fail('WRONG_PASSPHRASE');
    await settle();
    expect(notices).toMatchObject([{ kind: 'backup.failed', job: { id, errorCode: 'WRONG_PASSPHRASE' } }]);
    await site.pass(60_000);
    free();
    await site.pass(60_000);
    expect(site.job(id).status).toBe('failed');
    expect(kinds()).toEqual(['backup.failed']);
    await site.crash();
    begin();
    ends.makeUp();
    expect(kinds()).toEqual(['backup.failed']);
  });

  it('is told of no job that is canceled or goes on', async () => {
    const id = await started();
    site.engines.of(id).die();
    await settle();
    site.runner.cancel(id);
    await settle();
    expect(site.job(id).status).toBe('canceled');
    expect(notices).toEqual([]);
  });
});
