/**
 * What a power cut has left of an agent: the databases are whole, it goes on with the jobs that were hit and completes them,
 * the repositories are clean, and every snapshot restores to what its backup has read.
 */
import { existsSync, rmSync } from 'node:fs';
import { startAgent, type AgentPlace, type RunningAgent, type ShownJob } from '../../sweep/agent-program.ts';
import { jsonLines, run as runProgram } from '../../sweep/program.ts';
import { digestOf } from '../trees.ts';
import { examine } from './databases.ts';
import {
  BACKUPS,
  FIRST,
  LATER,
  REPOSITORIES,
  given,
  mountDisks,
  placeOf,
  shell,
  unmountDisks,
  type DiskFacts,
  type RepositoryName,
} from './mounted-disk.ts';
import { namesBelow } from '../../support/names-below.ts';

const AGENT_DISKS = ['state', ...REPOSITORIES] as const;
const PATIENCE_MS = 600_000;

export interface JobAsked {
  readonly id: string;
  readonly route: '/backup' | '/prune';
}

export interface JudgedAgent extends DiskFacts {
  readonly credential: AgentPlace['credential'];
  readonly digests: Readonly<Record<string, string>>;
  /** What was accepted before the cut. */
  readonly jobs: Readonly<Record<RepositoryName, JobAsked>>;
}

export interface JobVerdict {
  readonly violations: readonly string[];
  /** How often the job was begun: once when it was over before the cut. */
  readonly attempts: number;
  readonly snapshotsRestored: number;
  readonly goneOnMs: number;
}

export interface AgentVerdict {
  /** Of the agent as a whole. */
  readonly violations: readonly string[];
  readonly databases: number;
  readonly jobs: Readonly<Record<RepositoryName, JobVerdict>>;
}

/** The tags that a repository has in the end. */
const WANTED: Readonly<Record<RepositoryName, readonly string[]>> = {
  store: [`papers-${BACKUPS}`],
  grown: [`papers-${BACKUPS}`, LATER.tag],
  fresh: [FIRST.tag],
};

/** @returns what is wrong with it, and how many there are */
function examineDatabases(): { violations: string[]; databases: number } {
  const names = namesBelow('/mnt/state/agent');
  const found = names.filter((name) => /\.(?:db|sqlite)$/.test(name));
  const violations = found.flatMap((name) => {
    const said = examine(`/mnt/state/agent/${name}`);
    return said === '' ? [] : [`${name}: ${said}`];
  });
  return { violations, databases: found.length };
}

async function goneOn(agent: RunningAgent, { id, route }: JobAsked, beganMs: number) {
  for (;;) {
    const { status, data } = await agent.ask('GET', `${route}/${id}`);
    const goneOnMs = performance.now() - beganMs;
    // It was accepted, so it is known.
    if (status !== 200) return { job: undefined, goneOnMs };
    const job = data as ShownJob;
    if (job.finished_at !== null && job.status !== 'queued') return { job, goneOnMs };
    if (goneOnMs > PATIENCE_MS) return { job, goneOnMs };
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Nothing is said to be lost, damaged or rolled back. */
async function untruths(agent: RunningAgent): Promise<readonly string[]> {
  const { data } = await agent.ask('GET', '/status');
  const { headline, statements, checks } = data as {
    headline: { level: string; code: string };
    statements: readonly { code: string; level: string }[];
    checks: readonly { name?: string; status?: string }[];
  };
  const alarming = statements.filter(({ code, level }) => level === 'bad' || /failed/.test(code));
  if (alarming.length === 0) return [];
  return [`"status" says: ${JSON.stringify({ headline, alarming, checks }).slice(0, 1_500)}`];
}

/** What is wrong with a repository, and how many of its snapshots were restored and compared. */
async function examineRepository(name: RepositoryName): Promise<{ wrong: string[]; restored: number }> {
  const place = placeOf(name);
  const wrong: string[] = [];
  const checked = await runProgram(place, ['check', '--read-data', '--json']);
  if (checked.code !== 0)
    wrong.push(`check: ${checked.code} ${checked.stdout.slice(-800)}${checked.stderr.slice(-800)}`);
  const listed = await runProgram(place, ['snapshots', '--json']);
  if (listed.code !== 0) wrong.push(`snapshots: ${listed.stderr.slice(-800)}`);
  const tags: string[] = [];
  for (const snapshot of jsonLines(listed)) {
    if (snapshot['type'] !== 'snapshot') continue;
    const tag = (snapshot['tags'] as readonly string[]).find((one) => one in facts.digests) ?? '?';
    tags.push(tag);
    wrong.push(...(await compare(name, String(snapshot['id']), tag)));
  }
  for (const tag of WANTED[name]) if (!tags.includes(tag)) wrong.push(`lacks ${tag}: ${tags.join(' ')}`);
  return { wrong, restored: tags.length };
}

async function compare(name: RepositoryName, id: string, tag: string): Promise<readonly string[]> {
  const target = `/mnt/restored-${name}`;
  rmSync(target, { recursive: true, force: true });
  const words = ['restore', id, '--target', target, '--restore-ownership'];
  const restored = await runProgram(placeOf(name), words);
  if (restored.code !== 0) return [`restore of ${tag}: ${restored.code} ${restored.stderr.slice(-800)}`];
  const { source } = tag === FIRST.tag ? FIRST : LATER;
  if (!existsSync(`${target}${source}`)) return [`restore of ${tag}: ${source} is not in it`];
  return shell(digestOf(`${target}${source}`)) === facts.digests[tag]
    ? []
    : [`${tag} is not what its backup has read`];
}

const facts = given() as JudgedAgent;
mountDisks(facts, AGENT_DISKS);
shell(`chown -R 0:0 /mnt/state/agent ${REPOSITORIES.map((name) => placeOf(name).repository).join(' ')}`);
const { violations, databases } = examineDatabases();
const agent = await startAgent({ ...placeOf('store'), credential: facts.credential });
const beganMs = performance.now();
const ends = await Promise.all(
  REPOSITORIES.map(async (name) => await goneOn(agent, facts.jobs[name], beganMs)),
);
violations.push(...(await untruths(agent)));
const judged: [RepositoryName, JobVerdict][] = [];
for (const [number, name] of REPOSITORIES.entries()) {
  const { job, goneOnMs } = ends[number] ?? { job: undefined, goneOnMs: 0 };
  const { wrong, restored } = await examineRepository(name);
  if (job?.status !== 'completed') wrong.push(`the job that was hit: ${JSON.stringify(job)}`);
  judged.push([
    name,
    { violations: wrong, attempts: job?.attempt ?? 0, snapshotsRestored: restored, goneOnMs },
  ]);
}
const code = await agent.stop();
if (code !== 0) violations.push(`the agent ended with ${code}`);
unmountDisks(AGENT_DISKS);
const jobs = Object.fromEntries(judged) as Record<RepositoryName, JobVerdict>;
process.stdout.write(JSON.stringify({ violations, databases, jobs } satisfies AgentVerdict));
