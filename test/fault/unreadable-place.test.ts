/** A drive with one place that it cannot read: the object there answers EIO to every read, and all else is well. */
// Turn 3 of 8.
import fsPromises, { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import { SILENT_CHECK, type CheckReport } from '../../src/repository/check/check-report.ts';
import { check } from '../../src/repository/check/check.ts';
import { loadIndex } from '../../src/repository/chunk-index.ts';
import { packKey } from '../../src/repository/objects/listing.ts';
import { findLost } from '../../src/repository/chains/lost-records.ts';
import { SILENT_PRUNE, prune } from '../../src/repository/prune/prune.ts';
import { recover } from '../../src/repository/check/recover.ts';
import { openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { forgetSnapshots, listSnapshots } from '../../src/repository/snapshots.ts';
import { readTombstones } from '../../src/repository/tombstones.ts';
import { listEverySnapshot } from '../../src/repository/chains/whole-list.ts';
import { sampleRepository, type SampleRepository } from '../support/damaged-repository.ts';
import { never, openEngine } from '../support/engine.ts';
import { seededRandom } from '../support/seeded-random.ts';

let directory: string;
let sample: SampleRepository;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-unreadable-'));
  sample = await sampleRepository(seededRandom(1), join(directory, 'state'), never);
});
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});
afterAll(async () => await rm(directory, { recursive: true }));

/** The files at these paths lie in the bad place from now on. */
function cannotBeRead(...paths: readonly string[]): void {
  const original = fsPromises.open;
  vi.spyOn(fsPromises, 'open').mockImplementation(async (at, ...rest) => {
    if (paths.includes(String(at))) throw Object.assign(new Error('EIO: i/o error, open'), { code: 'EIO' });
    return await original(at, ...rest);
  });
  syncBuiltinESMExports();
}

/** The sample on a drive of its own that cannot read the object under `key`. */
async function onDrive(key: string): Promise<Repository> {
  const root = await mkdtemp(join(directory, 'drive-'));
  const destination = await openLocalDestination(root);
  const objects = [...sample.objects].filter(([name]) => name === key || !name.startsWith('leases/'));
  for (const [name, bytes] of objects) await destination.put(name, bytes, never);
  const secret = { kind: 'machine' as const, secret: sample.secret };
  const options = { clock: sample.clock, stateDirectory: undefined };
  const repository = await openRepository(destination, secret, options, never);
  onTestFinished(async () => await repository.close());
  cannotBeRead(join(root, key));
  return repository;
}

function firstBelow(prefix: string): string {
  const key = [...sample.objects.keys()].find((one) => one.startsWith(prefix));
  if (key === undefined) throw new Error(`nothing lies below ${prefix}`);
  return key;
}

async function checked(repository: Repository): Promise<CheckReport> {
  return await check(repository, { readData: 'all', workers: 0 }, SILENT_CHECK, never);
}

describe('one object that the drive cannot read', () => {
  test.each(['packs/', 'index/', 'snapshots/', 'heads/', 'trash/', 'leases/'])(
    'below %s is named by a check, which goes on to its end',
    async (prefix) => {
      const key = firstBelow(prefix);
      const repository = await onDrive(key);
      const report = await checked(repository);
      expect(report.status).toBe('damaged');
      const name = key.slice(key.lastIndexOf('/') + 1);
      const named = report.findings.filter(({ object }) => object.includes(name));
      expect(named.map(({ severity }) => severity)).toContain('error');
    },
  );

  test.each([0, 1, 2, 3])(
    '(snapshot %i) keeps no other from being listed, and counts neither as gone nor as lost',
    async (n) => {
      const id = [...sample.snapshots.keys()][n] ?? '';
      const repository = await onDrive(`snapshots/${id}`);
      const { live, damaged } = await listSnapshots(repository, never);
      expect(live).toHaveLength(sample.snapshots.size - 1);
      expect(damaged).toMatchObject([{ id, error: { code: 'CORRUPT_DATA' } }]);
      await listEverySnapshot(repository, 'the rules remove nothing', never);
      expect(await findLost(repository, never)).toEqual([]);
    },
  );

  test('stops a prune where it is a snapshot, until that is given up', async () => {
    const [id = ''] = sample.snapshots.keys();
    const repository = await onDrive(`snapshots/${id}`);
    const pruned = async () => await prune(repository, { noOtherWriters: true }, SILENT_PRUNE, never);
    await expect(pruned()).rejects.toMatchObject({ code: 'CORRUPT_DATA' });
    await forgetSnapshots(repository, [id], 'given up', never);
    await pruned();
  });

  test('leaves every pack known where it is an index object', async () => {
    const repository = await onDrive(firstBelow('index/'));
    const { packs, damaged } = await loadIndex(repository, { without: new Set() }, never);
    const stored = [...sample.objects.keys()].filter((key) => key.startsWith('packs/'));
    expect(packs.map(({ name }) => packKey(name)).sort()).toEqual(stored.sort());
    expect(damaged).toHaveLength(1);
  });

  test('is kept in the index by recover where it is a pack', async () => {
    const key = firstBelow('packs/');
    const repository = await onDrive(key);
    const { keptFromIndex, unreadable } = await recover(repository, never);
    expect([...keptFromIndex, ...unreadable].map(({ name }) => packKey(name))).toEqual([key]);
  });

  test.each(['an index object', 'the parent', 'a tombstone', 'what the parent found'])(
    '(%s) keeps no backup from being made',
    async (what) => {
      await using engine = await openEngine({ destination: 'local' });
      await writeFile(join(engine.source, 'file'), 'first');
      const first = await engine.backup();
      await writeFile(join(engine.source, 'file'), 'second');
      const second = await engine.backup();
      await forgetSnapshots(engine.repository, [first.snapshot.id], 'test', never);
      const { packs, indexNames } = await loadIndex(engine.repository, { without: new Set() }, never);
      const { all } = await readTombstones(engine.repository, never);
      const keys = {
        'an index object': [`index/${indexNames[0]}`],
        'the parent': [`snapshots/${second.snapshot.id}`],
        'a tombstone': [`trash/${all[0]?.name}`],
        'what the parent found': packs.filter(({ kind }) => kind === 'tree').map(({ name }) => packKey(name)),
      }[what];
      cannotBeRead(...(keys ?? []).map((key) => join(engine.store, key)));
      await writeFile(join(engine.source, 'new'), 'third');
      const { snapshot } = await engine.backup();
      expect(snapshot.record.status).toBe('complete');
    },
  );
});
