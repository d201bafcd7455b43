/** Restores by somebody who is not root: everything of what is his own comes back. */
import { chmodSync, chownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { OverwriteMode } from '../../src/restorer/request.ts';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import { openRestoreSite, type RestoreOutcome, type RestoreSite } from '../support/restore-site.ts';
import { seededRandom } from '../support/seeded-random.ts';

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
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' }))
    chownSync(join(directory, name), uid, gid);
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
