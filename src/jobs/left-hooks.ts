/**
 * Commands before and after a job that outlive the agent: a killed agent ends none of them. The next one would run the
 * command beside the old one, both would write the same dump, and the backup would hold a mixture of both.
 */
import { readdirSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { errnoOf } from '../base/errors.ts';
import type { SettingStore } from '../db/settings.ts';
import { bootOfMachine, processStart, systemText } from '../system/process-identity.ts';

/** Milliseconds between asking processes to end and killing them, and between two looks at them. */
const GRACE_MS = 2_000;
const LOOK_MS = 100;

/** A command that runs now, in a process group of its own. */
export interface RunningHook {
  readonly source: string;
  readonly job: string;
  readonly when: 'before' | 'after';
  readonly pid: number;
  /** Milliseconds since 1970 at which its time is over. */
  readonly untilMs: number;
}

interface Noted extends RunningHook {
  readonly start: string | undefined;
  readonly boot: string;
}

type Store = Pick<SettingStore, 'get' | 'set'>;

export function noteHook(store: Store, hook: RunningHook, nowMs: number): void {
  const noted: Noted = { ...hook, start: processStart(hook.pid), boot: bootOfMachine(nowMs) };
  store.set(keyOf(hook.source), JSON.stringify(noted));
}

/** To be called when the command has ended. What it left running on purpose may go on. */
export function forgetHook(store: Store, source: string): void {
  store.set(keyOf(source), undefined);
}

/**
 * Ends what is left of a command before a job, which would run again. One after a job does not run again, so it has the
 * rest of its time. To be called before anything else of a job that reads the source.
 * @param tell receives a sentence for the log of the job
 */
export async function endLeftHook(
  store: Store,
  source: string,
  clock: Clock,
  tell: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const noted = read(store.get(keyOf(source)));
  if (noted === undefined) return;
  const isLeft = (): boolean => noted.boot === bootOfMachine(clock.now()) && processesOf(noted).length > 0;
  if (isLeft()) {
    const what = `The command ${noted.when} an earlier job (process ${noted.pid})`;
    if (noted.when === 'after') {
      tell(`${what} still runs: waiting for its end.`);
      await waitFor(() => !isLeft(), noted.untilMs - clock.now(), clock, signal);
      if (signal.aborted) return;
    }
    if (isLeft()) {
      signalAll(noted, 'SIGTERM');
      await waitFor(() => !isLeft(), GRACE_MS, clock, signal);
      signalAll(noted, 'SIGKILL');
      await waitFor(() => !isLeft(), GRACE_MS, clock, signal);
      tell(`${what} outlived the agent that ran it. It was ended.`);
    }
  }
  if (!signal.aborted) forgetHook(store, source);
}

function keyOf(source: string): string {
  return `hook ${source}`;
}

function read(text: string | undefined): Noted | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as Noted);
}

async function waitFor(
  isOver: () => boolean,
  mostMs: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  for (let left = mostMs; left > 0 && !isOver() && !signal.aborted; left -= LOOK_MS)
    await clock.sleep(LOOK_MS, signal).catch(() => undefined);
}

/**
 * The processes of the command's group that are certainly its own: all of them while the first one is the process that was
 * noted, else those whose environment names the job. Where the system does not tell (no /proc), none.
 */
function processesOf({ pid, start, job }: Noted): readonly number[] {
  const members = membersOf(pid);
  if (start !== undefined && members.includes(pid) && processStart(pid) === start) return members;
  const mark = `HOLDFAST_JOB_ID=${job}`;
  return members.filter((member) => environmentOf(member).includes(mark));
}

/** Indices among the fields after the name in /proc/<pid>/stat (see proc(5)). */
const [STATE_FIELD, GROUP_FIELD] = [0, 2];

function membersOf(group: number): readonly number[] {
  return processIds().filter((pid) => {
    const text = systemText(`/proc/${pid}/stat`);
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields[GROUP_FIELD] === String(group) && !/^[ZX]/.test(fields[STATE_FIELD] ?? '');
  });
}

function processIds(): readonly number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return [];
  }
}

function environmentOf(pid: number): readonly string[] {
  return systemText(`/proc/${pid}/environ`).split('\0');
}

function signalAll(noted: Noted, name: NodeJS.Signals): void {
  for (const pid of processesOf(noted)) {
    try {
      process.kill(pid, name);
    } catch (error) {
      // It has ended meanwhile.
      if (errnoOf(error) === undefined) throw error;
    }
  }
}
