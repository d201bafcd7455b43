// Turn 7 of 8.
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { DEFAULT_COMPRESSION } from '../../src/codec/compress.ts';
import { copySnapshots, type CopyObserver } from '../../src/copier/copy.ts';
import { repairFrom, type RepairSummary } from '../../src/copier/repair.ts';
import { createMemoryDestination } from '../../src/destination/memory.ts';
import { check } from '../../src/repository/check/check.ts';
import { SILENT_CHECK, type CheckReport } from '../../src/repository/check/check-report.ts';
import { createRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { listSnapshots } from '../../src/repository/snapshots.ts';
import { never, openEngine, type Engine } from '../support/engine.ts';

const silent: CopyObserver = { begin: () => {}, read: () => {}, copied: () => {}, failed: () => {} };
let engine: Engine;

beforeEach(async () => {
  engine = await openEngine({ destination: 'local' });
  mkdirSync(join(engine.source, 'deep/er'), { recursive: true });
  for (let i = 0; i < 60; i += 1) writeFileSync(join(engine.source, `deep/file-${i}`), randomBytes(20_000));
  writeFileSync(join(engine.source, 'deep/er/large'), randomBytes(3_000_000));
  await engine.backup();
});
afterEach(async () => {
  await engine[Symbol.asyncDispose]();
});

async function newCopy(isAlike: boolean): Promise<Repository> {
  const repository = await createRepository(
    createMemoryDestination(),
    {
      clock: systemClock,
      stateDirectory: undefined,
      secrets: [{ secret: { kind: 'machine', secret: randomBytes(32) }, label: 'other' }],
      cost: { m: 64, t: 1, p: 1 },
      packTarget: 1_048_576,
      segmentTarget: 131_072,
      ...(isAlike ? { like: engine.repository } : {}),
    },
    never,
  );
  const { live } = await listSnapshots(engine.repository, never);
  const request = {
    from: engine.repository,
    to: repository,
    snapshots: live,
    compression: DEFAULT_COMPRESSION,
  };
  await copySnapshots(request, silent, never);
  return repository;
}

async function packs(): Promise<readonly { readonly path: string; readonly size: number }[]> {
  const found: { path: string; size: number }[] = [];
  for await (const page of engine.repository.destination.list('packs/', never))
    for (const { key, size } of page) found.push({ path: join(engine.store, key), size });
  return found.toSorted((a, b) => a.size - b.size);
}

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  writeFileSync(path, bytes);
}

async function examine(): Promise<CheckReport> {
  return await check(engine.repository, { readData: 'all' }, SILENT_CHECK, never);
}

async function repair(other: Repository): Promise<RepairSummary> {
  const report = await examine();
  expect(report.status).toBe('damaged');
  const request = { repository: engine.repository, other, damaged: report.packsDamaged };
  return await repairFrom(request, silent, never);
}

async function expectWhole(): Promise<void> {
  const report = await examine();
  expect(report.findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(report.status).toBe('ok');
  for (const snapshot of await engine.snapshots()) expect(await engine.differences(snapshot)).toEqual([]);
}

describe.each([
  ['made alike', true],
  ['of other keys, with copies of the snapshots', false],
])('repairing from a repository %s', (_name, isAlike) => {
  test('puts back packs that are gone: data and trees', async () => {
    const other = await newCopy(isAlike);
    for (const { path } of (await packs()).filter((_, i) => i % 2 === 0)) rmSync(path);
    const summary = await repair(other);
    expect(summary).toMatchObject({ lost: 0, broken: [] });
    expect(summary.bytes).toBeGreaterThan(0);
    await expectWhole();
  });

  test('puts back what is damaged, and marks the damaged packs', async () => {
    const other = await newCopy(isAlike);
    const all = await packs();
    for (const { path, size } of all) flip(path, size >> 1);
    const summary = await repair(other);
    expect(summary).toMatchObject({ lost: 0, broken: [] });
    expect(summary.packsReplaced).toHaveLength(all.length);
    await expectWhole();
  });
});

test('what another repository does not have either stays lost, and is named', async () => {
  const other = await newCopy(true);
  writeFileSync(join(engine.source, 'new'), randomBytes(500_000));
  const before = new Set((await packs()).map(({ path }) => path));
  const { snapshot } = await engine.backup();
  const fresh = (await packs()).filter(({ path }) => !before.has(path));
  const data = fresh.at(-1);
  const old = (await packs()).find(({ path }) => before.has(path));
  if (data === undefined || old === undefined) throw new Error('no packs');
  flip(data.path, data.size >> 1);
  rmSync(old.path);
  const summary = await repair(other);
  expect(summary.lost).toBeGreaterThan(0);
  expect(summary.broken).toEqual([snapshot.id]);
  // What was readable in it is not given up.
  expect(summary.packsReplaced).toEqual([]);
  const first = (await engine.snapshots())[0];
  if (first === undefined) throw new Error('no snapshot');
  rmSync(join(engine.source, 'new'));
  expect((await engine.differences(first)).filter((line) => !line.includes('mtime'))).toEqual([]);
});
