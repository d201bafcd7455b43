/**
 * Many writers in one repository, with prune at work beside them: see `USAGE`. Machines back up sources that change, some
 * by the command and some by an agent; some have wrong clocks, some are killed and some sleep longer than a lease lives.
 * Meanwhile old snapshots are forgotten and prune runs every minute, sometimes twice at once. What is judged at the end
 * stands in judge.ts and stored-garbage.ts. The program must be built.
 */
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeTree } from '../support/remove-tree.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { listRepository } from '../sweep/stored-objects.ts';
import { AgentWriter } from './agent-writer.ts';
import { runCommandWriter } from './command-writer.ts';
import { judge } from './judge.ts';
import { Ledger } from './ledger.ts';
import { figures, memoryOf, minuteLine, requireFlat, table } from './report.ts';
import { USAGE, UsageError, understand, type RunSettings } from './settings.ts';
import { makeSite, type WritersSite } from './site.ts';
import { garbageIn, type Garbage } from './stored-garbage.ts';
import { PRUNE_EVERY_MS, keepUp, pruneUntil, type UpkeepPlan } from './upkeep.ts';

const SAMPLE_EVERY_MS = 10_000;
/** After a kill its lease lives for five minutes, and prune leaves alone what may belong to it. */
const EXPIRY_MS = 300_000;
/** Longer runs end calmly, so that the leases of the last kills have run out. */
const CALM_MS = 360_000;
/** Two of the minutes after each of which an agent that has nothing to do gives back memory, and a little. */
const REST_MS = 130_000;
/** Writers share the processors: the more there are, the longer each of them rests. */
const PAUSE_MS_PER_WRITER = 2_000;

async function work(settings: RunSettings, site: WritersSite, ledger: Ledger): Promise<number> {
  const beganMs = Date.now();
  const random = seededRandom(settings.seed);
  const lastsMs = settings.minutes * 60_000;
  const stop = new AbortController();
  // Ended by hand it thaws and ends what it has started, and judges what came of it.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  const machines = Array.from({ length: settings.writers }, (_, number) => site.writer(number));
  const agents: AgentWriter[] = [];
  for (const [number, machine] of machines.entries()) {
    if (number % 3 !== 0) continue;
    agents.push(await AgentWriter.start(machine, ledger, settings.keep, number % 6 === 3));
  }
  const startedMs = Date.now();
  const calmFromMs = startedMs + lastsMs - (lastsMs > 3 * CALM_MS ? CALM_MS : 0);
  const rhythm = { pauseMs: PAUSE_MS_PER_WRITER * settings.writers, calmFromMs, stopped: stop.signal };
  const { graceSeconds, keep } = settings;
  const plan: UpkeepPlan = {
    site,
    ledger,
    agents,
    random,
    graceSeconds,
    keep,
    calmFromMs,
    stopped: stop.signal,
  };
  say(`${machines.length} writers, ${agents.length} of them agents, ready after ${seconds(beganMs)} s`);
  const commands = machines.filter((_, number) => number % 3 !== 0);
  const writing = [
    ...agents.map(async (agent) => await agent.run({ ...rhythm, restMs: REST_MS })),
    ...commands.map(async (machine) => await runCommandWriter(machine, ledger, rhythm)),
    keepUp(plan),
  ];
  const all = Promise.all(writing);
  const watching = watch(site, ledger, agents, stop.signal);
  await Promise.race([all, sleep(lastsMs, undefined, { signal: stop.signal }).catch(() => {})]);
  const ranMs = Date.now() - startedMs;
  stop.abort();
  await all;
  await watching;
  return await conclude(settings, site, ledger, agents, plan, ranMs);
}

async function watch(
  site: WritersSite,
  ledger: Ledger,
  agents: readonly AgentWriter[],
  stopped: AbortSignal,
): Promise<void> {
  for (let sample = 1; !stopped.aborted; sample += 1) {
    for (const agent of agents) agent.sample();
    await sleep(SAMPLE_EVERY_MS, undefined, { signal: stopped }).catch(() => {});
    if (sample % (60_000 / SAMPLE_EVERY_MS) !== 0) continue;
    const packs = [...listRepository(site.repository).objects.keys()].filter((key) =>
      key.startsWith('packs/'),
    );
    say(minuteLine(sample / (60_000 / SAMPLE_EVERY_MS), ledger, agents, packs.length));
  }
}

async function conclude(
  settings: RunSettings,
  site: WritersSite,
  ledger: Ledger,
  agents: readonly AgentWriter[],
  plan: UpkeepPlan,
  ranMs: number,
): Promise<number> {
  for (const agent of agents) {
    const code = await agent.stop();
    if (code !== 0) ledger.violations.push(`${agent.machine.name} ended with ${code}`);
  }
  const atEnd = garbageIn(site.repository, Date.now());
  const mostMs = settings.graceSeconds * 1_000 + EXPIRY_MS + 3 * PRUNE_EVERY_MS;
  const settledMs = await pruneUntil(plan, () => isClean(garbageIn(site.repository, Date.now())), mostMs);
  const settled = garbageIn(site.repository, Date.now());
  if (!isClean(settled)) ledger.violations.push(`left after all prunes: ${JSON.stringify(settled)}`);
  const verdict = await judge(site, ledger);
  const memory = agents.map(memoryOf);
  for (const one of memory) requireFlat(one, ledger);
  requireDisturbed(settings, ledger);
  const minutesRun = ranMs / 60_000;
  const outcome = { settings, minutesRun, settledMs, verdict, atEnd, settled, memory, ledger };
  say(`\n${table(outcome)}\n`);
  for (const violation of ledger.violations) say(`VIOLATION ${violation}`);
  if (settings.json !== undefined)
    writeFileSync(settings.json, `${JSON.stringify(figures(outcome), undefined, 1)}\n`);
  return ledger.violations.length;
}

function isClean({ packs, forgottenSnapshots, supersededIndexes, packTombstones, leases }: Garbage): boolean {
  return (
    packs.length + forgottenSnapshots.length + supersededIndexes.length + packTombstones + leases.length === 0
  );
}

/** A run in which nothing happened proves nothing. */
function requireDisturbed({ minutes, writers }: RunSettings, ledger: Ledger): void {
  const removed = ledger.upkeep.reduce((sum, { removedPacks }) => sum + removedPacks, 0);
  if (minutes >= 5 && removed === 0) ledger.violations.push('no prune removed anything');
  if (minutes * writers < 25) return;
  const kinds = [...ledger.hits.keys()];
  for (const kind of ['kill', 'freeze'])
    if (!kinds.some((hit) => hit.startsWith(kind))) ledger.violations.push(`nothing was hit by a ${kind}`);
}

function seconds(sinceMs: number): string {
  return ((Date.now() - sinceMs) / 1_000).toFixed(1);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

try {
  const settings = understand(process.argv.slice(2));
  const site = await makeSite(settings);
  say(`seed ${settings.seed}, in ${site.directory}`);
  const violations = await work(settings, site, new Ledger());
  if (settings.leave || violations > 0) say(`left in ${site.directory}`);
  else removeTree(site.directory);
  process.exitCode = violations === 0 ? 0 : 1;
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n${USAGE}`);
  process.exitCode = 2;
}
