import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { repairFrom, type RepairSummary } from '../../../src/copier/repair.ts';
import type { CopyObserver } from '../../../src/copier/copy.ts';
import type { Destination, ListedObject } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { check } from '../../../src/repository/check/check.ts';
import { SILENT_CHECK } from '../../../src/repository/check/check-report.ts';
import { packKey } from '../../../src/repository/objects/listing.ts';
import { SILENT_PRUNE, prune } from '../../../src/repository/prune/prune.ts';
import { createRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import { forgetSnapshots, listSnapshots, type Snapshot } from '../../../src/repository/snapshots.ts';
import { readTombstones } from '../../../src/repository/tombstones.ts';
import { hookedDestination } from '../../support/hooked-destination.ts';
import { manualClock, type ManualClock } from '../../support/manual-clock.ts';
import { lostFiles, tinyBackup, type TinyTree } from '../../support/tiny-archiver.ts';

const HOUR = 3_600_000;
const FILE = 60_000;
const { signal } = new AbortController();
const silent: CopyObserver = { begin: () => {}, read: () => {}, copied: () => {}, failed: () => {} };
let clock: ManualClock;
/** Lists show what is newest first: elsewhere it is a matter of chance which pack is met first. */
let newestFirst = false;

beforeEach(() => {
  clock = manualClock();
});

async function newRepository(): Promise<Repository> {
  const secret = { kind: 'machine', secret: randomBytes(32) } as const;
  const destination = shownAnyWay(createMemoryDestination(() => clock.now()));
  const sizes = { packTarget: 1_048_576, segmentTarget: 65_536, cost: { m: 64, t: 1, p: 1 } };
  const options = { clock, stateDirectory: undefined, secrets: [{ secret, label: 'x' }], ...sizes };
  return await createRepository(destination, options, signal);
}

function shownAnyWay(inner: Destination): Destination {
  return {
    ...hookedDestination(inner, {}),
    async *list(prefix, listSignal) {
      const objects: ListedObject[] = [];
      for await (const page of inner.list(prefix, listSignal)) objects.push(...page);
      objects.sort((a, b) => (a.modifiedMs - b.modifiedMs) * (newestFirst ? -1 : 1));
      yield objects;
    },
  };
}

interface Site {
  readonly repository: Repository;
  readonly destination: Destination;
  /** What the one snapshot has. */
  readonly kept: TinyTree;
  readonly snapshot: Snapshot;
  /** With all of `kept`, and other files: everything in it is in other packs, too. */
  readonly marked: ReadonlySet<string>;
  /** The packs that replace them. */
  readonly fresh: readonly string[];
}

/** A repository in which a prune has just written anew what is needed of packs that it marked. */
async function openSite(): Promise<Site> {
  const repository = await newRepository();
  const { destination } = repository;
  const kept = { a: randomBytes(FILE), b: randomBytes(FILE) };
  const others = Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`x${i}`, randomBytes(FILE)]));
  const whole = await tinyBackup(repository, { ...kept, ...others }, {}, signal);
  await clock.advance(1_000);
  const snapshot = await tinyBackup(repository, kept, {}, signal);
  await clock.advance(1_000);
  await forgetSnapshots(repository, [whole.id], 'test', signal);
  await clock.advance(1_000);
  const { repack } = await prune(repository, { repackBelow: 0.9 }, SILENT_PRUNE, signal);
  await clock.advance(1_000);
  const { packs: marked } = await readTombstones(repository, signal);
  expect(repack.newPacks.length * marked.size).toBeGreaterThan(0);
  return { repository, destination, kept, snapshot, marked, fresh: repack.newPacks };
}

/** Changes a byte of the segment of that number: files are as large as segments here. */
async function harm({ destination }: Site, packs: Iterable<string>, segment: number): Promise<void> {
  for (const name of packs) {
    const bytes = Buffer.from(await destination.get(packKey(name), undefined, signal));
    const at = 200 + segment * (FILE + 16);
    if (at > bytes.length) continue;
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    await destination.delete(packKey(name), signal);
    await destination.put(packKey(name), bytes, signal);
  }
}

async function repair({ repository }: Site, also: Iterable<string> = []): Promise<RepairSummary> {
  const report = await check(repository, { readData: 'all', workers: 0 }, SILENT_CHECK, signal);
  const damaged = new Set([...report.packsDamaged, ...also]);
  return await repairFrom({ repository, other: await newRepository(), damaged }, silent, signal);
}

/** Marked packs are gone afterwards, as nothing names them any more. */
async function expectWholeAfterPrune({ repository, kept, snapshot }: Site): Promise<void> {
  await clock.advance(73 * HOUR);
  await prune(repository, {}, SILENT_PRUNE, signal);
  await clock.advance(1_000);
  expect((await listSnapshots(repository, signal)).live).toHaveLength(1);
  expect(await lostFiles(repository, snapshot, kept, signal)).toEqual([]);
}

describe.each([
  ['oldest', false],
  ['newest', true],
])('a repair looks for a chunk in every pack that holds it, the %s first', (_name, isNewestFirst) => {
  beforeEach(() => {
    newestFirst = isNewestFirst;
  });

  it('whole in one that is only marked', async () => {
    const site = await openSite();
    for (const segment of [0, 1]) await harm(site, site.fresh, segment);
    expect(await repair(site)).toMatchObject({ lost: 0, broken: [] });
    await expectWholeAfterPrune(site);
  });

  it('whole in one of two that are both damaged', async () => {
    const site = await openSite();
    await harm(site, site.marked, 0);
    await harm(site, site.fresh, 1);
    expect(await repair(site, site.marked)).toMatchObject({ lost: 0, broken: [] });
    await expectWholeAfterPrune(site);
  });

  it('and gives up none of them where it is damaged in all', async () => {
    const site = await openSite();
    for (const packs of [site.marked, site.fresh]) await harm(site, packs, 0);
    const { lost, packsReplaced } = await repair(site, site.marked);
    expect(lost).toBeGreaterThan(0);
    expect(packsReplaced).toEqual([]);
  });
});
