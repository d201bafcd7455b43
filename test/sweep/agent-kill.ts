/**
 * Kills the agent while a job waits, runs, ends or is taken up again, alone or together with its engine, and holds what
 * comes after to what was promised: the job ends as it should, nothing that is stored is stored again, nothing is lost.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { expect } from 'vitest';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import { removeTree } from '../support/remove-tree.ts';
import { seededRandom, type SeededRandom } from '../support/seeded-random.ts';
import {
  killHard,
  leasesIn,
  prepareAgent,
  startAgent,
  storeSettings,
  until,
  type AgentPlace,
  type RunningAgent,
  type ShownJob,
} from './agent-program.ts';
import { isAlive } from '../support/is-alive.ts';
import { changeCorpus, copyAside, makeCorpus, type CorpusScale } from './corpus.ts';
import { expectClean, expectRestores, measureStoredAgain, type StoredAgain } from './oracle.ts';
import { Histogram } from './phases.ts';
import { jsonLines, succeed } from './program.ts';
import {
  added,
  expireLeases,
  isTreePack,
  linkedCopy,
  listRepository,
  type Listing,
} from './stored-objects.ts';
import type { PackSizes, Workspace } from './workspace.ts';

export interface AgentKillPlan {
  readonly kills: number;
  readonly seed: number;
  readonly scale: CorpusScale;
  readonly sizes: PackSizes;
  /** As the settings have it: what stretches a backup, so that it can be hit. */
  readonly uploadLimit: string;
  /** Undisturbed runs are timed first, agents killed twice, and older snapshots looked at too. */
  readonly thorough: boolean;
}

/** What the job had come to when it was hit. */
export const AGENT_PHASES = ['waiting', 'starting', 'at work', 'ending', 'over'] as const;
type AgentPhase = (typeof AGENT_PHASES)[number];

export interface AgentKills {
  readonly phases: Readonly<Record<Kind, Histogram<AgentPhase>>>;
  readonly completed: number;
  readonly failed: number;
  /** Raw bytes in packs that were finished when the kill came, and of those what was stored once more. */
  readonly finishedBytes: number;
  readonly againBytes: number;
  /** Engines that a kill of the agent alone left behind, and the longest that one of them lived on. */
  readonly orphans: number;
  readonly orphanMsMax: number;
  /** Kills of the agent that had just been started again. */
  readonly secondKills: number;
}

type Kind = 'backup' | 'restore';

/** The cheapest passphrase that the catalog opens a repository with. */
const CATALOG_COST = { m: 65_536, t: 1, p: 1 };

interface Series {
  readonly workspace: Workspace;
  readonly thorough: boolean;
  readonly place: AgentPlace;
  readonly source: string;
  readonly old: { readonly snapshot: string; readonly tree: string };
  readonly newTree: string;
  /** From the answer to the request to the end of the job, undisturbed. */
  readonly durationMs: Readonly<Record<Kind, number>>;
}

/** One kill: of what, when, and what dies with it. */
interface Blow {
  readonly kind: Kind;
  readonly victims: 'agent' | 'agent and engines';
  readonly name: string;
  /** Resolves when it is time. */
  readonly moment: (target: string) => Promise<void>;
  /** The next agent begins beside the engine that the last one has left, instead of after its end. */
  readonly beside: boolean;
  /** Milliseconds after the next start at which that one is killed too. */
  readonly secondAfterMs: number | undefined;
}

export async function sweepAgentKills(workspace: Workspace, plan: AgentKillPlan): Promise<AgentKills> {
  const random = seededRandom(plan.seed);
  const series = await prepare(workspace, plan, random);
  const phases = { backup: new Histogram(AGENT_PHASES), restore: new Histogram(AGENT_PHASES) };
  const sum = { completed: 0, failed: 0, finishedBytes: 0, againBytes: 0, orphans: 0, secondKills: 0 };
  let orphanMsMax = 0;
  for (let kill = 0; kill < plan.kills; kill += 1) {
    const blow = chooseBlow(random, series, kill);
    const result = await strike(series, blow);
    phases[blow.kind].add(result.phase);
    sum.completed += result.job.status === 'completed' ? 1 : 0;
    sum.failed += result.job.status === 'failed' ? 1 : 0;
    sum.finishedBytes += result.stored.finishedBytes;
    sum.againBytes += result.stored.againBytes;
    sum.orphans += result.orphanMs === undefined ? 0 : 1;
    sum.secondKills += blow.secondAfterMs === undefined ? 0 : 1;
    orphanMsMax = Math.max(orphanMsMax, result.orphanMs ?? 0);
    tell(kill + 1, plan.kills, blow, result);
  }
  return { phases, ...sum, orphanMsMax };
}

interface Result {
  readonly phase: AgentPhase;
  readonly job: ShownJob;
  readonly stored: StoredAgain;
  readonly orphanMs: number | undefined;
}

function tell(
  done: number,
  of: number,
  { kind, victims, name }: Blow,
  { phase, job, stored, orphanMs }: Result,
): void {
  if (process.env['HOLDFAST_SWEEP'] === undefined) return;
  const orphan = orphanMs === undefined ? '' : `; its engine lived on for ${Math.round(orphanMs)} ms`;
  process.stdout.write(
    `  ${kind} ${done}/${of}: ${victims} killed ${name}, ${phase}; ${job.status} in attempt ${job.attempt}, ` +
      `${stored.againBytes} of ${stored.finishedBytes} bytes stored again${orphan}\n`,
  );
}

async function prepare(
  workspace: Workspace,
  { scale, sizes, uploadLimit, thorough }: AgentKillPlan,
  random: SeededRandom,
): Promise<Series> {
  const source = workspace.path('source');
  makeCorpus(source, scale, random);
  const old = workspace.path('version-1');
  copyAside(source, old);
  const bare = await workspace.create('victim', { cost: CATALOG_COST, ...sizes });
  const place = await prepareAgent(bare, {
    ...storeSettings(bare),
    bandwidth: [{ from: '00:00', uploadLimit }],
  });
  const agent = await startAgent(place);
  const first = await agent.finished('/backup', (await agent.submit('/backup', { source })).id);
  expect(first).toMatchObject({ status: 'completed', attempt: 1 });
  const snapshot = first.snapshot_id ?? '';
  await agent.stop();
  changeCorpus(source, 2, random);
  const newTree = workspace.path('version-2');
  copyAside(source, newTree);
  linkedCopy(place.repository, workspace.path('base.repository'));
  execFileSync('cp', ['-a', '--', place.state, workspace.path('base.state')]);
  const series = { workspace, thorough, place, source, old: { snapshot, tree: old }, newTree };
  return { ...series, durationMs: thorough ? await timed(series) : USUAL_MS };
}

/** Milliseconds, where nobody measures. */
const USUAL_MS = { backup: 1_200, restore: 600 };

async function timed(series: Omit<Series, 'durationMs'>): Promise<Record<Kind, number>> {
  const durationMs = { backup: 0, restore: 0 };
  const agent = await startAgent(series.place);
  for (const kind of ['backup', 'restore'] as const) {
    const { id } = await begin(series, agent, kind, series.workspace.fresh());
    const begunMs = performance.now();
    expect(await agent.finished(`/${kind}`, id)).toMatchObject({ status: 'completed' });
    durationMs[kind] = performance.now() - begunMs;
  }
  await agent.stop();
  return durationMs;
}

async function begin(
  { source, old }: Pick<Series, 'source' | 'old'>,
  agent: RunningAgent,
  kind: Kind,
  target: string,
): Promise<ShownJob> {
  if (kind === 'backup') return await agent.submit('/backup', { source });
  mkdirSync(target, { recursive: true });
  return await agent.submit('/restore', { snapshot_id: old.snapshot, target });
}

/** Both kinds of job and both kinds of victims in turn; the moment by chance. */
function chooseBlow(random: SeededRandom, series: Series, kill: number): Blow {
  const kind: Kind = kill % 3 === 1 ? 'restore' : 'backup';
  const victims = random.next() < 0.6 ? 'agent' : 'agent and engines';
  const secondAfterMs = series.thorough && random.next() < 0.25 ? random.next() * 2_000 : undefined;
  const rest = { kind, victims, secondAfterMs, beside: random.next() < 0.5 } as const;
  const dice = random.next();
  if (dice < 0.2) {
    const ms = random.next() * 40;
    return { ...rest, name: `${Math.round(ms)} ms after the answer`, moment: async () => await sleep(ms) };
  }
  if (dice < 0.6) {
    const ms = random.next() * series.durationMs[kind] * 1.02;
    return { ...rest, name: `after ${Math.round(ms)} ms`, moment: async () => await sleep(ms) };
  }
  if (kind === 'restore') {
    const files = 1 + random.below(400);
    const reached = (target: string): boolean => filesBelow(target) >= files;
    return { ...rest, name: `at file ${files}`, moment: async (target) => await when(() => reached(target)) };
  }
  const [name, reached] = eventOf(random, series);
  return { ...rest, name, moment: async () => await when(reached) };
}

async function when(reached: () => boolean): Promise<void> {
  while (!reached()) await sleep(1);
}

function filesBelow(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .length;
}

function eventOf(random: SeededRandom, { place }: Series): readonly [string, () => boolean] {
  const before = listRepository(place.repository);
  const seen = (prefix: string) => added(before, listRepository(place.repository), prefix);
  const events = [
    ['at the first pack', () => seen('packs/').length > 0],
    ['at the tree pack', () => seen('packs/').some((pack) => isTreePack(place.repository, pack))],
    ['at the index object', () => seen('index/').length > 0],
    ['at the snapshot', () => seen('snapshots/').length > 0],
  ] as const;
  return events[random.below(events.length)] ?? events[0];
}

async function strike(series: Series, blow: Blow): Promise<Result> {
  const { workspace, place } = series;
  reset(series);
  const target = workspace.fresh();
  const before = listRepository(place.repository);
  const agent = await startAgent(place);
  const { id } = await begin(series, agent, blow.kind, target);
  const check = await agent.submit('/check', { read_data: 0 });
  await blow.moment(target);
  const left = await agent.kill(blow.victims);
  const orphansEnd = timeToEnd(left);
  const phase = phaseOf(place, id);
  expectWhole(place);
  if (blow.secondAfterMs !== undefined) {
    await startAndKill(place, blow.secondAfterMs);
    expectWhole(place);
  }
  const atKill = listRepository(place.repository);
  if (!blow.beside) await orphansEnd;
  const next = await startAgent(place);
  const job = await next.finished(`/${blow.kind}`, id);
  const checked = await next.finished('/check', check.id);
  expect(await next.stop()).toBe(0);

  expect(['completed', 'failed']).toContain(job.status);
  if (job.status === 'failed') expect(job.error?.code).toBe('JOB_INTERRUPTED');
  expect(checked).toMatchObject({ status: 'completed' });
  expectWhole(place);
  const orphanMs = blow.victims === 'agent' && left.length > 0 ? await orphansEnd : undefined;
  expect(next.engines()).toEqual([]);
  if (blow.victims === 'agent') expect(leasesIn(place.repository)).toEqual([]);
  else expireLeases(place.repository);
  const stored = await expectStored(series, blow.kind, { before, atKill }, job, target);
  removeTree(target);
  return { phase, job, stored, orphanMs };
}

/** Takes the place back to where every kill begins. */
function reset({ workspace, place }: Series): void {
  workspace.drop(place);
  linkedCopy(workspace.path('base.repository'), place.repository);
  execFileSync('cp', ['-a', '--', workspace.path('base.state'), place.state]);
}

/** Milliseconds from now until the last of them has ended. */
async function timeToEnd(pids: readonly number[]): Promise<number> {
  const begunMs = performance.now();
  for (const pid of pids) await until(`the end of the engine ${pid}`, () => !isAlive(pid) || undefined);
  return performance.now() - begunMs;
}

/** Starts the agent and kills it after so long, ready or not. */
async function startAndKill(place: AgentPlace, afterMs: number): Promise<void> {
  let killed: Promise<void> | undefined;
  try {
    const agent = await startAgent(place, {}, (pid) => {
      killed = sleep(afterMs).then(() => killHard(pid));
    });
    await killed;
    await agent.kill('agent and engines');
  } catch (error) {
    await killed;
    if (!String(error).includes('SIGKILL')) throw error;
  }
}

/** What the state database says, from a copy that is opened as SQLite opens it after a crash. */
function inCopy<T>({ state }: AgentPlace, look: (database: Sqlite.Database) => T): T {
  const copy = `${state}.look`;
  mkdirSync(copy, { recursive: true });
  try {
    for (const name of readdirSync(state).filter((one) => /^state\.db(-wal)?$/.test(one)))
      execFileSync('cp', ['--', join(state, name), copy]);
    const database = new Sqlite(join(copy, 'state.db'));
    try {
      return look(database);
    } finally {
      database.close();
    }
  } finally {
    removeTree(copy);
  }
}

/** The state database is intact, and was never set aside. */
function expectWhole(place: AgentPlace): void {
  expect(inCopy(place, (database) => database.pragma('integrity_check', { simple: true }))).toBe('ok');
  expect(inCopy(place, (database) => database.pragma('foreign_key_check'))).toEqual([]);
  expect(readdirSync(place.state).filter((name) => name.includes('damaged'))).toEqual([]);
}

function phaseOf(place: AgentPlace, id: string): AgentPhase {
  const row = inCopy(place, (database) =>
    database
      .prepare<[string], { status: string; detail: string }>('SELECT status, detail FROM jobs WHERE id = ?')
      .get(id),
  );
  // The answer had come, so the job must be there.
  if (row === undefined) throw new Error(`the job ${id} is lost`);
  if (row.status === 'queued') return 'waiting';
  if (row.status !== 'running') return 'over';
  const { phase } = JSON.parse(row.detail) as { phase: string | null };
  if (phase === null) return 'starting';
  return phase === 'committing' ? 'ending' : 'at work';
}

async function expectStored(
  series: Series,
  kind: Kind,
  { before, atKill }: { readonly before: Listing; readonly atKill: Listing },
  job: ShownJob,
  target: string,
): Promise<StoredAgain> {
  const { workspace, place, source, old, newTree } = series;
  // What completed with the snapshot of a killed attempt leaves the head to the next backup.
  const { findings } = await expectClean(place, { warnings: true });
  for (const { severity, what } of findings)
    if (severity === 'warning') expect(what).toMatch(/^there is no head for record/);
  const after = listRepository(place.repository);
  const stored = await measureStoredAgain(place, before, atKill, after);
  if (series.thorough) await expectRestores(workspace, place, old.snapshot, source, old.tree);
  const made = jsonLines(await succeed(place, ['snapshots', '--json'])).filter(({ tags }) =>
    (tags as string[]).includes(`job:${job.id}`),
  );
  if (kind === 'restore') {
    expect(added(before, after, 'snapshots/')).toEqual([]);
    expect(job.status).toBe('completed');
    // What a killed attempt has restored is not replaced, and so is nothing that the next one links to.
    const differences = compareTrees(old.tree, join(target, source)).map(shownDifference);
    expect(differences.filter((line) => !/^links .*\| own inode$/.test(line))).toEqual([]);
    expect(existsSync(target)).toBe(true);
  } else if (job.status === 'completed') {
    expect(made.map(({ id }) => id)).toEqual([job.snapshot_id]);
    await expectRestores(workspace, place, job.snapshot_id ?? '', source, newTree);
  } else expect(made).toEqual([]);
  return stored;
}
