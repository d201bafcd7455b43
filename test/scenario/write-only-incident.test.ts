/**
 * A machine with a write-only key was broken into, and whoever did it has planted what such a key can make. The administrator
 * does what docs/security.md says: changes keys, removes that one, seals anew, and lets `recover` take away the rest.
 */
// Turn 7 of 8.
import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { check } from '../../src/repository/check/check.ts';
import { SILENT_CHECK } from '../../src/repository/check/check-report.ts';
import { removeKey, rotateKeys } from '../../src/repository/keys/keys.ts';
import { findLost } from '../../src/repository/chains/lost-records.ts';
import { SILENT_PRUNE, prune } from '../../src/repository/prune/prune.ts';
import { recover } from '../../src/repository/check/recover.ts';
import { SILENT_REKEY, rekey } from '../../src/repository/renew/rekey.ts';
import { forgetSnapshots, listSnapshots } from '../../src/repository/snapshots.ts';
import { readTombstones } from '../../src/repository/tombstones.ts';
import { compareTrees } from '../support/compare-trees.ts';
import { never, openEngine, type Engine } from '../support/engine.ts';
import { readRepository } from '../support/independent-reader.ts';
import { writeOnlyHost, type WriteOnlyHost } from '../support/write-only-host.ts';
import { thiefWith, type Thief } from '../support/write-only-thief.ts';

let engine: Engine;
let honest: WriteOnlyHost;
let broken: WriteOnlyHost;
let thief: Thief;

beforeEach(async () => {
  engine = await openEngine({ destination: 'local' });
  mkdirSync(join(engine.source, 'd'));
  writeFileSync(join(engine.source, 'd/file'), randomBytes(50_000));
  await delay(60);
  honest = await writeOnlyHost(engine, 'honest');
  broken = await writeOnlyHost(engine, 'broken', honest.full);
  thief = thiefWith(await broken.open());
});
afterEach(async () => {
  await engine[Symbol.asyncDispose]();
});

test('what was planted stops nobody, and is gone after the key was removed and recover has run', async () => {
  const admin = broken.full;
  const { snapshot: gone } = await engine.backup();
  await forgetSnapshots(admin, [gone.id], 'test', never);
  const { snapshot: own } = await engine.backup();
  await honest.backup();
  await broken.backup();
  const [mark] = (await readTombstones(admin, never)).all;
  const planted = [
    await thief.configAgain('config/1', Number.MAX_SAFE_INTEGER),
    await thief.configAgain('config/1', 999_999_999),
    await thief.configAgain('config/1', 2),
    await thief.lease('prune', 999_999_999_999_999),
    await thief.lease('prune', 1),
    await thief.lease(`session.${'ab'.repeat(8)}`, 12),
  ];
  const { writer, seq } = own.chain;
  for (const at of [seq + 1, 3_000_000_000])
    planted.push(`trash/${await thief.tombstoneAgain(mark?.name ?? '', { writer, seq: at, prev: own.id })}`);
  const ring = await engine.calls.get('keys/ring-1', undefined, never);
  for (const n of [5, 900_000_000]) {
    await thief.again(`keys/ring-${n}`, ring);
    planted.push(`keys/ring-${n}`);
  }
  await thief.snapshot(3_000_000_000);

  // Everybody goes on while nobody has noticed anything.
  appendFileSync(join(engine.source, 'd/file'), 'more');
  await delay(60);
  await engine.backup();
  await honest.backup();
  await prune(admin, {}, SILENT_PRUNE, never);
  expect(await findLost(admin, never)).toEqual([]);
  // Nor does it stop readers that know the page alone.
  const stranger = readRepository(engine.store, { machine: engine.secret.secret }, { only: own.id });
  expect([...stranger].some(({ path }) => path.endsWith('/d/file'))).toBe(true);

  await rotateKeys(admin, never);
  await removeKey(admin, broken.slot, never);
  const { live } = await listSnapshots(admin, never);
  const made = live.filter(({ record }) => record.tool === 'thief').map(({ id }) => id);
  expect(made).toHaveLength(1);
  await forgetSnapshots(admin, made, 'planted', never);
  await rekey(admin, {}, SILENT_REKEY, never);
  const { removed } = await recover(admin, never);
  // Previews of 0.1 read numbers of more digits; nobody else looks at them.
  const left = new Set<string>();
  for await (const page of engine.calls.list('', never))
    for (const { key } of page) if (planted.includes(key)) left.add(key);
  expect([...left]).toEqual([]);
  expect(removed.length).toBeGreaterThan(0);

  await expect(broken.open()).rejects.toMatchObject({ code: 'WRONG_PASSPHRASE' });
  appendFileSync(join(engine.source, 'd/file'), 'and more');
  await delay(60);
  await honest.backup();
  for (const host of [await engine.open(), await engine.open()]) {
    const { snapshot } = await engine.backup(undefined, { repository: host });
    const { source } = await engine.restoreTo(`by-${snapshot.id.slice(0, 8)}`, snapshot, {
      repository: host,
    });
    expect(compareTrees(engine.source, source)).toEqual([]);
  }
  const { findings } = await check(admin, { readData: 'all', workers: 0 }, SILENT_CHECK, never);
  expect(findings.filter(({ severity }) => severity !== 'note')).toEqual([]);
  const paths = new Set<string>();
  for (const { path } of readRepository(engine.store, { machine: engine.secret.secret })) paths.add(path);
  expect([...paths].some((path) => path.endsWith('/d/file'))).toBe(true);
});
