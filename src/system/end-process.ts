/** Ends a program that was started here, with all that it started in turn. */
import type { ChildProcess } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { errnoOf } from '../base/errors.ts';
import { processStart } from './process-start.ts';

/** Milliseconds between asking them to end and making them end. */
const GRACE_MS = 2_000;
const LOOK_MS = 20;

/** A process, and not another one that has its number by now. */
interface Known {
  readonly pid: number;
  readonly start: string | undefined;
}

/** Asks first. Whatever of them is left after two seconds is killed; then nothing keeps this process from ending. */
export async function endWithChildren(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid !== undefined && isRunning(child)) {
    const all = [pid, ...descendants(pid)].map((one) => ({ pid: one, start: processStart(one) }));
    for (const one of all) tell(one, 'SIGTERM');
    for (let waited = 0; waited < GRACE_MS && (isRunning(child) || all.some(isThere)); waited += LOOK_MS)
      await sleep(LOOK_MS);
    for (const one of all) if (isThere(one)) tell(one, 'SIGKILL');
    // Also where the system does not tell of processes.
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
    // It has ended in this very moment, or has become another user's.
    if (!['ESRCH', 'EPERM'].includes(errnoOf(error) ?? '')) throw error;
  }
}

/** None where the system does not tell. */
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
    // The name may have blanks and brackets in it.
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
