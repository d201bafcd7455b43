/** Processes seen and disturbed from outside. */
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { lineThrough } from '../support/line-through.ts';

export interface ProcessSample {
  readonly atMs: number;
  readonly rssBytes: number;
  readonly fds: number;
}

/** Undefined when the process has ended. */
export function sampleProcess(pid: number): ProcessSample | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const rss = /^VmRSS:\s+(\d+) kB/m.exec(status)?.[1];
    if (rss === undefined) return undefined;
    return {
      atMs: Date.now(),
      rssBytes: Number(rss) * 1_024,
      fds: readdirSync(`/proc/${pid}/fd`).length,
    };
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return undefined;
    throw error;
  }
}

/** False when it has ended already. */
export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
}

/**
 * Stops processes as a machine that sleeps would, and lets them go on. Monotonic time goes on meanwhile, so for them it
 * is a long wait without a word; returns how many were stopped.
 */
export async function freeze(pids: readonly number[], forMs: number, stopped: AbortSignal): Promise<number> {
  const frozen = pids.filter((pid) => signalProcess(pid, 'SIGSTOP'));
  try {
    await sleep(forMs, undefined, { signal: stopped }).catch(() => {});
  } finally {
    for (const pid of frozen) signalProcess(pid, 'SIGCONT');
  }
  return frozen.length;
}

export interface Slope {
  readonly perHour: number;
  /** Half of the 95% interval. */
  readonly marginPerHour: number;
  readonly first: number;
  readonly last: number;
  readonly most: number;
  readonly hours: number;
  readonly samples: number;
}

/** Long enough for a rest in each: see `restMs` of a writer's rhythm. */
const FLOOR_MS = 480_000;

/**
 * Least squares over what is left at the least in each eight minutes. At work an agent takes half as much again, and how much
 * of its time that is changes with everything else; what it never gives back raises the least. Undefined for less than 40 minutes.
 */
export function slopeOf(
  points: readonly { readonly atMs: number; readonly value: number }[],
): Slope | undefined {
  const beganMs = points[0]?.atMs ?? 0;
  const windows = new Map<number, number>();
  for (const { atMs, value } of points) {
    const window = Math.floor((atMs - beganMs) / FLOOR_MS);
    windows.set(window, Math.min(windows.get(window) ?? Number.POSITIVE_INFINITY, value));
  }
  // The last one is not whole, and may have no rest.
  const least = [...windows].slice(0, -1).map(([window, y]) => ({ x: (window * FLOOR_MS) / 3_600_000, y }));
  const line = lineThrough(least);
  if (line === undefined) return undefined;
  return {
    perHour: line.slope,
    marginPerHour: line.margin,
    first: least[0]?.y ?? 0,
    last: least.at(-1)?.y ?? 0,
    most: Math.max(...points.map(({ value }) => value)),
    hours: (least.at(-1)?.x ?? 0) - (least[0]?.x ?? 0) || 0,
    samples: points.length,
  };
}
