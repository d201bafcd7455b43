// Turn 1 of 8.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { FromEngine } from '../../../src/engine/protocol.ts';
import type { EngineEnd, RunningEngine } from '../../../src/jobs/engine-launcher.ts';
import {
  createEngineProcesses,
  type EngineProcesses,
  type EngineProcessSetup,
} from '../../../src/jobs/engine-process.ts';
import { newJob } from '../../../src/jobs/job-states.ts';
import { CODE_CACHE } from '../../support/code-cache.ts';
import { isAlive } from '../../support/is-alive.ts';
import { SOURCE_FLAGS } from '../../support/node-flags.ts';
import { backupOf, engineJobOf } from './runner-site.ts';

const entry = fileURLToPath(new URL('./scripted-engine.ts', import.meta.url));
const ENVIRONMENT = { PATH: '/usr/bin:/bin', NODE_COMPILE_CACHE: CODE_CACHE };
let processes: EngineProcesses | undefined;

afterEach(async () => {
  await processes?.close();
  processes = undefined;
});

function open(change: Partial<EngineProcessSetup> = {}): EngineProcesses {
  processes = createEngineProcesses({
    clock: systemClock,
    environment: ENVIRONMENT,
    entry,
    execArgv: SOURCE_FLAGS,
    ...change,
  });
  return processes;
}

interface Started extends RunningEngine {
  readonly messages: readonly FromEngine[];
  /** Resolves at the first message of this kind. */
  said(kind: FromEngine['kind']): Promise<FromEngine>;
}

function start(launcher: EngineProcesses, id: string): Started {
  const messages: FromEngine[] = [];
  const waiting = new Set<() => void>();
  const { job } = newJob(id, backupOf('/a'), 'api', 0);
  const engine = launcher.start({ ...engineJobOf(job), id }, (message) => {
    messages.push(message);
    for (const wake of waiting) wake();
  });
  const said = async (kind: FromEngine['kind']): Promise<FromEngine> => {
    for (;;) {
      const found = messages.find((message) => message.kind === kind);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => waiting.add(resolve));
    }
  };
  return { ...engine, messages, said };
}

const pidOf = (messages: readonly FromEngine[]): number => {
  const last = messages.at(-1);
  if (last?.kind !== 'completed') throw new Error('the job did not complete');
  return Number(last.outcome.snapshotId);
};

const fine: EngineEnd = { code: 0, signal: null };

describe('an engine process', () => {
  it('runs a job and is kept for the next one, for a while', async () => {
    const launcher = open({ times: { warmMs: 2_000 } });
    const first = start(launcher, 'one');
    expect(await first.ended).toEqual(fine);
    const second = start(launcher, 'two');
    expect(await second.ended).toEqual(fine);
    const pid = pidOf(first.messages);
    expect(pidOf(second.messages)).toBe(pid);
    await expect.poll(() => isAlive(pid), { timeout: 30_000 }).toBe(false);
    const third = start(launcher, 'three');
    await third.ended;
    expect(pidOf(third.messages)).not.toBe(pid);
  });

  it('runs one job at a time: two at once are two processes', async () => {
    const launcher = open();
    const hanging = start(launcher, 'hang');
    await hanging.said('phase');
    const other = start(launcher, 'one');
    await other.ended;
    expect(pidOf(other.messages)).toBeGreaterThan(0);
    hanging.cancel();
    expect(await hanging.ended).toEqual(fine);
    expect(hanging.messages.at(-1)).toEqual({ kind: 'canceled' });
  });

  it('may die, which is told and harms nothing else', async () => {
    const launcher = open();
    expect(await start(launcher, 'die').ended).toEqual({ code: null, signal: 'SIGKILL' });
    expect(await start(launcher, 'exit').ended).toEqual({ code: 3, signal: null });
    expect(await start(launcher, 'one').ended).toEqual(fine);
  });

  it('that failed a job gets no other', async () => {
    const launcher = open();
    const failing = start(launcher, 'fail');
    expect(await failing.ended).toEqual(fine);
    expect(failing.messages.at(-1)).toMatchObject({ kind: 'failed' });
    expect(await start(launcher, 'one').ended).toEqual(fine);
  });

  it('is killed when it does not stop in time', async () => {
    const launcher = open({ times: { stopMs: 200 } });
    const deaf = start(launcher, 'deaf');
    await deaf.said('phase');
    await deaf.stop();
    expect(await deaf.ended).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('is killed when it does not become ready', async () => {
    const environment = { ...ENVIRONMENT, ENGINE_STARTS: 'never' };
    const launcher = open({ environment, times: { startMs: 300 } });
    const silent = start(launcher, 'one');
    expect(await silent.ended).toEqual({ code: null, signal: 'SIGKILL', notReadyAfterMs: 300 });
  });

  it('that cannot start is told, not thrown', async () => {
    const silent = start(open({ entry: '/nowhere/engine.js' }), 'one');
    expect(await silent.ended).toEqual({ code: 1, signal: null });
    expect(JSON.stringify(silent.messages)).toContain('Cannot find module');
  });

  it('hears of another limit, and what it prints is kept', async () => {
    const launcher = open();
    const hanging = start(launcher, 'hang');
    await hanging.said('phase');
    hanging.limit(5_000);
    expect(await hanging.said('note')).toEqual({ kind: 'note', text: 'limit 5000' });
    hanging.cancel();
    const noisy = start(launcher, 'noise');
    expect(await noisy.said('note')).toEqual({ kind: 'note', text: 'engine: something is odd' });
    noisy.cancel();
    await noisy.ended;
  });

  it('that dies is heard to its last word, which has no line end', async () => {
    const dying = start(open(), 'last words');
    expect(await dying.ended).toEqual({ code: null, signal: 'SIGKILL' });
    const notes = dying.messages.flatMap((message) => (message.kind === 'note' ? [message.text] : []));
    expect(notes).toEqual([`engine: ${'x'.repeat(16_000)}`, 'engine: out of memory']);
  });

  it('gives way to everything else', async () => {
    const launcher = open();
    const engine = start(launcher, 'hang');
    await engine.said('phase');
    const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'latin1');
    const pids = children.trim().split(' ').map(Number);
    const pid = pids.find((one) =>
      readFileSync(`/proc/${one}/cmdline`, 'latin1').includes('scripted-engine'),
    );
    const threads = readdirSync(`/proc/${pid}/task`).map(Number);
    expect(threads.length).toBeGreaterThan(1);
    for (const thread of threads) expect(getPriority(thread)).toBe(10);
    const endedSooner = (of: string): number => Number(readFileSync(`/proc/${of}/oom_score_adj`, 'latin1'));
    expect(endedSooner(String(pid))).toBeGreaterThan(endedSooner('self'));
    const idle = (): boolean =>
      execFileSync('ionice', ['-p', String(pid)], { encoding: 'latin1' }).trim() === 'idle';
    await expect.poll(idle).toBe(true);
    await engine.stop();
  });

  it('is ended with the launcher, whatever it does', async () => {
    const launcher = open({ times: { stopMs: 200 } });
    const deaf = start(launcher, 'deaf');
    await deaf.said('phase');
    await launcher.close();
    expect(await deaf.ended).toEqual({ code: null, signal: 'SIGKILL' });
  });
});
