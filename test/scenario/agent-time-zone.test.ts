/** The agent where TZ says something that no time zone is called. */
import { mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { nameTimeZone, systemZone } from '../../src/base/time-zone.ts';
import { openDaemonSite } from '../support/daemon-site.ts';
import { removeTree } from '../support/remove-tree.ts';

const before = process.env['TZ'];
const set = (zone: string | undefined): void => {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
};
afterEach(() => set(before));

test.each(['', 'Europe/Nowhere'])('begins and schedules by UTC when TZ is "%s"', async (zone) => {
  set(zone);
  await using site = await openDaemonSite();
  await site.configure({ sources: [{ path: site.source, schedule: 'daily at 02:30', watch: false }] });
  const { next_run_at: next } = await site.status();
  expect(new Date(String(next)).getUTCHours()).toBeLessThan(4);
});

test('a zone that TZ names by its file has its name, for everything that tells the time', () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-zone-'));
  try {
    const local = join(directory, 'localtime');
    symlinkSync('/usr/share/zoneinfo/Asia/Tokyo', local);
    for (const zone of [`:${local}`, local]) {
      set(zone);
      nameTimeZone(process.env);
      expect([process.env['TZ'], systemZone()]).toEqual(['Asia/Tokyo', 'Asia/Tokyo']);
      expect(new Date(0).getHours()).toBe(9);
    }
    for (const zone of ['Europe/Berlin', undefined]) {
      set(zone);
      nameTimeZone(process.env);
      expect(process.env['TZ']).toBe(zone);
    }
  } finally {
    removeTree(directory);
  }
});
