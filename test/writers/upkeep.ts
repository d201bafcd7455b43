/** Prune every minute, forgetting by retention beside it, and now and then a check: by machines that write nothing else. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SeededRandom } from '../support/seeded-random.ts';
import { jsonLines, outcomeOf, start, type Outcome } from '../sweep/program.ts';
import type { AgentWriter } from './agent-writer.ts';
import type { Ledger, UpkeepRun } from './ledger.ts';
import { freeze } from './processes.ts';
import type { WritersSite } from './site.ts';
import { packsOverdue } from './stored-garbage.ts';

export const PRUNE_EVERY_MS = 60_000;
/** The exit codes of the program: docs/command-line.md. */
const LOCKED = 11;
/** A prune that was stopped for longer than clocks may part says so and removes nothing. */
const ASLEEP = /The clock of the destination jumped, or this machine was asleep/;
const FREEZE_MS = 330_000;

export interface UpkeepPlan {
  readonly site: WritersSite;
  readonly ledger: Ledger;
  readonly agents: readonly AgentWriter[];
  readonly random: SeededRandom;
  readonly graceSeconds: number;
  readonly keep: number;
  readonly calmFromMs: number;
  readonly stopped: AbortSignal;
}

/** Until it is told to stop. */
export async function keepUp(plan: UpkeepPlan): Promise<void> {
  const { ledger, agents, random, stopped } = plan;
  const underWay = new Set<Promise<void>>();
  const launch = (work: Promise<void>): void => {
    const mine = work
      .catch((error: unknown) => {
        ledger.violations.push(`upkeep: ${error instanceof Error ? error.message : String(error)}`);
      })
      .finally(() => underWay.delete(mine));
    underWay.add(mine);
  };
  for (let minute = 1; !stopped.aborted; minute += 1) {
    await sleep(PRUNE_EVERY_MS, undefined, { signal: stopped }).catch(() => {});
    if (stopped.aborted) break;
    launch(forget(plan));
    const agent = agents[minute % Math.max(1, agents.length)];
    if (minute % 3 === 0 && agent !== undefined) launch(pruneByAgent(plan, agent));
    else launch(pruneByCommand(plan, 'pruner-1', disturbanceOf(plan, minute)));
    // Two at a time: at most one has the right.
    if (minute % 5 === 0) launch(pruneByCommand(plan, 'pruner-2', undefined));
    if (minute % 7 === 0) launch(check(plan, random.next() < 0.3 ? ['--read-data'] : []));
  }
  await Promise.all(underWay);
}

/** For the time after the writers: until `over` says so or it has taken as long as it may. */
export async function pruneUntil(plan: UpkeepPlan, over: () => boolean, mostMs: number): Promise<number> {
  const beganMs = performance.now();
  for (;;) {
    await pruneByCommand(plan, 'pruner-1', undefined);
    const passedMs = performance.now() - beganMs;
    if (over() || passedMs > mostMs) return passedMs;
    await sleep(PRUNE_EVERY_MS);
  }
}

type PruneDisturbance = { readonly kind: 'kill prune' | 'freeze prune'; readonly afterMs: number };

function disturbanceOf({ random, calmFromMs }: UpkeepPlan, minute: number): PruneDisturbance | undefined {
  const afterMs = 300 + random.next() * 2_500;
  const leftMs = calmFromMs - Date.now();
  if (minute % 8 === 2 && leftMs > 0) return { kind: 'kill prune', afterMs };
  if (minute % 20 === 11 && leftMs > FREEZE_MS) return { kind: 'freeze prune', afterMs };
  return undefined;
}

async function pruneByCommand(
  plan: UpkeepPlan,
  by: string,
  disturbance: PruneDisturbance | undefined,
): Promise<void> {
  const { site, ledger, stopped } = plan;
  const beganMs = Date.now();
  const child = start(site.machine(by), ['prune', '--json'], {});
  const ending = outcomeOf(child);
  if (disturbance !== undefined) {
    await sleep(disturbance.afterMs);
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      ledger.hit(disturbance.kind);
      if (disturbance.kind === 'kill prune') child.kill('SIGKILL');
      else await freeze([child.pid], FREEZE_MS, stopped);
    }
  }
  const outcome = await ending;
  const removedPacks = Number(jsonLines(outcome).at(-1)?.['packs_removed'] ?? 0);
  const end = pruneEnd(outcome, disturbance);
  note(plan, {
    what: 'prune',
    by,
    beganMs,
    endedMs: Date.now(),
    end,
    said: outcome.stderr.trim(),
    removedPacks,
  });
}

function pruneEnd(outcome: Outcome, disturbance: PruneDisturbance | undefined): UpkeepRun['end'] {
  if (outcome.code === 0) return 'ok';
  if (outcome.killed) return 'killed';
  if (outcome.code === LOCKED) return 'locked';
  return disturbance !== undefined && ASLEEP.test(outcome.stderr) ? 'excused' : 'failed';
}

async function pruneByAgent(plan: UpkeepPlan, agent: AgentWriter): Promise<void> {
  const beganMs = Date.now();
  const job = await agent.prune();
  if (job === undefined) return;
  const said = job.error === null ? '' : `${job.error.code}: ${job.error.message}`;
  const locked = job.error?.code === 'REPOSITORY_LOCKED';
  const end = job.status === 'completed' ? 'ok' : locked ? 'locked' : 'failed';
  const by = agent.machine.name;
  note(plan, { what: 'prune', by, beganMs, endedMs: Date.now(), end, said, removedPacks: 0 });
}

async function forget({ site, ledger, keep }: UpkeepPlan): Promise<void> {
  const beganMs = Date.now();
  const words = ['forget', '--keep-last', String(keep), '--json'];
  const outcome = await outcomeOf(start(site.machine('keeper'), words, {}));
  const end = outcome.code === 0 ? 'ok' : 'failed';
  const said = outcome.stderr.trim();
  const run = {
    what: 'forget',
    by: 'keeper',
    beganMs,
    endedMs: Date.now(),
    end,
    said,
    removedPacks: 0,
  } as const;
  ledger.upkeep.push(run);
  if (end === 'failed') ledger.violations.push(`forget ended with ${outcome.code}: ${said}`);
}

async function check({ site, ledger }: UpkeepPlan, more: readonly string[]): Promise<void> {
  const beganMs = Date.now();
  const outcome = await outcomeOf(start(site.machine('checker'), ['check', '--json', ...more], {}));
  const end = outcome.code === 0 ? 'ok' : 'failed';
  const said = `${outcome.stderr.trim()} ${errorsOf(outcome)}`.trim();
  ledger.upkeep.push({
    what: 'check',
    by: 'checker',
    beganMs,
    endedMs: Date.now(),
    end,
    said,
    removedPacks: 0,
  });
  if (end === 'failed')
    ledger.violations.push(`check beside the writers ended with ${outcome.code}: ${said}`);
}

/** What a check that went through found wrong, in short. */
export function errorsOf(outcome: Outcome): string {
  const findings = jsonLines(outcome).at(-1)?.['findings'];
  if (!Array.isArray(findings)) return outcome.stdout.slice(-500);
  const errors = findings.filter((one: { severity?: unknown }) => one.severity !== 'note');
  return JSON.stringify(errors.slice(0, 3));
}

/**
 * For how long after a snapshot was forgotten a pack that it needs may be awaited by a backup on top of it, where the grace
 * period is shorter than a quarter of an hour (docs/repository-format.md). Packs are mostly marked after that.
 */
function awaitedMs(graceSeconds: number): number {
  return graceSeconds * 1_000 * (1 + 1 / 6) + 60_000;
}

/** A prune that went through has deleted all that was due when it began. */
function note({ site, ledger, graceSeconds }: UpkeepPlan, run: UpkeepRun): void {
  ledger.upkeep.push(run);
  if (run.end === 'failed') ledger.violations.push(`prune by ${run.by} failed: ${run.said}`);
  if (run.end !== 'ok') return;
  const overdue = packsOverdue(site.repository, run.beganMs - graceSeconds * 1_000 - awaitedMs(graceSeconds));
  for (const { name, markedMs } of overdue) {
    const age = Math.round((run.beganMs - markedMs) / 1_000);
    ledger.violations.push(`pack ${name} was marked ${age} s before a prune by ${run.by} that left it`);
  }
}
