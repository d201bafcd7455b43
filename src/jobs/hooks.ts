/** Runs the commands that a person has configured to run before and after a job. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import { causeText } from '../base/errno-words.ts';
import type { Clock } from '../base/clock.ts';
import { endTree } from '../base/child-output.ts';
import { OutputLines } from '../base/output-lines.ts';
import { openOutputPipe } from '../system/output-pipe.ts';
import type { Job } from './job.ts';

/** Milliseconds between asking a command to end and killing it. */
const GRACE_MS = 2_000;
/** Milliseconds to wait for output that processes left behind by the command may still print. */
const DRAIN_MS = 200;

export interface HookRun {
  readonly command: string;
  readonly timeoutMs: number;
  /** The agent's environment; its own `HOLDFAST_…` variables are not handed on. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Passed to the command as HOLDFAST_JOB_ID, HOLDFAST_JOB_TYPE, HOLDFAST_SOURCE, HOLDFAST_STATUS. */
  readonly job: Pick<Job, 'id' | 'type' | 'spec' | 'status'>;
  /** Receives the process that leads the command's group as soon as there is one. */
  readonly onStart?: (pid: number) => void;
  /** Receives the output that is kept: the first lines as they come, the last ones at the end. */
  readonly onLines: (texts: readonly string[]) => void;
}

export type HookResult =
  | { readonly ok: true }
  /** The reason is the end of a sentence that begins with the command. */
  | { readonly ok: false; readonly reason: string };

/**
 * Runs a command in a shell. When its time is over or the signal aborts, it is killed together with all that it started.
 * Processes that the command leaves running may go on printing: their output is read as long as this process lives, and dropped.
 */
export async function runHook(run: HookRun, clock: Clock, signal: AbortSignal): Promise<HookResult> {
  if (signal.aborted) return { ok: false, reason: 'was not run' };
  let told = run.onLines;
  const lines = new OutputLines((texts) => told(texts));
  let child: ChildProcess;
  let output: ChildOutput;
  try {
    [child, output] = start(run, (bytes) => lines.take(bytes));
  } catch (error) {
    return notStarted(error);
  }
  const ended = endOf(child);
  if (child.pid !== undefined) run.onStart?.(child.pid);
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
    await firstOf(output.ended, clock, DRAIN_MS, new AbortController().signal);
    lines.end();
    told = () => undefined;
    output.drop();
  }
}

function start(run: HookRun, take: (bytes: Buffer) => void): readonly [ChildProcess, ChildOutput] {
  return collectOutput(take, (stdout, stderr) =>
    spawn(run.command, {
      shell: true,
      // A process group of its own, so that everything it starts can be ended with it.
      detached: process.platform !== 'win32',
      stdio: ['ignore', stdout, stderr],
      env: hookEnvironment(run),
      windowsHide: true,
    }),
  );
}

function notStarted(error: unknown): HookResult {
  return { ok: false, reason: `could not be started: ${causeText(error)}` };
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

/** True when `ms` passed or the signal aborted before the work was done. */
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
      // Woken early: by the signal, or because the work is done.
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
  // Also when the shell itself has ended: processes that it started may still run.
  signalGroup(child, 'SIGKILL');
  await firstOf(ended, clock, GRACE_MS, new AbortController().signal);
}

function signalGroup(child: ChildProcess, name: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    // There nothing can be asked to end.
    if (process.platform === 'win32') endTree(child.pid);
    else process.kill(-child.pid, name);
  } catch {
    // The group has already ended.
  }
}

interface ChildOutput {
  /** Resolves when no more output can come, neither from the child nor from processes that it started. */
  readonly ended: Promise<void>;
  /** From now on output is read and dropped, and does not keep this process alive. */
  drop(): void;
}

/**
 * Reads what a child process prints for as long as anything may print: a program whose pipe is closed dies when it
 * prints. Spawns a child and collects its output and errors, in the order in which they were printed where the system
 * supports that.
 */
function collectOutput(
  take: (bytes: Buffer) => void,
  spawn: (stdout: number | 'pipe', stderr: number | 'pipe') => ChildProcess,
): readonly [ChildProcess, ChildOutput] {
  let taking = take;
  const pipe = openOutputPipe((bytes) => taking(bytes));
  const dropping = (unref: () => void) => (): void => {
    taking = () => undefined;
    unref();
  };
  if (pipe === undefined) {
    const child = spawn('pipe', 'pipe');
    const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
    for (const stream of streams) {
      stream.on('data', (bytes: Buffer) => taking(bytes));
      stream.on('error', () => undefined);
    }
    const closed = streams.map(async (stream) => {
      await new Promise<void>((resolve) => stream.on('close', () => resolve()));
    });
    const unref = (): void => {
      for (const stream of streams) if (stream instanceof Socket) stream.unref();
    };
    return [child, { ended: Promise.all(closed).then(() => undefined), drop: dropping(unref) }];
  }
  try {
    return [spawn(pipe.writeFd, pipe.writeFd), { ended: pipe.ended, drop: dropping(() => pipe.unref()) }];
  } finally {
    closeSync(pipe.writeFd);
  }
}
