/**
 * Everything that a machine knew is gone, at rest or in the middle of a backup: a new one, which has the destination and
 * the recovery code alone, gets every file back, and its agent carries on without storing again what is stored.
 * `test/bench/lost-machine-bench.ts` does the same with a million files.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { removeTree } from '../support/remove-tree.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { prepareAgent, startAgent, storeSettings } from './agent-program.ts';
import { changeCorpus, copyAside, makeCorpus, QUICK_SCALE } from './corpus.ts';
import { expectClean, expectRestores, measureStoredAgain, snapshotIds } from './oracle.ts';
import { countCalls, jsonLines, runAndKill, succeed, type Place } from './program.ts';
import { listRepository } from './stored-objects.ts';
import { WEAK_COST, type Workspace } from './workspace.ts';

export interface LostMachines {
  readonly atRest: number;
  readonly atWork: number;
  /** Until the first file was back, in milliseconds, at most. */
  readonly slowestMs: number;
  /** Of chunks that were stored already, stored once more by the new machines. */
  readonly againBytes: number;
}

/** Until the first file is back. */
const MOST_MS = 60_000;
/** Of each round, removed at its end. */
const DIRECTORY = 'lost';
/** Directories above the source have times of their own. */
const MOST_AGAIN_BYTES = 20_000;

export async function sweepLostMachines(
  workspace: Workspace,
  count: number,
  random: SeededRandom,
): Promise<LostMachines> {
  const total = { atRest: 0, atWork: 0, slowestMs: 0, againBytes: 0 };
  for (let round = 0; round < count; round += 1) {
    const lost = await loseOne(workspace, round % 2 === 1, random);
    if (lost.isAtWork) total.atWork += 1;
    else total.atRest += 1;
    total.slowestMs = Math.max(total.slowestMs, await expectFirstFile(workspace, lost));
    await expectAllRestore(workspace, lost);
    total.againBytes = Math.max(total.againBytes, await expectAgentCarriesOn(workspace, lost));
    removeTree(workspace.path(DIRECTORY));
  }
  return total;
}

/** What is left: the destination, the recovery code, and here the files, to compare with. */
interface Lost {
  readonly repository: string;
  readonly recoveryCode: string;
  readonly source: string;
  /** What each snapshot restores to, the newest last. */
  readonly versions: ReadonlyMap<string, string>;
  readonly isAtWork: boolean;
}

async function loseOne(workspace: Workspace, isAtWork: boolean, random: SeededRandom): Promise<Lost> {
  const at = (name: string): string => workspace.path(join(DIRECTORY, name));
  const place = { repository: at('repository'), state: at('state'), cache: workspace.path('cache') };
  const source = at('source');
  makeCorpus(source, QUICK_SCALE, random);
  await workspace.createAt(place, { packTarget: 1_000_000, segmentTarget: 250_000, cost: WEAK_COST });
  const [added] = jsonLines(await succeed(place, ['keys', 'add', '--recovery-code', '--json']));
  const versions = new Map<string, string>();
  const nowSaved = async (version: string): Promise<void> => {
    for (const id of await snapshotIds(place)) if (!versions.has(id)) versions.set(id, version);
  };
  for (const version of [1, 2]) {
    if (version > 1) changeCorpus(source, version, random);
    await succeed(place, ['backup', source]);
    copyAside(source, at(`version-${version}`));
    await nowSaved(at(`version-${version}`));
  }
  if (isAtWork) {
    changeCorpus(source, 3, random);
    copyAside(source, at('version-3'));
    const killed = workspace.copy(place, 'counted');
    const calls = await countCalls(killed, ['backup', source]);
    workspace.drop(killed);
    // Once something is stored.
    const number = Math.ceil(calls * (0.4 + 0.6 * random.next()));
    await runAndKill(place, ['backup', source], { kind: 'call', number });
    await nowSaved(at('version-3'));
  }
  removeTree(place.state);
  return { ...place, recoveryCode: String(added?.['recovery_code']), source, versions, isAtWork };
}

/** One that has never seen the repository. */
function newMachine(workspace: Workspace, { repository, recoveryCode }: Lost, name: string): Place {
  const state = workspace.path(join(DIRECTORY, name));
  return { repository, state, cache: workspace.path('cache'), passphrase: recoveryCode };
}

/** Returns how long it took. */
async function expectFirstFile(workspace: Workspace, lost: Lost): Promise<number> {
  const place = newMachine(workspace, lost, 'first-file');
  const wanted = join(lost.source, 'oddities', 'twin-b');
  const target = workspace.fresh();
  const began = performance.now();
  await succeed(place, ['restore', 'latest', wanted, '--target', target]);
  const tookMs = performance.now() - began;
  const newest = [...lost.versions.values()].at(-1) ?? '';
  expect(readFileSync(join(target, wanted))).toEqual(readFileSync(join(newest, 'oddities', 'twin-b')));
  removeTree(target);
  expect(tookMs).toBeLessThan(MOST_MS);
  return tookMs;
}

async function expectAllRestore(workspace: Workspace, lost: Lost): Promise<void> {
  const place = newMachine(workspace, lost, 'everything');
  expect(await snapshotIds(place)).toEqual([...lost.versions.keys()]);
  for (const [id, version] of lost.versions) await expectRestores(workspace, place, id, lost.source, version);
}

/** Told of the recovery code as the passphrase of its destination. Returns the bytes that it stored once more. */
async function expectAgentCarriesOn(workspace: Workspace, lost: Lost): Promise<number> {
  const place = newMachine(workspace, lost, 'agent');
  const before = listRepository(lost.repository);
  const writers = readdirSync(join(lost.repository, 'heads')).length;
  const agent = await startAgent(await prepareAgent(place, storeSettings(place)));
  try {
    const { id } = await agent.submit('/backup', { source: lost.source });
    expect(await agent.finished('/backup', id)).toMatchObject({ status: 'completed', error: null });
  } finally {
    await agent.stop();
  }
  const after = listRepository(lost.repository);
  const { againBytes } = await measureStoredAgain(place, before, before, after);
  expect(againBytes).toBeLessThan(MOST_AGAIN_BYTES);
  expect(readdirSync(join(lost.repository, 'heads')).length - writers).toBeLessThanOrEqual(1);
  const { findings } = await expectClean(place, { warnings: lost.isAtWork });
  // A backup that died just after its commit had no time for it, and nobody writes as that machine again.
  for (const { severity, what } of findings)
    if (severity === 'warning') expect(what).toMatch(/^there is no head for record/);
  const ids = await snapshotIds(place);
  expect(ids).toHaveLength(lost.versions.size + 1);
  const now = workspace.path(join(DIRECTORY, 'now'));
  copyAside(lost.source, now);
  await expectRestores(workspace, place, ids.at(-1) ?? '', lost.source, now);
  return againBytes;
}
