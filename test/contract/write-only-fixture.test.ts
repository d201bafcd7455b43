/** The repository of format 2: what its keys open, what they add, and what its second copies are good for. */

import { mkdirSync, mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { archive } from '../../src/archiver/archive.ts';
import { SILENT } from '../../src/archiver/report/observer.ts';
import { systemClock } from '../../src/base/clock.ts';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import { check } from '../../src/repository/check/check.ts';
import { SILENT_CHECK } from '../../src/repository/check/check-report.ts';
import type { Secret } from '../../src/repository/slots/key-slots.ts';
import { openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { listSnapshots } from '../../src/repository/snapshots.ts';
import { restore } from '../../src/restorer/restore.ts';
import { SILENT_RESTORE } from '../../src/restorer/request/request.ts';
import { compareTrees } from '../support/compare-trees.ts';
import { requestFor } from '../support/engine.ts';
import { fixtureFacts, unpackFixture } from '../support/fixture-repositories.ts';
import { removeTree } from '../support/remove-tree.ts';
import { wholeRestore } from '../support/whole-restore.ts';
import { restoredPath } from '../support/restored-path.ts';

const { signal } = new AbortController();
const facts = fixtureFacts('format-2');
const passphrase: Secret = { kind: 'passphrase', text: facts.passphrase };
const writeOnly = (hex: string | undefined): Secret => ({
  kind: 'write-only',
  secret: Buffer.from(hex ?? '', 'hex'),
});

let home: string;
let store: string;

beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'holdfast-fixture-'));
  store = path.join(home, 'store');
  unpackFixture('format-2', store);
});
afterEach(() => {
  removeTree(home);
});

const open = async (secret: Secret): Promise<Repository> =>
  await openRepository(
    await openLocalDestination(store),
    secret,
    { clock: systemClock, stateDirectory: undefined },
    signal,
  );

async function ids(): Promise<readonly string[]> {
  const { live } = await listSnapshots(await open(passphrase), signal);
  return live.map(({ id }) => id).toSorted();
}

const wanted = Object.values(facts.snapshots)
  .map(({ id }) => id)
  .toSorted();

/** All of `keys` and `config`. */
function keyFiles(): readonly string[] {
  return ['keys', 'config'].flatMap((top) =>
    readdirSync(path.join(store, top)).map((name) => `${top}/${name}`),
  );
}

it('is opened by its second copies when every key file is damaged, and says so', async () => {
  const damaged = keyFiles();
  for (const file of damaged)
    writeFileSync(path.join(store, file), Buffer.alloc(statSync(path.join(store, file)).size));

  expect(await ids()).toEqual(wanted);
  const report = await check(await open(passphrase), { readData: 'all', workers: 0 }, SILENT_CHECK, signal);
  const found = report.findings.filter(({ severity }) => severity === 'error').map(({ object }) => object);
  expect([...new Set(found)].sort()).toEqual(damaged.toSorted());
});

it('is opened by its second copies when keys and configuration are gone', async () => {
  removeTree(path.join(store, 'keys'));
  removeTree(path.join(store, 'config'));

  expect(await ids()).toEqual(wanted);
});

it('takes a backup by its write-only key, which the passphrase reads', async () => {
  const source = path.join(home, 'source');
  mkdirSync(source);
  writeFileSync(path.join(source, 'new'), 'of a later version');
  const repository = await open(writeOnly(facts.write_only_key));
  const { snapshot } = await archive(requestFor(repository, [source], { host: 'server' }), SILENT, signal);

  const full = await open(passphrase);
  const { live } = await listSnapshots(full, signal);
  const stored = live.find(({ id }) => id === snapshot.id);
  if (stored === undefined) throw new Error('the new snapshot is not listed');
  const target = path.join(home, 'target');
  await restore(wholeRestore(full, stored, target), SILENT_RESTORE, signal);
  expect(compareTrees(source, restoredPath(target, source))).toEqual([]);
  const report = await check(full, { readData: 'all', workers: 0 }, SILENT_CHECK, signal);
  expect(report.findings.filter(({ severity }) => severity !== 'note')).toEqual([]);
  await expect(listSnapshots(repository, signal)).rejects.toMatchObject({ code: 'REFUSED' });
});

it('is not opened by the write-only key that was removed', async () => {
  await expect(open(writeOnly(facts.removed_write_only_key))).rejects.toMatchObject({
    code: 'WRONG_PASSPHRASE',
  });
});
