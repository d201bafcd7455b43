/** Commands around the backups of a source, through the real agent. */
// Turn 7 of 8.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Job } from '../../src/jobs/job.ts';
import { eventually, openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';
import { isAlive } from '../support/is-alive.ts';

const MINUTE_MS = 60_000;

let site: DaemonSite;
beforeAll(async () => {
  site = await openDaemonSite();
});
afterAll(async () => await site[Symbol.asyncDispose]());

/** Makes a source with these hooks, whose first backup then runs; gives what it became. */
async function backUpWith(
  name: string,
  hooks: object,
  meanwhile = async (): Promise<void> => {},
): Promise<Job> {
  site.write({ [`${name}/a.txt`]: 'content' });
  const path = join(site.source, name);
  await site.configure({ sources: [{ path, schedule: 'off', watch: false, hooks }] });
  const job = await eventually(
    () => site.agent.jobs({ types: ['backup'], source: path, limit: 1 })[0],
    'the first backup',
  );
  await meanwhile();
  return await site.ended(job.id);
}

const logOf = (job: Job): string =>
  site.agent
    .log(job.id)
    .map((line) => `${line.level} ${line.text}`)
    .join('\n');
const file = (name: string): string => join(site.directory, name);
/** What a shell writes to a file with one line, once it is there. */
const read = async (name: string): Promise<string> =>
  await eventually(() => {
    const text = existsSync(file(name)) ? readFileSync(file(name), 'utf8') : '';
    return text.endsWith('\n') && text;
  }, name);

test('the command before makes what is then saved, and the one after is told how the job ended', async () => {
  const job = await backUpWith('dumped', {
    before: 'echo "about to dump" && echo dump > "$HOLDFAST_SOURCE/dump.sql"',
    after: `echo "$HOLDFAST_JOB_ID $HOLDFAST_STATUS" > ${file('after')}; rm "$HOLDFAST_SOURCE/dump.sql"; exit 3`,
  });
  expect(job).toMatchObject({ status: 'completed', files_done: 2 });
  expect(await read('after')).toBe(`${job.id} completed\n`);
  await eventually(() => logOf(job).includes('ended with code 3'), 'a word on the command after');
  expect(logOf(job)).toContain('info about to dump');
  expect(logOf(job)).toMatch(/warn The command after the job ended with code 3/);
});

test('a command before that fails means no backup', async () => {
  const job = await backUpWith('refused', {
    before: 'echo no database >&2; exit 7',
    after: `echo "$HOLDFAST_STATUS" > ${file('after-failure')}`,
  });
  expect(job).toMatchObject({ status: 'failed', snapshot_id: null, error: { code: 'HOOK_FAILED' } });
  expect(job.error?.message).toContain('ended with code 7');
  expect(logOf(job)).toContain('no database');
  expect(await read('after-failure')).toBe('failed\n');
});

test('or a warning, where the settings say so', async () => {
  const job = await backUpWith('warned', { before: 'exit 7', onFailure: 'warn' });
  expect(job).toMatchObject({ status: 'completed', files_done: 1 });
  expect(logOf(job)).toMatch(/warn The command before the job ended with code 7/);
});

test('what the commands do to a watched source begins no further backup, and what others do does', async () => {
  site.write({ 'watched/a.txt': 'content' });
  const path = join(site.source, 'watched');
  const hooks = {
    before: 'date +%s%N > "$HOLDFAST_SOURCE/dump.sql"',
    after: 'sleep 1; rm "$HOLDFAST_SOURCE/dump.sql"',
  };
  await site.configure({ sources: [{ path, schedule: 'off', hooks }] });
  const backups = (): readonly Job[] => site.agent.jobs({ types: ['backup'], source: path, limit: 100 });
  await eventually(() => backups()[0]?.finished_at, 'the first backup');
  await delay(8_000);
  expect(backups().map(({ trigger }) => trigger)).toEqual(['schedule']);

  site.write({ 'watched/b.txt': 'more' });
  const [next] = await eventually(() => backups().length === 2 && backups(), 'the next one');
  expect(await site.ended(next?.id ?? '')).toMatchObject({ trigger: 'watch', files_done: 3 });
  await delay(8_000);
  expect(backups()).toHaveLength(2);
});

test('a command that takes too long is ended with all that it started', async () => {
  mkdirSync(file('pids'));
  const job = await backUpWith(
    'late',
    {
      before: `sleep 600 & echo $! > ${file('pids/tmp')}; mv ${file('pids/tmp')} ${file('pids/pid')}; wait`,
      timeout: '5m',
    },
    async () => {
      await read('pids/pid');
      site.clock.skip(6 * MINUTE_MS);
    },
  );
  expect(job.error).toMatchObject({ code: 'HOOK_FAILED' });
  expect(job.error?.message).toContain('took longer than 300 seconds');
  const pid = Number(await read('pids/pid'));
  await eventually(() => !isAlive(pid), 'the end of what it started');
});
