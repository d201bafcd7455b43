/** A limit that is lifted in the first moment of a job, when its engine is still starting. */
// Turn 1 of 8.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually, openDaemonSite } from '../support/daemon-site.ts';

test('a limit that is lifted while the engine of a job starts is lifted for that job', async () => {
  await using site = await openDaemonSite();
  // Two minutes with the limit; the test waits for one.
  site.write({ 'large/file': randomBytes(8_000_000) });
  const sources = [{ path: join(site.source, 'large'), schedule: 'off', watch: false }];
  await site.configure({ sources, bandwidth: [{ from: '00:00', uploadLimit: '64 KiB' }] });
  const [job] = site.jobs('backup');
  expect(job).toBeDefined();
  const id = job?.id ?? '';
  await eventually(() => site.agent.job(id)?.status === 'running', 'the backup');
  await site.configure({ sources, bandwidth: [] });
  expect(await site.ended(id)).toMatchObject({ status: 'completed', attempt: 1 });
});
