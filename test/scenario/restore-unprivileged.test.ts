/** Restores by somebody who is not root: everything of what is his own comes back. */
// Turn 4 of 8.
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { OverwriteMode } from '../../src/restorer/request/request.ts';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import { leaveLifted } from '../support/restore-remains.ts';
import { openRestoreSite, type RestoreOutcome, type RestoreSite } from '../support/restore-site.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { namesBelow } from '../support/names-below.ts';

/** Root lets this user and group restore; anybody else restores himself. */
const somebody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;

let site: RestoreSite;
beforeEach(async () => {
  site = await openRestoreSite();
  chmodSync(site.directory, 0o777);
});
afterEach(async () => {
  await site[Symbol.asyncDispose]();
});

function giveAway(directory: string, { uid, gid }: { uid: number; gid: number }): void {
  chownSync(directory, uid, gid);
  for (const name of namesBelow(directory)) chownSync(join(directory, name), uid, gid);
}

async function restored(overwrite: OverwriteMode): Promise<RestoreOutcome | undefined> {
  if (somebody !== undefined) giveAway(site.store, somebody);
  return await site.start({
    target: join(site.directory, 'out'),
    overwrite,
    ...(somebody === undefined ? {} : { as: somebody }),
  }).ended;
}

const differences = (): string[] =>
  compareTrees(site.source, site.below(join(site.directory, 'out')), { owners: false, roots: false }).map(
    shownDifference,
  );

test('files of one segment and of several come back', async () => {
  const random = seededRandom(31);
  writeFileSync(join(site.source, 'small'), 'small');
  writeFileSync(join(site.source, 'large'), random.bytes(5_000_000), { mode: 0o444 });
  mkdirSync(join(site.source, 'deep/er'), { recursive: true });
  writeFileSync(join(site.source, 'deep/er/large'), random.bytes(2_000_000));
  await site.backup();
  expect(await restored('never')).toMatchObject({ status: 'complete', filesRestored: 3 });
  expect(differences()).toEqual([]);
});

test.each(['never', 'always'] as const)(
  'what comes back into a directory that its owner has closed to himself leaves it so, with %s',
  async (overwrite) => {
    mkdirSync(join(site.source, 'closed/below'), { recursive: true });
    for (const name of ['closed/f', 'closed/below/g', 'h']) writeFileSync(join(site.source, name), name);
    await site.backup();
    const closed = join(site.below(join(site.directory, 'out')), 'closed');
    mkdirSync(join(closed, 'below'), { recursive: true });
    if (somebody !== undefined) giveAway(join(site.directory, 'out'), somebody);
    chmodSync(join(closed, 'below'), 0o000);
    chmodSync(closed, 0o555);
    expect(await restored(overwrite)).toMatchObject({ status: 'complete', filesRestored: 3 });
    expect(statSync(closed).mode & 0o7777).toBe(overwrite === 'never' ? 0o555 : 0o755);
    expect(statSync(join(closed, 'below')).mode & 0o7777).toBe(overwrite === 'never' ? 0 : 0o755);
    chmodSync(join(closed, 'below'), 0o755);
    expect(differences().filter((one) => !one.includes('mode') && !one.includes('mtime'))).toEqual([]);
  },
);

test('a directory that a killed restore has opened is closed again by the next one', async () => {
  mkdirSync(join(site.source, 'closed'));
  for (const name of ['closed/f', 'h']) writeFileSync(join(site.source, name), name);
  await site.backup();
  const closed = join(site.below(join(site.directory, 'out')), 'closed');
  mkdirSync(closed, { recursive: true });
  leaveLifted(closed, 0o555);
  if (somebody !== undefined) giveAway(join(site.directory, 'out'), somebody);
  expect(await restored('never')).toMatchObject({ status: 'complete', filesRestored: 2 });
  expect(statSync(closed).mode & 0o7777).toBe(0o555);
  expect(readdirSync(closed)).toEqual(['f']);
});
