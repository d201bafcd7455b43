/** What a job says when its rules leave out more than anybody can mean, or cannot be read. */
// Turn 5 of 8.
import { expect, test } from 'vitest';
import { openDaemonSite } from '../support/daemon-site.ts';

test('a source that a rule leaves out as a whole is no success', async () => {
  await using site = await openDaemonSite();
  const { source } = site;
  site.write({ file: 'content' });
  await site.configure({
    sources: [{ path: source, schedule: 'off', watch: false, exclude: { patterns: [source] } }],
  });
  const job = await site.backUp();
  expect(job).toMatchObject({ status: 'completed', result: 'warning', warnings_count: 1, files_done: 0 });
  expect(site.agent.job(job.id)?.problems).toMatchObject([{ path: source, code: 'SOURCE_LEFT_OUT' }]);
  expect(await site.backUp({ dry_run: true })).toMatchObject({ result: 'warning', warnings_count: 1 });
});

test('rules that cannot be read are told of: what they were to leave out is in the backup', async () => {
  await using site = await openDaemonSite();
  site.write({ '.holdfastignore': `secret\n#${' '.repeat(2_000_000)}`, secret: 'content' });
  await site.configure({ sources: [{ path: site.source, schedule: 'off', watch: false }] });
  const job = await site.backUp();
  expect(job).toMatchObject({ result: 'warning', warnings_count: 1, files_done: 2 });
  expect(site.agent.job(job.id)?.problems).toMatchObject([
    {
      path: site.source,
      code: 'EXCLUDE_FILE_TOO_LARGE',
      message: expect.stringContaining('.holdfastignore'),
    },
  ]);
});

test('what waits of a source that leaves the settings is not backed up any more, and without its rules', async () => {
  await using site = await openDaemonSite();
  const { source } = site;
  site.write({ file: 'content', secret: 'content' });
  await site.agent.pause(null, false);
  const rules = { schedule: 'off', watch: false, exclude: { patterns: ['secret'] } };
  await site.configure({ sources: [{ path: source, ...rules }] });
  const [waiting] = site.jobs('backup');
  const asked = await site.agent.requestBackup({ source, options: {} }, 'api');
  await site.configure({ sources: [] });
  await site.agent.resume();
  expect(await site.ended(waiting?.id ?? '')).toMatchObject({ status: 'canceled', snapshot_id: null });
  // What somebody asked for stays asked for.
  expect(await site.ended(asked.id)).toMatchObject({ status: 'completed' });
});
