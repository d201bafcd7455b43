/** What commands do beside a running agent counts in what the agent says. */
// Turn 3 of 8.
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openPlace } from '../support/cli.ts';
import { openSituationSite } from '../support/headline-site.ts';

const DAY = 86_400_000;

test('the backup that the headline advises ends what it says, and damage that a check finds reaches the headline', async () => {
  await using site = await openSituationSite();
  await using place = await openPlace(site.directory);
  const env = { HOLDFAST_STATE_DIR: site.state, HOLDFAST_REPOSITORY: undefined };
  const usb = join(site.directory, 'usb');
  site.write({ 'a.txt': 'one' });
  await site.configure({
    sources: [{ path: site.source, schedule: 'off', watch: false, destinations: ['usb'] }],
    destinations: { usb: { url: usb } },
    maintenance: { prune: 'off', check: 'off', drill: 'off' },
  });
  await site.endOfNext('backup', []);
  site.clock.set(5 * DAY);
  const [late] = (await site.ask('status', {})).statements;
  expect(late).toMatchObject({ code: 'overdue', reason: 'unscheduled' });
  const { stdout } = await place.run(['status'], { env });
  const advised = /To back up now: \S+ (?<words>backup -r usb \S+)\. /.exec(stdout)?.groups?.['words'];
  expect(advised).toBe(`backup -r usb ${site.source}`);
  site.clock.set(-5 * DAY);
  site.write({ 'b.txt': 'two' });

  const before = site.jobs('backup').length;
  // A part of the source is no backup of it.
  await place.expectRun(['backup', '-r', 'usb', '--exclude', 'b.txt', site.source], 0, { env });
  expect(site.jobs('backup')).toHaveLength(before);
  await place.expectRun(String(advised).split(' '), 0, { env });
  const jobs = site.jobs('backup');
  expect(jobs).toHaveLength(before + 1);
  expect(jobs[0]).toMatchObject({ status: 'completed', trigger: 'cli', files_done: 2 });
  const good = (await site.ask('status', {})).sources[0]?.last_good_backup_at;
  expect(good).toBe(jobs[0]?.source_read_at);

  const [pack = ''] = readdirSync(join(usb, 'packs'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    /[0-9a-f]{64}$/.test(name),
  );
  const path = join(usb, 'packs', pack);
  const bytes = readFileSync(path);
  chmodSync(path, 0o600);
  writeFileSync(path, bytes.fill(0, 0, Math.floor(bytes.length / 2)));
  await place.expectRun(['check', '-r', 'usb', '--read-data'], 1, { env });
  const { statements } = await site.ask('status', {});
  expect(statements[0]).toMatchObject({ code: 'damaged', to: ['usb'] });
});
