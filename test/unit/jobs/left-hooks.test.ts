// Turn 7 of 8.
import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { endLeftHook, noteHook, type RunningHook } from '../../../src/jobs/left-hooks.ts';
import { isAlive } from '../../support/is-alive.ts';
import { backupOf, runnerSite } from './runner-site.ts';

const { signal } = new AbortController();
const groups: number[] = [];
afterEach(() => {
  for (const pid of groups.splice(0)) {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
});

/** What a killed agent leaves: a shell that leads a group, and a child of it. */
async function left(command = 'sleep 60 & echo $!; wait', job = 'bkp_1'): Promise<readonly [number, number]> {
  const env = { PATH: '/usr/bin:/bin', HOLDFAST_JOB_ID: job };
  const child = spawn(command, { shell: true, detached: true, stdio: ['ignore', 'pipe', 'ignore'], env });
  const pid = Number(child.pid);
  groups.push(pid);
  const inner = await new Promise<number>((resolve) => {
    child.stdout.once('data', (bytes: Buffer) => resolve(Number(bytes.toString())));
  });
  return [pid, inner];
}

function storeWith(hook: Partial<RunningHook> & Pick<RunningHook, 'pid'>, change: object = {}) {
  const values = new Map<string, string>();
  const store = {
    get: (key: string) => values.get(key),
    set: (key: string, value: string | undefined) =>
      void (value === undefined ? values.delete(key) : values.set(key, value)),
  };
  const whole = {
    source: '/src',
    job: 'bkp_1',
    when: 'before',
    untilMs: Date.now() + 60_000,
    ...hook,
  } as const;
  noteHook(store, whole, Date.now());
  for (const [key, text] of values) values.set(key, JSON.stringify({ ...JSON.parse(text), ...change }));
  return { values, store };
}

async function end({ store }: ReturnType<typeof storeWith>, source = '/src'): Promise<string> {
  const told: string[] = [];
  await endLeftHook(store, source, systemClock, (text) => told.push(text), signal);
  return told.join(' ');
}

describe.runIf(process.platform === 'linux')('a command that outlived the agent', () => {
  it('is ended with all that it started, and told', async () => {
    const [pid, inner] = await left();
    const noted = storeWith({ pid });
    expect(await end(noted, '/other')).toBe('');
    expect(isAlive(inner)).toBe(true);
    expect(await end(noted)).toBe(
      `The command before an earlier job (process ${pid}) outlived the agent that ran it. It was ended.`,
    );
    expect([pid, inner].map(isAlive)).toEqual([false, false]);
    expect(noted.values.size).toBe(0);
  });

  it('is ended when its shell is gone already, and when it ignores SIGTERM', async () => {
    const [pid, inner] = await left('trap "" TERM; sleep 60 & echo $!; wait');
    const noted = storeWith({ pid });
    process.kill(pid, 'SIGKILL');
    await delay(50);
    await end(noted);
    expect(isAlive(inner)).toBe(false);
  });

  it('is left alone when it may be another process with the same number', async () => {
    const [pid, inner] = await left(undefined, 'bkp_2');
    for (const change of [{ start: '1' }, { boot: 'another' }]) {
      const noted = storeWith({ pid }, change);
      expect(await end(noted)).toBe('');
      expect(noted.values.size).toBe(0);
    }
    expect([pid, inner].map(isAlive)).toEqual([true, true]);
  });

  it('has the rest of its time if it came after the job', async () => {
    const [pid, inner] = await left('sleep 0.5 & echo $!; wait');
    expect(await end(storeWith({ pid, when: 'after' }))).toBe(
      `The command after an earlier job (process ${pid}) still runs: waiting for its end.`,
    );
    expect(isAlive(inner)).toBe(false);
    const [late] = await left();
    expect(await end(storeWith({ pid: late, when: 'after', untilMs: Date.now() + 200 }))).toContain(
      'was ended',
    );
    expect(isAlive(late)).toBe(false);
  });

  it('is ended by the next attempt before anything else', async () => {
    const [pid] = await left();
    const seen: boolean[] = [];
    const site = await runnerSite({
      prepare: () => {
        seen.push(isAlive(pid));
        throw new Error('enough was seen');
      },
    });
    const hook = { source: '/src', job: 'bkp_1', when: 'before', pid, untilMs: 0 } as const;
    noteHook(site.state.database.settings, hook, site.clock.now());
    const { id } = site.runner.submit(backupOf('/src'), 'api');
    for (let turn = 0; turn < 100 && seen.length === 0; turn += 1) {
      await delay(10);
      await site.pass(100);
    }
    expect(seen).toEqual([false]);
    expect(
      site.state.database.jobLog
        .list(id)
        .map(({ text }) => text)
        .join(' '),
    ).toContain('It was ended.');
    await site.remove();
  });
});
