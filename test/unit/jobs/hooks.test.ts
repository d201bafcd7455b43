import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { runHook, type HookResult, type HookRun } from '../../../src/jobs/hooks.ts';
import { isAlive } from '../../support/is-alive.ts';
import { moduleUrl, runScript } from '../../support/run-script.ts';
import { backupOf } from './runner-site.ts';

let directory: string;
let lines: string[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-hooks-'));
  lines = [];
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

async function run(
  command: string,
  change: Partial<HookRun> = {},
  signal = new AbortController().signal,
): Promise<HookResult> {
  return await runHook(
    {
      command,
      timeoutMs: 10_000,
      environment: { PATH: '/usr/bin:/bin', HOLDFAST_PASSWORD: 'secret', OTHER: 'seen' },
      job: { id: 'bkp_1', type: 'backup', spec: backupOf('/home'), status: 'running' },
      onLines: (texts) => lines.push(...texts),
      ...change,
    },
    systemClock,
    signal,
  );
}

describe('a hook', () => {
  it('that the system cannot start fails like any other', async () => {
    const script = `
      import { execFileSync } from 'node:child_process';
      import { openSync } from 'node:fs';
      import { systemClock } from '${moduleUrl('src/base/clock.ts')}';
      import { runHook } from '${moduleUrl('src/jobs/hooks.ts')}';
      const job = { id: 'bkp_1', type: 'backup', spec: { type: 'backup', source: '/' }, status: 'running' };
      const run = (command) => runHook(
        { command, timeoutMs: 1_000, environment: process.env, job, onLines: () => {} },
        systemClock,
        new AbortController().signal,
      );
      const impossible = await run('echo a\\0b');
      execFileSync('prlimit', ['--pid', process.pid, '--nofile=64:']);
      try {
        for (;;) openSync('/dev/null');
      } catch {}
      const full = await run('true');
      process.stdout.write(JSON.stringify([impossible, full].map(({ ok, reason }) => [ok, reason.slice(0, 20)])));
      process.exit(0);`;
    expect(JSON.parse(await runScript(script))).toEqual([
      [false, 'could not be started'],
      [false, 'could not be started'],
    ]);
  });

  it('is told of the job, sees the environment but no secret of ours, and its output is kept', async () => {
    const result = await run('env | grep -E "HOLDFAST|OTHER" | sort; echo trouble >&2');
    expect(result).toEqual({ ok: true });
    expect(lines.filter((line) => line !== 'trouble')).toEqual([
      'HOLDFAST_JOB_ID=bkp_1',
      'HOLDFAST_JOB_TYPE=backup',
      'HOLDFAST_SOURCE=/home',
      'HOLDFAST_STATUS=running',
      'OTHER=seen',
    ]);
    expect(lines).toContain('trouble');
  });

  it('says how it failed', async () => {
    expect(await run('exit 7')).toEqual({ ok: false, reason: 'ended with code 7' });
    expect(await run('kill -TERM $$')).toEqual({ ok: false, reason: 'was ended by SIGTERM' });
  });

  it('is killed past its time with everything that it started, even what ignores being asked', async () => {
    const pids = join(directory, 'pids');
    const stubborn = `trap '' TERM; sleep 100 & echo $! >> ${pids}; echo $$ >> ${pids}; wait; sleep 100`;
    const begun = systemClock.monotonic();
    const result = await run(stubborn, { timeoutMs: 300 });
    expect(result).toEqual({ ok: false, reason: 'took longer than 0 seconds' });
    expect(systemClock.monotonic() - begun).toBeLessThan(8_000);
    const started = readFileSync(pids, 'latin1').trim().split('\n').map(Number);
    expect(started).toHaveLength(2);
    // What a signal kills may still be seen for a moment.
    await vi.waitFor(() => expect(started.filter(isAlive)).toEqual([]), { timeout: 5_000, interval: 5 });
  });

  it('is stopped by the signal', async () => {
    const stop = new AbortController();
    const file = join(directory, 'begun');
    const result = run(`touch ${file}; sleep 100`, {}, stop.signal);
    while (!existsSync(file)) await delay(5);
    stop.abort();
    expect(await result).toEqual({ ok: false, reason: 'was stopped' });
    expect(await run('echo never', {}, stop.signal)).toEqual({ ok: false, reason: 'was not run' });
    expect(lines).toEqual([]);
  });

  it('may print without end and without line ends: this process does not grow, and the end is kept', async () => {
    const peak = { rss: process.memoryUsage.rss() };
    const before = peak.rss;
    const timer = setInterval(() => (peak.rss = Math.max(peak.rss, process.memoryUsage.rss())), 5);
    const result = await run(
      'head -c 300000000 /dev/zero; echo; seq 100000; head -c 1000000 /dev/zero; echo; echo no room >&2; exit 4',
    );
    clearInterval(timer);
    expect(result).toEqual({ ok: false, reason: 'ended with code 4' });
    // 300 MB would show.
    expect(peak.rss - before).toBeLessThan(150_000_000);
    expect(lines).toHaveLength(500 + 2);
    expect(lines[0]).toBe('\0'.repeat(16_000));
    expect(lines.slice(1, 3)).toEqual(['1', '2']);
    expect(lines.slice(499)).toEqual(['499', '(1.5 MiB of output left out here)', 'no room']);
  });

  it.runIf(process.platform === 'linux')(
    'gives what it prints in the order in which it prints it',
    async () => {
      await run('for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done; echo last > /dev/stderr');
      expect(lines).toEqual([...[1, 2, 3, 4, 5].flatMap((i) => [`out ${i}`, `err ${i}`]), 'last']);
    },
  );

  it('may leave something that prints when the job has long gone on', async () => {
    const file = join(directory, 'after');
    const later = `sleep 0.5; for i in 1 2 3 4 5 6 7 8 9; do head -c 100000 /dev/zero || exit; done; echo fine > ${file}`;
    expect(await run(`(${later}) & echo done`)).toEqual({ ok: true });
    await vi.waitFor(() => expect(existsSync(file)).toBe(true), { timeout: 5_000, interval: 20 });
    expect(lines).toEqual(['done']);
  });

  it('may leave something running, which is not waited for', async () => {
    const begun = systemClock.monotonic();
    expect(await run('sleep 3 & echo done')).toEqual({ ok: true });
    expect(systemClock.monotonic() - begun).toBeLessThan(2_000);
    expect(lines).toEqual(['done']);
  });
});
