/**
 * Looks at what stands after a kill by the library in this process: a trial takes half as long as with a program for each
 * look. The commands that are killed, and those that are run again, are the real program.
 */
import { join, resolve } from 'node:path';
import { expect } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { RepositoryError } from '../../src/base/errors.ts';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import { SILENT_CHECK } from '../../src/repository/check/check-report.ts';
import { check } from '../../src/repository/check/check.ts';
import { surveyGenerations, type GenerationUse } from '../../src/repository/keys/generations.ts';
import { listKeys, type KeyInfo } from '../../src/repository/keys/keys.ts';
import { openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { listSnapshots, type Snapshot } from '../../src/repository/snapshots.ts';
import { secretOf } from '../../src/repository/slots/typed-secret.ts';
import { SILENT_RESTORE } from '../../src/restorer/request/request.ts';
import { restore } from '../../src/restorer/restore.ts';
import { snapshotDifferences } from '../support/compare-snapshot.ts';
import { removeTree } from '../support/remove-tree.ts';
import { wholeRestore } from '../support/whole-restore.ts';
import {
  byProgram,
  expectHarmless,
  expectSame,
  type CleanOptions,
  type CleanReport,
  type Judge,
} from './oracle.ts';
import { PASSPHRASE, type Place } from './program.ts';
import type { Workspace } from './workspace.ts';

const never = new AbortController().signal;

/** Opens the repository as the machine whose state lies at that place. */
async function openAt({ repository, state, passphrase }: Place): Promise<Repository> {
  const destination = await openLocalDestination(repository);
  const options = { clock: systemClock, stateDirectory: state, allowWeakCost: true };
  try {
    return await openRepository(destination, secretOf(passphrase ?? PASSPHRASE), options, never);
  } catch (error) {
    await destination.close();
    throw error;
  }
}

async function lookAt<T>(place: Place, look: (repository: Repository) => Promise<T>): Promise<T> {
  const repository = await openAt(place);
  try {
    return await look(repository);
  } finally {
    await repository.close();
  }
}

/** One kill in so many is judged by the program itself, the first of all included. */
const BY_PROGRAM_EVERY = 10;

/** @param kill which of a sweep, counted from 1 */
export function judgeOf(kill: number): Judge {
  return kill % BY_PROGRAM_EVERY === 1 ? byProgram : byLibrary;
}

export const byLibrary: Judge = {
  expectClean: async (place, options = { warnings: false }) =>
    await lookAt(place, async (repository) => await expectSound(repository, options)),
  snapshots: async (place) =>
    await lookAt(place, async (repository) => {
      const { live } = await listSnapshots(repository, never);
      return live.map(({ id, record }) => ({ id, first: record.original ?? id }));
    }),
  expectRestores: async (workspace, place, id, source, expected) =>
    await lookAt(place, async (repository) => {
      const snapshot = (await listSnapshots(repository, never)).live.find((one) => one.id === id);
      if (snapshot === undefined) throw new Error(`there is no snapshot ${id}`);
      await expectRestored(repository, snapshot, workspace.fresh(), { source, expected });
    }),
};

async function expectSound(repository: Repository, options: CleanOptions): Promise<CleanReport> {
  const plan = { readData: 'all', workers: 0 } as const;
  const { status, findings, counts } = await check(repository, plan, SILENT_CHECK, never);
  expectHarmless(findings, options);
  expect(status).toBe('ok');
  return { findings, packsUnreferenced: counts.packsUnreferenced };
}

/**
 * Nothing is damaged, every snapshot holds what stands at `source`, and the newest restores to it: `expected` is a copy.
 */
export async function expectWholeAt(
  place: Place,
  workspace: Workspace,
  source: string,
  expected: string,
): Promise<void> {
  await lookAt(place, async (repository) => {
    await expectSound(repository, { warnings: true });
    const { live } = await listSnapshots(repository, never);
    for (const snapshot of live)
      expect(await snapshotDifferences(repository, snapshot, source, never), snapshot.id).toEqual([]);
    const newest = live.at(-1);
    if (newest !== undefined)
      await expectRestored(repository, newest, workspace.fresh(), { source, expected });
  });
}

/** All of the newest snapshot, to a directory that is not there yet. */
export async function restoreNewest(place: Place, target: string): Promise<void> {
  await lookAt(place, async (repository) => {
    const newest = (await listSnapshots(repository, never)).live.at(-1);
    if (newest === undefined) throw new Error('there is no snapshot');
    await restoreAll(repository, newest, target);
  });
}

async function restoreAll(repository: Repository, snapshot: Snapshot, target: string): Promise<void> {
  const summary = await restore(wholeRestore(repository, snapshot, target), SILENT_RESTORE, never);
  expect(summary.status).toBe('complete');
}

async function expectRestored(
  repository: Repository,
  snapshot: Snapshot,
  target: string,
  { source, expected }: { readonly source: string; readonly expected: string },
): Promise<void> {
  try {
    await restoreAll(repository, snapshot, target);
    expectSame(expected, join(target, resolve(source)));
  } finally {
    removeTree(target);
  }
}

/** Ids of the live snapshots, oldest first. */
export async function snapshotsAt(place: Place): Promise<readonly string[]> {
  return await lookAt(place, async (repository) =>
    (await listSnapshots(repository, never)).live.map(({ id }) => id),
  );
}

export async function opensWith(place: Place, passphrase: string): Promise<boolean> {
  try {
    const repository = await openAt({ ...place, passphrase });
    await repository.close();
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(RepositoryError);
    expect((error as RepositoryError).code).toBe('WRONG_PASSPHRASE');
    return false;
  }
}

export async function keysAt(place: Place): Promise<readonly KeyInfo[]> {
  return await lookAt(place, async (repository) => await listKeys(repository, never));
}

export async function generationsAt(place: Place): Promise<readonly GenerationUse[]> {
  return await lookAt(place, async (repository) => await surveyGenerations(repository, never));
}
