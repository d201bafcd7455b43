/** Plays many seeds in as many processes as there are cores. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { SOURCE_FLAGS } from '../support/node-flags.ts';

export interface WorkerTask {
  readonly from: number;
  readonly below: number;
  readonly step: number;
  /** Tell everything that happens. */
  readonly replay: boolean;
  readonly shrinks: boolean;
  /** Stop at the first violation. */
  readonly untilFirst: boolean;
  /** Say which seed is played next: where one may be the end of the process. */
  readonly announces?: boolean;
}

export type WorkerReport =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'seed'; readonly seed: number }
  | { readonly kind: 'violation'; readonly seed: number; readonly promise: string; readonly text: string }
  | { readonly kind: 'end'; readonly seeds: number; readonly counts: Readonly<Record<string, number>> };

export interface RunRequest extends Omit<WorkerTask, 'step'> {
  readonly processes: number;
  /** The folder of what is played, below `test`. */
  readonly folder?: 'simulator' | 'attacker';
  /** The project whose simulator is run: another copy when a defect is planted. */
  readonly root?: string;
  readonly onReport?: (report: WorkerReport) => void;
  /** SEEDS_OF_PROCESS when absent. */
  readonly seedsOfProcess?: number;
  /** The seeds at hand are the last ones once it aborts. */
  readonly signal?: AbortSignal;
}

export interface RunResult {
  readonly seeds: number;
  readonly violations: readonly Extract<WorkerReport, { kind: 'violation' }>[];
  readonly counts: ReadonlyMap<string, number>;
  readonly seconds: number;
}

/** Of young objects: nearly everything that a simulation makes is garbage at its end. */
const HEAP_FLAGS = ['--max-semi-space-size=64'];

/**
 * Seeds for one process. Node holds every signal that somebody still waits for, and whoever was killed in a simulation
 * waits for ever: after 3,500 seeds a process needed 1.5 GB and was a fifth slower.
 */
const SEEDS_OF_PROCESS = 1_000;

/** Of one seed, where it may never end. Machines may have much else to do. */
const SILENCE_MS = 120_000;

/** @throws when a process ends without having said what came of its seeds */
export async function runSeeds(request: RunRequest): Promise<RunResult> {
  const started = performance.now();
  const counts = new Map<string, number>();
  const violations: Extract<WorkerReport, { kind: 'violation' }>[] = [];
  let seeds = 0;
  const take = (report: WorkerReport): void => {
    request.onReport?.(report);
    if (report.kind === 'violation') violations.push(report);
    if (report.kind !== 'end') return;
    seeds += report.seeds;
    for (const [what, count] of Object.entries(report.counts))
      counts.set(what, (counts.get(what) ?? 0) + count);
  };
  const processes = Math.min(request.processes, request.below - request.from);
  await Promise.all(
    Array.from({ length: processes }, async (_, number) => {
      const { replay, shrinks, untilFirst, below, signal } = request;
      const root = request.root ?? join(import.meta.dirname, '..', '..');
      const stretch = (request.seedsOfProcess ?? SEEDS_OF_PROCESS) * processes;
      for (let from = request.from + number; from < below; from += stretch) {
        if (signal?.aborted === true || (untilFirst && violations.length > 0)) return;
        const last = Math.min(below, from + stretch);
        const task = { from, below: last, step: processes, replay, shrinks, untilFirst };
        const worker = join(root, 'test', request.folder ?? 'simulator', 'worker.ts');
        if (request.folder === 'attacker')
          await runMortal({ ...task, announces: true }, worker, root, take, violations);
        else await runWorker(task, worker, root, take, violations);
      }
    }),
  );
  violations.sort((a, b) => a.seed - b.seed);
  return { seeds, violations, counts, seconds: (performance.now() - started) / 1_000 };
}

/** Goes on behind a seed that is the end of its process, or never ends: that is a violation. */
async function runMortal(
  task: WorkerTask,
  ...rest: [
    worker: string,
    root: string,
    take: (report: WorkerReport) => void,
    violations: readonly unknown[],
  ]
): Promise<void> {
  const [worker, root, take, violations] = rest;
  for (let { from } = task; from < task.below;) {
    let at = from;
    const told = (report: WorkerReport): void => {
      if (report.kind === 'seed') at = report.seed;
      take(report);
    };
    try {
      await runWorker({ ...task, from }, worker, root, told, violations);
      return;
    } catch (error) {
      if (task.untilFirst && violations.length > 0) return;
      const text = `bounded: ${error instanceof Error ? error.message : String(error)}`;
      take({ kind: 'violation', seed: at, promise: 'bounded', text: `seed ${at} breaks ${text}` });
      take({ kind: 'end', seeds: (at - from) / task.step + 1, counts: {} });
      if (task.untilFirst) return;
      from = at + task.step;
    }
  }
}

/** @throws when it ends without having said what came of its seeds, or says nothing for long */
async function runWorker(
  task: WorkerTask,
  worker: string,
  root: string,
  take: (report: WorkerReport) => void,
  violations: readonly unknown[],
): Promise<void> {
  const child = fork(worker, [JSON.stringify(task)], {
    execArgv: [...SOURCE_FLAGS, ...HEAP_FLAGS],
    cwd: root,
  });
  let ended = false;
  let heardMs = performance.now();
  child.on('message', (report: WorkerReport) => {
    ended ||= report.kind === 'end';
    heardMs = performance.now();
    take(report);
  });
  // One that others have found is enough.
  const watch = setInterval(() => {
    if (task.untilFirst && violations.length > 0) child.kill();
    if (task.announces === true && !task.shrinks && performance.now() - heardMs > SILENCE_MS)
      child.kill('SIGKILL');
  }, 200);
  const [code] = await once(child, 'exit');
  clearInterval(watch);
  if (!ended && (violations.length === 0 || !task.untilFirst))
    throw new Error(`a process of the simulator ended with ${String(code)}`);
}
