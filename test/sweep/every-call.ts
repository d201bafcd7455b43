/**
 * Fails every call that an operation makes of its destination, one after the other, in every way there is, and holds
 * what comes after to what was promised: a typed error or the whole effect, nothing committed lost, and a next run that
 * succeeds.
 */
import { expect } from 'vitest';
import { HoldfastError } from '../../src/base/errors.ts';
import type { Destination } from '../../src/destination/destination.ts';
import { listSnapshots } from '../../src/repository/snapshots.ts';
import { failingCalls, MOST_FAILURES, waysOf, type FailingCalls } from '../support/failing-calls.ts';
import { removeTree } from '../support/remove-tree.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import {
  AN_HOUR_MS,
  checkAll,
  contentsOf,
  destinationOf,
  makeSite,
  open,
  OPERATIONS,
  placeFor,
  shownTree,
  type CallSite,
  type Operation,
} from './every-call-operations.ts';
import type { Workspace } from './workspace.ts';

const never = new AbortController().signal;

export interface EveryCallPlan {
  /** Only each so many-th call of an operation. */
  readonly every: number;
  /** Each call in every way in which it can fail; else one way each. */
  readonly allWays: boolean;
  readonly random: SeededRandom;
  readonly tell?: (operation: string, done: number) => void;
}

export interface EveryCallResult {
  /** How many failures each operation was put through. */
  readonly failures: ReadonlyMap<string, number>;
  /** What did not hold. */
  readonly violations: readonly string[];
}

export async function sweepEveryCall(workspace: Workspace, plan: EveryCallPlan): Promise<EveryCallResult> {
  const site = await makeSite(workspace, plan.random);
  const failures = new Map<string, number>();
  const violations: string[] = [];
  for (const operation of OPERATIONS) {
    const count = await failAll(site, operation, plan, violations);
    failures.set(operation.name, count);
    plan.tell?.(operation.name, count);
  }
  return { failures, violations };
}

/** The last number tried is one that the operation does not come to any more. */
async function failAll(
  site: CallSite,
  operation: Operation,
  { every, allWays, random }: EveryCallPlan,
  violations: string[],
): Promise<number> {
  let failures = 0;
  for (let nth = 1 + random.below(Math.min(every, 3)); ; nth += every) {
    const first = allWays ? 0 : random.below(MOST_FAILURES);
    for (let way = first, ways = first + 1; way < ways; way += 1) {
      const destination = await placeFor(site, operation);
      const failing = failingCalls(destination, nth, way);
      try {
        await expectHolds(site, operation, destination, failing);
      } catch (error) {
        violations.push(`${shownHit(operation, failing)}: ${String(error)}`);
      }
      const hit = failing.hit();
      if (hit === undefined) return failures;
      failures += 1;
      if (allWays) ways = waysOf(hit);
    }
  }
}

function shownHit({ name }: Operation, failing: FailingCalls): string {
  const hit = failing.hit();
  if (hit === undefined) return `${name}, undisturbed`;
  return `${name} with ${hit.method} ${hit.key} (call ${hit.number}, ${hit.failure})`;
}

/** Does the operation once with the failure, looks at what it left, and does it again without. */
async function expectHolds(
  site: CallSite,
  operation: Operation,
  destination: Destination,
  failing: FailingCalls,
): Promise<void> {
  const target = site.workspace.fresh();
  const error = await operation.run(site, failing, target).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  removeTree(target);
  if (failing.hit() === undefined) expect(error).toBeUndefined();
  if (error === undefined) expect(await operation.achieved?.(site, destination), 'done').not.toBe(false);
  else expectTyped(error);
  if (operation.on === 'site') await expectNothingLost(site, operation, destination);
  await expectNextRun(site, operation, destination);
}

/** The error of the side that failed. */
function expectTyped(error: unknown): void {
  const side = error instanceof HoldfastError ? error.side : 'none';
  expect(['destination', 'repository'], String(error)).toContain(side);
}

/** Every snapshot is there as it was, and every chunk that one needs. */
async function expectNothingLost(
  site: CallSite,
  { forgets }: Operation,
  destination: Destination,
): Promise<void> {
  const repository = await open(destination);
  const { findings } = await checkAll(repository);
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  const { live } = await listSnapshots(repository, never);
  const ids = live.map(({ id }) => id);
  const needed = [...site.trees.keys()].slice(forgets === true ? -1 : 0);
  expect(ids).toEqual(expect.arrayContaining(needed));
  for (const snapshot of live) {
    const tree = site.trees.get(snapshot.id);
    if (tree !== undefined) expect(await shownTree(repository, snapshot)).toBe(tree);
  }
}

/** The same operation, an hour later, does all that it is to do. */
async function expectNextRun(site: CallSite, operation: Operation, destination: Destination): Promise<void> {
  const later = await destinationOf(await contentsOf(destination, AN_HOUR_MS));
  const target = site.workspace.fresh();
  try {
    await operation.run(site, later, target);
    expect(await operation.achieved?.(site, later), 'done by the next run').not.toBe(false);
    if (operation.on === 'site') await expectNothingLost(site, operation, later);
  } catch (error) {
    throw new Error(`the next run: ${String(error)}`, { cause: error });
  } finally {
    removeTree(target);
  }
}
