/**
 * Chunks whose bytes are not what their ids say, in packs whose names and seals are sound: what a defect of the program
 * that stored them leaves behind. No seal finds them, so whoever reads a chunk compares it with its id.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { RepositoryError } from '../../src/base/errors.ts';
import { DEFAULT_COMPRESSION } from '../../src/codec/compress.ts';
import { copySnapshots } from '../../src/copier/copy.ts';
import { SILENT_CHECK } from '../../src/repository/check/check-report.ts';
import { check } from '../../src/repository/check/check.ts';
import { SILENT_PRUNE, prune } from '../../src/repository/prune/prune.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { forgetSnapshots, listSnapshots, type Snapshot } from '../../src/repository/snapshots.ts';
import { SILENT_RESTORE, type RestoreProblem } from '../../src/restorer/request/request.ts';
import { restore } from '../../src/restorer/restore.ts';
import { directory, file, handMadeSnapshot, memoryRepository } from '../support/hand-made-snapshot.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { wholeRestore } from '../support/whole-restore.ts';

const { signal } = new AbortController();
const random = seededRandom(60);
const small = random.bytes(2_000);
const large = random.bytes(30_000);
const wrongKey = Buffer.alloc(32, 9);

let repository: Repository;
let both: Snapshot;
let scratch: string;

beforeEach(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'holdfast-wrong-ids-'));
  repository = await memoryRepository(signal);
  both = await made({ small, large });
});
afterEach(() => {
  rmSync(scratch, { recursive: true });
});

async function made(files: Readonly<Record<string, Buffer>>): Promise<Snapshot> {
  const entries = Object.entries(files).map(([name, bytes]) => [name, file([bytes])] as const);
  return await handMadeSnapshot(repository, directory(Object.fromEntries(entries)), {}, signal, wrongKey);
}

test('a check that reads the data names the pack and every file, and counts the pack as not proven', async () => {
  const report = await check(repository, { readData: 'all' }, SILENT_CHECK, signal);
  expect(report.status).toBe('damaged');
  const errors = report.findings.filter(({ severity }) => severity === 'error');
  expect(errors).toMatchObject([
    { what: 'it holds chunks whose bytes do not match their ids', snapshots: [both.id] },
  ]);
  expect(errors[0]?.files.toSorted()).toEqual(['/large', '/small']);
  const wrong = errors[0]?.object.replace('pack ', '');
  expect(report.packsProven).toHaveLength(1);
  expect(report.packsProven).not.toContain(wrong);
});

test('a restore writes none of it', async () => {
  const target = join(scratch, 'back');
  const problems: RestoreProblem[] = [];
  const { filesFailed } = await restore(
    wholeRestore(repository, both, target, { verify: false, restoreOwnership: false }),
    { ...SILENT_RESTORE, problem: (problem) => problems.push(problem) },
    signal,
  );
  expect(filesFailed).toBe(2);
  expect(problems.map(({ code }) => code)).toEqual(['CORRUPT_DATA', 'CORRUPT_DATA']);
  expect(readdirSync(target)).toEqual([]);
});

test('a copy takes nothing of it to another repository', async () => {
  const to = await memoryRepository(signal);
  const failures: RepositoryError[] = [];
  const summary = await copySnapshots(
    { from: repository, to, snapshots: [both], compression: DEFAULT_COMPRESSION },
    {
      begin: () => {},
      read: () => {},
      copied: () => {},
      failed: (_, error) => failures.push(error),
    },
    signal,
  );
  expect(summary).toMatchObject({ copied: 0, failed: 1 });
  expect(failures.map(({ message }) => message)).toEqual([
    expect.stringContaining('its bytes do not match its id'),
  ]);
  expect((await listSnapshots(to, signal)).live).toEqual([]);
});

test('a prune does not write it anew under those ids, and leaves the pack as it is', async () => {
  const kept = await made({ small });
  await forgetSnapshots(repository, [both.id], 'test', signal);
  const { repack } = await prune(repository, { graceSeconds: 0, noOtherWriters: true }, SILENT_PRUNE, signal);
  expect(repack.done).toEqual([]);
  expect(repack.skipped).toMatchObject([{ reason: expect.stringContaining('does not match its id') }]);
  expect((await listSnapshots(repository, signal)).live.map(({ id }) => id)).toEqual([kept.id]);
});
