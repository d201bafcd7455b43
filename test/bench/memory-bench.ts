/**
 * Whether an agent keeps memory of the work it did: `node memory-bench.ts DIR [ROUNDS]`. In each round the real program
 * makes backups for two minutes, one after the other, each of some changed files, and is asked for what a page shows;
 * it applies retention and prunes, so that what it looks after stays as much as it was. Then it is left alone until it
 * has given back what it is done with, and what is left is measured. Prints a line for each round, and how what is left
 * grows by the backups and by the hour, with 95% intervals. The first two rounds are left out: caches fill.
 */

import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { lineThrough } from '../support/line-through.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { embeddedPlace, prepareAgent, startAgent, type RunningAgent } from '../sweep/agent-program.ts';

const FILES = 1_000;
const CHANGED_FILES = 20;
const FILE_BYTES = 4_000;
const KEPT_SNAPSHOTS = 5;
const WORK_MS = 120_000;
/** An engine is kept for a minute, a catalog for another one, and memory is given back within a third. */
const REST_MS = 190_000;
/** The least of so many samples, one a second, is what is left. */
const SAMPLES = 15;
const FIRST_ROUND_COUNTED = 2;
/** Between two questions for a job: all requests together stay below the limit of the plan. */
const POLL_MS = 250;

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const random = seededRandom(1);

interface Round {
  readonly backups: number;
  readonly hours: number;
  readonly mebibytes: number;
  readonly fds: number;
}

function change(source: string, files: number): void {
  for (let count = 0; count < files; count += 1)
    writeFileSync(join(source, String(random.below(FILES))), random.bytes(FILE_BYTES));
}

async function finish(agent: RunningAgent, path: '/backup' | '/prune', body: unknown): Promise<void> {
  const { id } = await agent.submit(path, body);
  for (;;) {
    const job = await agent.job(path, id);
    if (job.status === 'completed') return;
    if (job.finished_at !== null) throw new Error(`${path} ended as ${job.status}: ${job.error?.message}`);
    await delay(POLL_MS);
  }
}

/** What a page shows. */
async function look(agent: RunningAgent, source: string): Promise<void> {
  const files = encodeURIComponent(source);
  for (const path of [
    '/status',
    '/snapshots',
    '/settings',
    `/files?path=${files}`,
    `/files/versions?path=${files}%2F1`,
  ]) {
    const { status } = await agent.ask('GET', path);
    if (status !== 200) throw new Error(`GET ${path} was answered with ${status}`);
  }
}

/** Gives the number of backups. */
async function work(agent: RunningAgent, source: string): Promise<number> {
  const endMs = performance.now() + WORK_MS;
  let backups = 0;
  while (performance.now() < endMs) {
    change(source, CHANGED_FILES);
    await finish(agent, '/backup', { source });
    backups += 1;
    if (backups % 10 === 0) await look(agent, source);
  }
  await finish(agent, '/prune', { apply_retention: true });
  return backups;
}

/**
 * What the process holds of its own when it has done nothing for a while. Pages of the program's code and of other files
 * are not counted: they come and go, and cost nobody anything.
 */
async function rest({ pid }: RunningAgent): Promise<{ readonly mebibytes: number; readonly fds: number }> {
  await delay(REST_MS);
  let least = Number.POSITIVE_INFINITY;
  for (let count = 0; count < SAMPLES; count += 1) {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    least = Math.min(least, Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1]) / 1_024);
    await delay(1_000);
  }
  return { mebibytes: least, fds: readdirSync(`/proc/${pid}/fd`).length };
}

function shownGrowth(rounds: readonly Round[], of: (round: Round) => number): string {
  const line = lineThrough(rounds.map((round) => ({ x: of(round), y: round.mebibytes })));
  return line === undefined ? 'too few rounds' : `${line.slope.toFixed(2)} ± ${line.margin.toFixed(2)} MiB`;
}

const base = resolve(process.argv[2] ?? '.');
const wanted = Number(process.argv[3] ?? 12);
mkdirSync(base, { recursive: true });
const directory = mkdtempSync(join(base, 'memory-'));
const source = join(directory, 'source');
mkdirSync(source);
for (let index = 0; index < FILES; index += 1)
  writeFileSync(join(source, String(index)), random.bytes(FILE_BYTES));
const place = await prepareAgent(embeddedPlace(directory), {
  retention: {
    keepLast: KEPT_SNAPSHOTS,
    keepDaily: null,
    keepWeekly: null,
    keepMonthly: null,
    keepWithin: null,
  },
  conditions: { onBattery: 'run', onMetered: 'run' },
});
const agent = await startAgent(place);
try {
  const beganMs = performance.now();
  const rounds: Round[] = [];
  let backups = 0;
  for (let number = 1; number <= wanted; number += 1) {
    backups += await work(agent, source);
    const left = await rest(agent);
    rounds.push({ ...left, backups, hours: (performance.now() - beganMs) / 3_600_000 });
    print(
      `round ${number}: ${backups} backups, ${left.mebibytes.toFixed(1)} MiB left, ${left.fds} open files`,
    );
  }
  const counted = rounds.slice(FIRST_ROUND_COUNTED);
  print(`growth for a thousand backups: ${shownGrowth(counted, (round) => round.backups / 1_000)}`);
  print(`growth for an hour: ${shownGrowth(counted, ({ hours }) => hours)}`);
  const [first, last] = [counted[0]?.fds, counted.at(-1)?.fds];
  print(`open files: ${first} after the first of these rounds, ${last} after the last`);
} finally {
  await agent.stop();
  rmSync(directory, { recursive: true, force: true });
}
