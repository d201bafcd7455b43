/** Backups whose cache lies while packs are gone from the destination: nothing that is not there may be referred to. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { MetadataDatabase } from '../../src/cache/metadata-database.ts';
import type { Destination } from '../../src/destination/destination.ts';
import { SILENT_CHECK } from '../../src/repository/check/check-report.ts';
import { check } from '../../src/repository/check/check.ts';
import type { MetadataCache } from '../../src/repository/metadata-cache.ts';
import { never, openEngine, type Engine } from '../support/engine.ts';
import type { SeededRandom } from '../support/seeded-random.ts';

/** `stale`: true of an earlier state of the repository. `swapped`: one thing under the name of another. */
const LIES = ['stale', 'swapped', 'flipped'] as const;
type Lie = (typeof LIES)[number];

export interface StaleCacheResult {
  readonly rounds: number;
  /** Rounds in which packs were gone or the cache lied. */
  readonly struck: number;
  readonly packsRemoved: number;
  /** Answers that were not what had been kept. */
  readonly lies: number;
}

export async function sweepStaleCache(rounds: number, random: SeededRandom): Promise<StaleCacheResult> {
  await using engine = await openEngine();
  for (let d = 0; d < 4; d += 1) {
    mkdirSync(join(engine.source, `d${d}`));
    for (let f = 0; f < 6; f += 1) writeFileSync(join(engine.source, `d${d}`, `f${f}`), random.bytes(20_000));
  }
  const path = join(engine.directory, 'cache', 'one.db');
  const options = { path, key: Buffer.alloc(32, 7), limitBytes: 100_000_000, clock: systemClock };
  let [packsRemoved, lies, struck] = [0, 0, 0];
  for (let round = 0; round < rounds; round += 1) {
    const cache = new MetadataDatabase(options);
    const lie = LIES[round % LIES.length] ?? 'stale';
    const lying = lyingCache(cache, lie, random);
    const gone = round > 0 ? await removePacks(engine.calls, random) : 0;
    const file = join(engine.source, `d${random.below(4)}`, `f${random.below(6)}`);
    if (random.next() < 0.7) appendFileSync(file, random.bytes(50));
    const { snapshot } = await engine.backup(undefined, { repository: engine.repository.cachedBy(lying) });
    cache.close();
    packsRemoved += gone;
    lies += lying.lies();
    if (gone + lying.lies() > 0) struck += 1;
    await expectWhole(engine, snapshot.id, `round ${round}, ${lie}`);
  }
  return { rounds, struck, packsRemoved, lies };
}

interface LyingCache extends MetadataCache {
  lies(): number;
}

function lyingCache(cache: MetadataDatabase, lie: Lie, random: SeededRandom): LyingCache {
  let before: Buffer | undefined;
  let lies = 0;
  const changed = (bytes: Buffer): Buffer => {
    if (lie === 'swapped') return before ?? bytes;
    const copy = Buffer.from(bytes);
    const at = random.below(copy.length);
    copy[at] = (copy[at] ?? 0) ^ 4;
    return copy;
  };
  return {
    protection: cache.protection,
    read(name) {
      const kept = cache.read(name);
      if (kept === undefined || kept.length === 0 || lie === 'stale' || random.next() < 0.5) return kept;
      const given = changed(kept);
      before = kept;
      if (!given.equals(kept)) lies += 1;
      return given;
    },
    keep: (name, bytes) => cache.keep(name, bytes),
    lies: () => lies,
  };
}

/** One pack or several; returns how many. */
async function removePacks(destination: Destination, random: SeededRandom): Promise<number> {
  const packs: string[] = [];
  for await (const page of destination.list('packs/', never)) packs.push(...page.map(({ key }) => key));
  const gone = packs.filter(() => random.next() < 0.3);
  for (const key of gone) await destination.delete(key, never);
  return gone.length;
}

/** The newest snapshot is the source, and what is lost is lost to older ones alone. */
async function expectWhole(engine: Engine, id: string, what: string): Promise<void> {
  const newest = (await engine.snapshots()).at(-1);
  expect(newest?.id, what).toBe(id);
  if (newest === undefined) return;
  expect(await engine.differences(newest), what).toEqual([]);
  const options = { readData: 'all' as const, workers: 0 };
  const { findings } = await check(engine.repository, options, SILENT_CHECK, never);
  const struck = findings.filter(({ severity, snapshots }) => severity === 'error' && snapshots.includes(id));
  expect(struck, what).toEqual([]);
}
