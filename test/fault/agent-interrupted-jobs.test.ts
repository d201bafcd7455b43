/** What becomes of jobs of every kind when their engine process dies, or the agent is stopped, in the middle of them. */
// Turn 8 of 8.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Job, JobSpec } from '../../src/jobs/job.ts';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import { openQueueSite, threadsOf, type QueueSite } from '../support/queue-site.ts';

let queue: QueueSite;
let snapshot: string;
let targets = 0;

beforeAll(async () => {
  queue = openQueueSite();
  for (let i = 0; i < 60; i += 1) queue.site.write({ [`d${i % 7}/file${i}`]: randomBytes(100_000) });
  const first = await queue.ended(queue.submit(queue.site.backup()).id);
  expect(first).toMatchObject({ status: 'completed', attempt: 1 });
  snapshot = first.snapshot_id ?? '';
});

afterAll(async () => {
  await queue[Symbol.asyncDispose]();
});

function targetPath(): string {
  return join(queue.site.directory, `target-${targets}`);
}

/** One job of each kind but backups, with something to do. */
const KINDS: readonly (readonly [JobSpec['type'], () => JobSpec])[] = [
  [
    'restore',
    () => {
      targets += 1;
      return queue.site.restore(snapshot, targetPath());
    },
  ],
  ['check', () => ({ type: 'check', destination: 'default', read_data: 1 })],
  ['prune', () => ({ type: 'prune', destination: 'default', apply_retention: false })],
  ['drill', () => ({ type: 'drill', destination: 'default', files: 30 })],
];

/** Interrupts a job at work; again with another one when it was over before it could be hit. */
async function interrupted(
  specOf: () => JobSpec,
  hit: () => unknown,
  isHit: (job: Job) => boolean,
): Promise<Job> {
  for (let tries = 0; tries < 20; tries += 1) {
    const { id } = queue.submit(specOf());
    await queue.atWork(id, hit);
    const job = await queue.ended(id);
    if (isHit(job)) return job;
  }
  throw new Error('every job was over before it could be interrupted');
}

function expectWhole(type: JobSpec['type']): void {
  if (type === 'restore')
    expect(
      compareTrees(queue.site.source, join(targetPath(), queue.site.source)).map(shownDifference),
    ).toEqual([]);
  expect(readdirSync(queue.site.state).filter((name) => name.startsWith('drill-'))).toEqual([]);
  expect(queue.troubles).toEqual([]);
}

describe('an engine process that dies', () => {
  const SIGNALS: Readonly<Record<string, NodeJS.Signals>> = {
    restore: 'SIGSEGV',
    check: 'SIGABRT',
    prune: 'SIGKILL',
    drill: 'SIGBUS',
  };

  test.each(KINDS)('in the middle of a %s costs that attempt alone', async (type, specOf) => {
    const job = await interrupted(
      specOf,
      () => {
        for (const pid of queue.engines()) process.kill(pid, SIGNALS[type] ?? 'SIGKILL');
      },
      ({ attempt }) => attempt > 1,
    );
    expect(job).toMatchObject({ status: 'completed', attempt: 2, error: null });
    expectWhole(type);
  });

  test('while it waits for the next job is replaced by another one', async () => {
    const [warm] = queue.engines();
    expect(warm).toBeGreaterThan(0);
    process.kill(warm ?? 0, 'SIGKILL');
    // At once, before anybody can have noticed.
    const job = await queue.ended(queue.submit({ type: 'check', destination: 'default', read_data: 0 }).id);
    expect(job.status).toBe('completed');
    while (queue.engines().includes(warm ?? 0)) await delay(10);
    const next = await queue.ended(queue.submit({ type: 'check', destination: 'default', read_data: 0 }).id);
    expect(next).toMatchObject({ status: 'completed', attempt: 1 });
  });
});

test('an engine process gives way to everything else with all of its threads', async () => {
  const { id } = queue.submit({ type: 'check', destination: 'default', read_data: 1 });
  const seen = await queue.atWork(id, () =>
    queue.engines().map((pid) => ({
      threads: threadsOf(pid),
      disk: execFileSync('ionice', ['-p', String(pid)], { encoding: 'latin1' }).trim(),
    })),
  );
  expect(seen).toHaveLength(1);
  expect(seen[0]?.disk).toBe('idle');
  expect(seen[0]?.threads.length).toBeGreaterThan(4);
  expect(seen[0]?.threads.filter(({ nice }) => nice !== 10)).toEqual([]);
  await queue.ended(id);
});

describe('a planned stop', () => {
  test.each(KINDS.filter(([type]) => type !== 'drill'))(
    'in the middle of a %s is not counted, and the job goes on at the next start',
    async (type, specOf) => {
      const job = await interrupted(
        specOf,
        async () => {
          await queue.stop();
          queue.start();
        },
        ({ id }) => queue.log(id).includes('Stopped; it will continue later.'),
      );
      expect(job).toMatchObject({ status: 'completed', attempt: 1, error: null });
      expectWhole(type);
    },
  );
});
