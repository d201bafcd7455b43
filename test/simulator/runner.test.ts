/** The processes of the simulator: each seed is played once, and they end with whoever started them. */
// Turn 8 of 8.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { SOURCE_FLAGS } from '../support/node-flags.ts';
import { runSeeds } from './runner.ts';

/** Milliseconds: machines may have much else to do. */
const PATIENCE = 120_000;

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** What has ended and was not fetched by anybody yet counts as ended. */
function isRunning(pid: number): boolean {
  return /^State:\s+[^ZX]/m.test(textOf(`/proc/${pid}/status`));
}

async function until(what: () => boolean): Promise<void> {
  for (const end = performance.now() + PATIENCE / 2; !what();) {
    if (performance.now() > end) throw new Error('it did not come to that');
    await delay(50);
  }
}

test.runIf(process.platform === 'linux')(
  'a process that plays seeds ends when the one that started it was killed',
  async () => {
    const main = fork(join(import.meta.dirname, 'main.ts'), ['--seeds', '1000000', '--processes', '1'], {
      execArgv: [...SOURCE_FLAGS],
      stdio: 'ignore',
    });
    const { pid = 0 } = main;
    let workers: number[] = [];
    try {
      await until(() => {
        workers = textOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
        return workers.length > 0;
      });
    } finally {
      main.kill('SIGKILL');
    }
    await once(main, 'exit');
    try {
      await until(() => !workers.some(isRunning));
    } finally {
      for (const worker of workers.filter(isRunning)) process.kill(worker, 'SIGKILL');
    }
    expect(workers).toHaveLength(1);
  },
  PATIENCE,
);

test(
  'however the seeds are shared out among processes, all are played, and come to the same',
  async () => {
    const all = { from: 31, below: 37, replay: false, shrinks: false, untilFirst: false };
    const many = await runSeeds({ ...all, processes: 2, seedsOfProcess: 2 });
    const one = await runSeeds({ ...all, processes: 1 });
    expect(many.seeds).toBe(6);
    expect(many.counts).toEqual(one.counts);
    expect([many, one].flatMap(({ violations }) => violations)).toEqual([]);
  },
  PATIENCE,
);
