/** The real agent on a machine that sleeps: what was missed is made up for once, however often it wakes. */
// Turn 8 of 8.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';

const HOUR_MS = 3_600_000;
/** Milliseconds within which everything that looks now and then has looked. */
const LOOKS_MS = 31_000;

let site: DaemonSite;

beforeAll(async () => {
  site = await openDaemonSite();
  site.write({ 'a.txt': 'content' });
  // A quarter past an hour: none of the times of the schedule is to come while a test runs.
  site.clock.skip((HOUR_MS + 15 * 60_000 - (site.clock.now() % HOUR_MS)) % HOUR_MS);
  await site.configure({
    sources: [{ path: site.source, schedule: 'hourly', watch: true }],
    maintenance: { prune: 'off', check: 'off', drill: 'off', jitter: '0s' },
  });
  await site.endOfNext('backup', []);
  await atRest();
});
afterAll(async () => await site[Symbol.asyncDispose]());

/** Whatever is to follow has followed. */
async function atRest(): Promise<void> {
  for (let quiet = 0; quiet < 3; quiet += 1) {
    site.clock.skip(LOOKS_MS);
    await delay(100);
    await eventually(
      () => site.jobs('backup').every(({ finished_at: at }) => at !== null),
      'the ends of backups',
    );
  }
}

test.each([3 * HOUR_MS, 10 * 60_000, 30 * HOUR_MS])(
  'a sleep of %i ms is made up for by one backup',
  async (asleepMs) => {
    const before = site.jobs('backup');
    site.clock.jump(asleepMs);
    site.clock.skip(LOOKS_MS);
    expect(await site.endOfNext('backup', before)).toMatchObject({ status: 'completed' });
    await atRest();
    expect(site.jobs('backup')).toHaveLength(before.length + 1);
  },
);
