/** Processes seen and disturbed from outside. */
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

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

/**
 * Least squares over means of a minute each: samples of one process that follow each other closely are not independent,
 * and an interval from all of them would be far too narrow. Undefined for less than five minutes.
 */
export function slopeOf(
  points: readonly { readonly atMs: number; readonly value: number }[],
): Slope | undefined {
  const minutes = new Map<number, number[]>();
  for (const { atMs, value } of points) {
    const minute = Math.floor(atMs / 60_000);
    minutes.set(minute, [...(minutes.get(minute) ?? []), value]);
  }
  const means = [...minutes].map(([minute, values]) => ({
    x: minute / 60,
    y: values.reduce((sum, value) => sum + value, 0) / values.length,
  }));
  if (means.length < 5) return undefined;
  const meanX = means.reduce((sum, { x }) => sum + x, 0) / means.length;
  const meanY = means.reduce((sum, { y }) => sum + y, 0) / means.length;
  const spread = means.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  const perHour = means.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / spread;
  const rest = means.reduce((sum, { x, y }) => sum + (y - meanY - perHour * (x - meanX)) ** 2, 0);
  const error = Math.sqrt(rest / (means.length - 2) / spread);
  return {
    perHour,
    marginPerHour: studentT95(means.length - 2) * error,
    first: means[0]?.y ?? 0,
    last: means.at(-1)?.y ?? 0,
    most: Math.max(...points.map(({ value }) => value)),
    hours: (means.at(-1)?.x ?? 0) - (means[0]?.x ?? 0) || 0,
    samples: points.length,
  };
}

/** The two-sided 95% point of Student's distribution, to a hundredth from 3 degrees of freedom on. */
function studentT95(degrees: number): number {
  const z = 1.959964;
  const g1 = (z ** 3 + z) / 4;
  const g2 = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96;
  const g3 = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384;
  return z + g1 / degrees + g2 / degrees ** 2 + g3 / degrees ** 3;
}
