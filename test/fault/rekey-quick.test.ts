/**
 * A rekey that ends before any one of its writes and removals, as a killed one does; `npm run test:sweep` kills the real
 * program. Whatever it had done, everything restores, and the next run does the rest.
 */
// Turn 6 of 8.
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { DestinationError } from '../../src/base/errors.ts';
import type { Destination } from '../../src/destination/destination.ts';
import { createMemoryDestination } from '../../src/destination/memory.ts';
import { SILENT_CHECK } from '../../src/repository/check/check-report.ts';
import { check } from '../../src/repository/check/check.ts';
import { surveyGenerations } from '../../src/repository/keys/generations.ts';
import { rotateKeys } from '../../src/repository/keys/keys.ts';
import { SILENT_PRUNE, prune } from '../../src/repository/prune/prune.ts';
import { SILENT_REKEY, rekey } from '../../src/repository/renew/rekey.ts';
import { createRepository, openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { listSnapshots } from '../../src/repository/snapshots.ts';
import { hookedDestination } from '../support/hooked-destination.ts';
import { manualClock, type ManualClock } from '../support/manual-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { lostFiles, tinyBackup, type TinyTree } from '../support/tiny-archiver.ts';

const HOUR = 3_600_000;
const { signal } = new AbortController();
const secret = { kind: 'machine' as const, secret: randomBytes(32) };
const TREES: readonly TinyTree[] = [files(1), files(2)];

function files(seed: number): TinyTree {
  const random = seededRandom(seed);
  return Object.fromEntries(Array.from({ length: 4 }, (_, i) => [`file${i}`, random.bytes(20_000)]));
}

interface Site {
  readonly clock: ManualClock;
  readonly memory: Destination;
}

/** Two snapshots under generation 1, and generation 2 for what comes. */
async function prepare(): Promise<Site> {
  const clock = manualClock();
  const memory = createMemoryDestination(() => clock.now());
  const secrets = [{ secret, label: 'test' }];
  const sizes = { packTarget: 65_536, segmentTarget: 65_536 };
  const options = { clock, stateDirectory: undefined, secrets, cost: { m: 64, t: 1, p: 1 }, ...sizes };
  const repository = await createRepository(memory, options, signal);
  for (const tree of TREES) {
    await tinyBackup(repository, tree, {}, signal);
    await clock.advance(1_000);
  }
  await rotateKeys(repository, signal);
  await clock.advance(1_000);
  return { clock, memory };
}

/** As a process that knows nothing of those before it. */
async function open({ clock }: Site, destination: Destination): Promise<Repository> {
  return await openRepository(destination, secret, { clock, stateDirectory: undefined }, signal);
}

/** Nothing is stored or removed any more from call `last` on; returns how many calls there were. */
async function rekeyUntil(site: Site, last: number): Promise<number> {
  let calls = 0;
  const count = (): void => {
    calls += 1;
    if (calls >= last) throw new DestinationError('denied', 'the process is dead', { op: 'store' });
  };
  const dying = hookedDestination(site.memory, { put: count, delete: count });
  const repository = await open(site, dying);
  const run = rekey(repository, {}, SILENT_REKEY, signal);
  if (last === Number.POSITIVE_INFINITY) await run;
  else {
    // Only the lease that cannot be released is no failure.
    await Promise.allSettled([run]);
    expect(calls).toBeGreaterThanOrEqual(last);
  }
  await site.clock.advance(HOUR);
  return calls;
}

async function expectSound(site: Site): Promise<void> {
  const repository = await open(site, site.memory);
  const { findings } = await check(repository, { readData: 'all', workers: 0 }, SILENT_CHECK, signal);
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  const { live } = await listSnapshots(repository, signal);
  const starts = [...new Set(live.map(({ record }) => record.startedMs))];
  expect(starts).toHaveLength(TREES.length);
  for (const snapshot of live) {
    const tree = TREES[starts.indexOf(snapshot.record.startedMs)] ?? {};
    expect(await lostFiles(repository, snapshot, tree, signal)).toEqual([]);
  }
}

async function pruneAfterGrace(site: Site): Promise<void> {
  await site.clock.advance(73 * HOUR);
  await prune(await open(site, site.memory), {}, SILENT_PRUNE, signal);
  await site.clock.advance(HOUR);
}

async function expectFinished(site: Site): Promise<void> {
  await pruneAfterGrace(site);
  await rekeyUntil(site, Number.POSITIVE_INFINITY);
  const repository = await open(site, site.memory);
  expect((await listSnapshots(repository, signal)).live).toHaveLength(TREES.length);
  const uses = await surveyGenerations(repository, signal);
  expect(uses.map(({ generation }) => generation)).toEqual([2]);
  await expectSound(site);
}

it('that ends at any moment of sealing anew leaves everything readable, and is continued', async () => {
  const calls = await rekeyUntil(await prepare(), Number.POSITIVE_INFINITY);
  expect(calls).toBeGreaterThan(20);
  for (let last = 1; last <= calls; last += 1) {
    const site = await prepare();
    await rekeyUntil(site, last);
    await expectSound(site);
    await rekeyUntil(site, Number.POSITIVE_INFINITY);
    if (last % 5 === 0) await expectFinished(site);
  }
});

it('that ends at any moment of retiring the old keys locks nobody out, and is continued', async () => {
  const rewritten = async (): Promise<Site> => {
    const site = await prepare();
    await rekeyUntil(site, Number.POSITIVE_INFINITY);
    await pruneAfterGrace(site);
    return site;
  };
  const calls = await rekeyUntil(await rewritten(), Number.POSITIVE_INFINITY);
  expect(calls).toBeGreaterThan(10);
  for (let last = 1; last <= calls; last += 1) {
    const site = await rewritten();
    await rekeyUntil(site, last);
    await expectSound(site);
    await expectFinished(site);
  }
});
