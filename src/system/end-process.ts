/** Ends a program that this process started, with all of its descendants. */
import type { ChildProcess } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { endTree } from '../base/child-output.ts';
import { errnoOf } from '../base/errors.ts';
import { processStart } from './process-identity.ts';

/** Milliseconds between asking the processes to end and killing them. */
const GRACE_MS = 2_000;
const LOOK_MS = 20;

/** Identifies a process even if its number is reused. */
interface Known {
  readonly pid: number;
  readonly start: string | undefined;
}

/**
 * Asks the processes to end, and kills those that remain after two seconds. Then the child no longer keeps this process
 * from ending.
 */
export async function endWithChildren(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid !== undefined && isRunning(child)) {
    const all = [pid, ...descendants(pid)].map((one) => ({ pid: one, start: processStart(one) }));
    for (const one of all) tell(one, 'SIGTERM');
    for (let waited = 0; waited < GRACE_MS && (isRunning(child) || all.some(isThere)); waited += LOOK_MS)
      await sleep(LOOK_MS);
    for (const one of all) if (isThere(one)) tell(one, 'SIGKILL');
    // Needed where the system does not list processes.
    if (isRunning(child) && process.platform === 'win32') endTree(pid);
    if (isRunning(child)) child.kill('SIGKILL');
  }
  for (const stream of child.stdio) stream?.destroy();
  child.unref();
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

function isThere({ pid, start }: Known): boolean {
  return start !== undefined && processStart(pid) === start;
}

function tell({ pid, start }: Known, name: NodeJS.Signals): void {
  if (processStart(pid) !== start) return;
  try {
    process.kill(pid, name);
  } catch (error) {
    // The process has just ended, or runs as another user.
    if (!['ESRCH', 'EPERM'].includes(errnoOf(error) ?? '')) throw error;
  }
}

/** All descendants of a process; none where the system does not list processes. */
function descendants(pid: number): readonly number[] {
  const children = new Map<number, number[]>();
  for (const [one, parent] of parents()) children.set(parent, [...(children.get(parent) ?? []), one]);
  const found: number[] = [];
  for (let next = [pid]; next.length > 0;) {
    next = next.flatMap((one) => children.get(one) ?? []);
    found.push(...next);
  }
  return found;
}

function parents(): readonly (readonly [number, number])[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => {
        const parent = parentOf(name);
        return parent === undefined ? [] : [[Number(name), parent] as const];
      });
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return [];
  }
}

function parentOf(pid: string): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The process name before it may contain blanks and brackets.
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
