/** A machine that runs `holdfast backup` again and again. */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { jsonLines, outcomeOf, start } from '../sweep/program.ts';
import type { Attempt, AttemptEnd, Disturbance, Ledger } from './ledger.ts';
import { freeze } from './processes.ts';
import type { Machine } from './site.ts';
import { writeAgainAndAgain, type Rhythm } from './writer.ts';

export async function runCommandWriter(machine: Machine, ledger: Ledger, rhythm: Rhythm): Promise<void> {
  const kinds = ['kill', 'freeze'] as const;
  await writeAgainAndAgain(machine, ledger, rhythm, kinds, async ({ disturbed }: Attempt) => {
    const child = start(machine.place, ['backup', machine.source, '--json'], machine.environment);
    const ending = outcomeOf(child);
    if (disturbed !== undefined) await disturb(child, disturbed, ledger, rhythm.stopped);
    const outcome = await ending;
    if (outcome.killed) return { kind: 'killed' };
    return endOf(outcome.code, jsonLines(outcome).at(-1), outcome.stderr);
  });
}

async function disturb(
  child: ChildProcess,
  { kind, afterMs, lastsMs }: Disturbance,
  ledger: Ledger,
  stopped: AbortSignal,
): Promise<void> {
  await sleep(afterMs);
  const { pid } = child;
  if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  if (kind === 'kill') {
    if (child.kill('SIGKILL')) ledger.hit(kind);
  } else if ((await freeze([pid], lastsMs, stopped)) > 0) ledger.hit(shown(kind, lastsMs));
}

export function shown(kind: string, lastsMs: number): string {
  return lastsMs >= 300_000 ? `${kind} beyond the lease` : kind;
}

function endOf(
  code: number | null,
  summary: Readonly<Record<string, unknown>> | undefined,
  stderr: string,
): AttemptEnd {
  const snapshot = summary?.['snapshot_id'];
  if (code === 0 && typeof snapshot === 'string') return { kind: 'completed', snapshot };
  return { kind: 'failed', reason: `exit ${code}: ${stderr.trim()}`, excused: false };
}
