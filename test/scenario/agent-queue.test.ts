/** The queue with real engine processes, a real repository and the state on disk. */
// Turn 7 of 8.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { StateError } from '../../src/base/errors.ts';
import { createEngineProcesses, type EngineProcesses } from '../../src/jobs/engine-process.ts';
import { createJobBook, type JobBook } from '../../src/jobs/job-book.ts';
import type { Job } from '../../src/jobs/job.ts';
import { openAgentState, type AgentState } from '../../src/jobs/open-state.ts';
import { placesByName } from '../../src/jobs/queue.ts';
import type { JobHost } from '../../src/jobs/job-host.ts';
import { Runner, type RunnerParts } from '../../src/jobs/runner.ts';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import { SOURCE_FLAGS } from '../support/node-flags.ts';
import { engineEnvironment, openSite, type EngineSite } from '../unit/engine/engine-process.ts';
import { restoredPath } from '../support/restored-path.ts';

interface Agent {
  readonly state: AgentState;
  readonly book: JobBook;
  readonly runner: Runner;
  readonly processes: EngineProcesses;
  readonly troubles: unknown[];
  stop(): Promise<void>;
}

const { signal } = new AbortController();
let site: EngineSite;
let agent: Agent;
/** Bytes per second. */
let uploadLimit: number | null;

function startAgent(): Agent {
  const state = openAgentState(site.state, systemClock);
  const book = createJobBook(state, systemClock);
  const troubles: unknown[] = [];
  const processes = createEngineProcesses({
    clock: systemClock,
    environment: engineEnvironment(),
    execArgv: SOURCE_FLAGS,
  });
  const setup: RunnerParts & JobHost = {
    book,
    settings: state.database.settings,
    launcher: processes,
    clock: systemClock,
    boot: () => 'this one',
    placesOf: placesByName,
    environment: {},
    waitingReason: async () => await Promise.resolve(null),
    prepare: async ({ id, spec }) =>
      await Promise.resolve(site.job(spec, { id, destination: { uploadLimit } })),
    hooksOf: () => null,
    hookRuns: () => () => undefined,
    uploadLimit: () => uploadLimit,
    completed: () => undefined,
    opened: () => undefined,
    began: () => undefined,
    tried: () => undefined,
    keepEnd: () => undefined,
    endDelayed: () => undefined,
    ended: () => undefined,
    trouble: (error) => troubles.push(error),
    heldUp: () => undefined,
    warned: () => undefined,
    judged: (_, outcome) => outcome,
  };
  const runner = new Runner(setup);
  runner.attach(setup);
  runner.start();
  const stop = async (): Promise<void> => {
    await runner.close();
    await processes.close();
    state.close();
  };
  return { state, book, runner, processes, troubles, stop };
}

beforeEach(() => {
  site = openSite();
  uploadLimit = null;
  agent = startAgent();
});

afterEach(async () => {
  await agent.stop();
  site[Symbol.dispose]();
});

const ended = async (id: string): Promise<Job> => await agent.book.waitFor(id, 60_000, signal);

async function until(what: string, holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 3_000; tries += 1) {
    if (holds()) return;
    await delay(10);
  }
  throw new Error(`${what} did not come true`);
}

function snapshots(): readonly string[] {
  if (!existsSync(join(site.store, 'snapshots'))) return [];
  return readdirSync(join(site.store, 'snapshots'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
}

/** Process ids of the engines of this agent. */
function enginePids(): readonly number[] {
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'latin1');
  return children
    .trim()
    .split(' ')
    .filter((pid) => pid !== '')
    .map(Number)
    .filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('engine-main'));
}

/** Two packs of data that do not compress, stored slowly enough to be interrupted. */
/** Enough that each of two readers fills more than one pack: the first ones are stored long before the last. */
const SLOW_FILES = 12;

function fillSlowly(): void {
  for (let index = 0; index < SLOW_FILES; index += 1)
    site.write({ [`file${index}`]: randomBytes(8_000_000) });
  uploadLimit = 20_000_000;
}

async function expectRestored(snapshot: string): Promise<void> {
  const target = join(site.directory, 'target');
  const job = await ended(agent.runner.submit(site.restore(snapshot, target), 'api').id);
  expect(job).toMatchObject({ status: 'completed', error: null });
  expect(compareTrees(site.source, restoredPath(target, site.source)).map(shownDifference)).toEqual([]);
}

describe('a backup that is queued', () => {
  it('completes with a snapshot that restores byte for byte', async () => {
    site.write({ 'a.txt': 'first', 'deep/b.txt': 'second', large: randomBytes(500_000) });
    const job = await ended(agent.runner.submit(site.backup(), 'api').id);
    expect(job).toMatchObject({
      status: 'completed',
      result: 'success',
      files_done: 3,
      size_bytes: 500_011,
      attempt: 1,
      phase: null,
      snapshot_id: snapshots()[0],
    });
    await expectRestored(job.snapshot_id ?? '');
    expect(agent.troubles).toEqual([]);
  });

  it('fails with what is wrong, and the next one runs', async () => {
    site.write({ 'a.txt': 'first' });
    const spec = { ...site.backup(), source: join(site.directory, 'absent') };
    const job = await ended(agent.runner.submit(spec, 'api').id);
    expect(job.status).toBe('failed');
    expect(job.error?.message).toContain('absent');
    expect(await ended(agent.runner.submit(site.backup(), 'api').id)).toMatchObject({ status: 'completed' });
  });

  it('goes on in another process when its own is killed', async () => {
    fillSlowly();
    const { id } = agent.runner.submit(site.backup(), 'api');
    await until('something is stored', () => agent.book.record(id).bookkeeping.stored > 0);
    uploadLimit = null;
    for (const pid of enginePids()) process.kill(pid, 'SIGKILL');
    const job = await ended(id);
    expect(job).toMatchObject({ status: 'completed', attempt: 2, files_done: SLOW_FILES });
    expect(job.snapshot_id).toBe(snapshots()[0]);
    expect(snapshots()).toHaveLength(1);
    await expectRestored(job.snapshot_id ?? '');
  });

  it('goes on after a planned stop of the agent as if nothing had been', async () => {
    fillSlowly();
    const { id } = agent.runner.submit(site.backup(), 'api');
    await until('it uploads', () => agent.book.record(id).job.phase === 'uploading');
    const begun = systemClock.monotonic();
    await agent.stop();
    expect(systemClock.monotonic() - begun).toBeLessThan(10_000);
    uploadLimit = null;
    agent = startAgent();
    expect(await ended(id)).toMatchObject({ status: 'completed', attempt: 1, files_done: SLOW_FILES });
    expect(snapshots()).toHaveLength(1);
  });

  it('ends without a snapshot when it is canceled', async () => {
    fillSlowly();
    const { id } = agent.runner.submit(site.backup(), 'api');
    await until('it uploads', () => agent.book.record(id).job.phase === 'uploading');
    agent.runner.cancel(id);
    expect(await ended(id)).toMatchObject({ status: 'canceled', snapshot_id: null });
    expect(snapshots()).toEqual([]);
  });

  it('completes with the snapshot it had made when the agent could not write that down', async () => {
    site.write({ 'a.txt': 'first' });
    const { journal } = agent.state;
    const { append } = journal;
    const { id } = agent.runner.submit(site.backup(), 'api');
    await until('it runs', () => agent.book.record(id).job.status === 'running');
    Object.assign(journal, {
      append: () => {
        throw new StateError('WRITE_ERROR', 'The disk is full');
      },
    });
    await until('its end is lost', () => agent.troubles.length > 0);
    const [made] = snapshots();
    expect(agent.book.record(id).job.status).toBe('running');
    Object.assign(journal, { append });
    await agent.stop();
    agent = startAgent();
    site.write({ 'b.txt': 'later' });
    expect(await ended(id)).toMatchObject({ status: 'completed', attempt: 2, snapshot_id: made });
    expect(snapshots()).toEqual([made]);
  });
});
