/** Commands of the person's own, run before and after a job. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Clock } from '../base/clock.ts';
import type { Job } from './job.ts';

/** Milliseconds between asking a command to end and making it end. */
const GRACE_MS = 2_000;
/** Milliseconds for output that comes after the end of the command, from what it left running. */
const DRAIN_MS = 200;

export interface HookRun {
  readonly command: string;
  readonly timeoutMs: number;
  /** Of the agent; its own `HOLDFAST_…` variables are not handed on. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Told as HOLDFAST_JOB_ID, HOLDFAST_JOB_TYPE, HOLDFAST_SOURCE, HOLDFAST_STATUS. */
  readonly job: Pick<Job, 'id' | 'type' | 'spec' | 'status'>;
  readonly onLine: (text: string) => void;
}

export type HookResult =
  | { readonly ok: true }
  /** Why not, as the end of a sentence that begins with the command. */
  | { readonly ok: false; readonly reason: string };

/** Runs a command in a shell. Past its time, or when the signal aborts, it is killed with all that it started. */
export async function runHook(run: HookRun, clock: Clock, signal: AbortSignal): Promise<HookResult> {
  if (signal.aborted) return { ok: false, reason: 'was not run' };
  let child: ChildProcess;
  try {
    child = start(run);
  } catch (error) {
    return notStarted(error);
  }
  const ended = endOf(child);
  const streams = [child.stdout, child.stderr];
  const drained = Promise.all(streams.map(async (stream) => await eachLine(stream, run.onLine)));
  const over = new AbortController();
  const stop = (): void => over.abort();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const late = await firstOf(ended, clock, run.timeoutMs, over.signal);
    if (!late) return await ended;
    await endGroup(child, ended, clock);
    const seconds = Math.round(run.timeoutMs / 1000);
    return { ok: false, reason: signal.aborted ? 'was stopped' : `took longer than ${seconds} seconds` };
  } finally {
    signal.removeEventListener('abort', stop);
    await firstOf(drained, clock, DRAIN_MS, new AbortController().signal);
    for (const stream of streams) stream?.destroy();
  }
}

function start(run: HookRun): ChildProcess {
  return spawn(run.command, {
    shell: true,
    // A process group of its own, so that everything it starts can be ended with it.
    detached: process.platform !== 'win32',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: hookEnvironment(run),
    windowsHide: true,
  });
}

function notStarted(error: unknown): HookResult {
  const said = error instanceof Error ? error.message : String(error);
  return { ok: false, reason: `could not be started (${said})` };
}

function hookEnvironment({ environment, job }: HookRun): Record<string, string | undefined> {
  const inherited = Object.entries(environment).filter(([name]) => !name.startsWith('HOLDFAST_'));
  return {
    ...Object.fromEntries(inherited),
    HOLDFAST_JOB_ID: job.id,
    HOLDFAST_JOB_TYPE: job.type,
    HOLDFAST_SOURCE: job.spec.type === 'backup' ? job.spec.source : '',
    HOLDFAST_STATUS: job.status,
  };
}

/** There is no stream where the process could not be started. */
async function eachLine(stream: Readable | null | undefined, onLine: (text: string) => void): Promise<void> {
  if (stream === null || stream === undefined) return;
  const lines = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY });
  lines.on('line', onLine);
  await new Promise<void>((resolve) => {
    lines.on('close', () => resolve());
    stream.on('close', () => resolve());
    stream.on('error', () => resolve());
  });
}

async function endOf(child: ChildProcess): Promise<HookResult> {
  return await new Promise((resolve) => {
    child.on('error', (error) => resolve(notStarted(error)));
    child.on('exit', (code, signal) => {
      if (code === 0) resolve({ ok: true });
      else if (code === null) resolve({ ok: false, reason: `was ended by ${signal ?? 'a signal'}` });
      else resolve({ ok: false, reason: `ended with code ${code}` });
    });
  });
}

/** True when `ms` passed, or the signal aborted, before the work was done. */
async function firstOf(
  work: Promise<unknown>,
  clock: Clock,
  ms: number,
  signal: AbortSignal,
): Promise<boolean> {
  const over = new AbortController();
  const stop = (): void => over.abort();
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  const patience = async (): Promise<boolean> => {
    try {
      await clock.sleep(ms, over.signal);
      return true;
    } catch {
      // Woken early: by the signal, or since the work is done.
      return signal.aborted;
    }
  };
  try {
    return await Promise.race([work.then(() => false), patience()]);
  } finally {
    stop();
    signal.removeEventListener('abort', stop);
  }
}

async function endGroup(child: ChildProcess, ended: Promise<unknown>, clock: Clock): Promise<void> {
  signalGroup(child, 'SIGTERM');
  await firstOf(ended, clock, GRACE_MS, new AbortController().signal);
  // Also when the shell itself has ended: what it started may not have.
  signalGroup(child, 'SIGKILL');
  await firstOf(ended, clock, GRACE_MS, new AbortController().signal);
}

function signalGroup(child: ChildProcess, name: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill(name);
    else process.kill(-child.pid, name);
  } catch {
    // The group has ended by itself.
  }
}
