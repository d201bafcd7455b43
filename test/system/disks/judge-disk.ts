/**
 * What a power cut has left on a disk: the databases are whole, the agent goes on with the job that was hit and completes
 * it, the repositories are clean, and every snapshot restores to what its backup has read.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import Sqlite from 'better-sqlite3';
import { startAgent, type AgentPlace, type RunningAgent, type ShownJob } from '../../sweep/agent-program.ts';
import { jsonLines, run as runProgram, type Place } from '../../sweep/program.ts';
import { digestOf } from '../trees.ts';
import { given, mountDisk, placeOf, shell, unmountDisk, type DiskFacts } from './mounted-disk.ts';

export interface Verdict {
  readonly violations: readonly string[];
  /** How often the job was begun: once when it was over before the cut. */
  readonly attempts: number;
  readonly snapshotsRestored: number;
  readonly databases: number;
  readonly goneOnMs: number;
}

export interface Judged extends DiskFacts {
  readonly credential: AgentPlace['credential'];
  readonly digests: Readonly<Record<string, string>>;
  /** What was accepted before the cut; null when the agent was not asked for anything yet. */
  readonly job: { readonly id: string; readonly route: '/backup' | '/prune' } | null;
  /** The tags of the snapshots that have to be there at the end, by repository. */
  readonly wanted: Readonly<Record<'store' | 'fresh', readonly string[]>>;
}

const PATIENCE_MS = 600_000;

const facts = given() as Judged;
const violations: string[] = [];
const mount = mountDisk(facts);
shell(`chown -R 0:0 ${mount}/state ${mount}/store ${mount}/fresh`);
const databases = examineDatabases();
const place = placeOf(mount);
const agent = await startAgent({ ...place, credential: facts.credential });
const { job, goneOnMs } = await goneOn(agent);
if (facts.job !== null && job?.status !== 'completed')
  violations.push(`the job that was hit: ${JSON.stringify(job)}`);
await requireTruth(agent);
let snapshotsRestored = 0;
for (const repository of ['store', 'fresh'] as const) {
  const tags = await examineRepository(placeOf(mount, repository));
  snapshotsRestored += tags.length;
  for (const tag of facts.wanted[repository])
    if (!tags.includes(tag)) violations.push(`${repository} lacks ${tag}: ${tags.join(' ')}`);
}
const code = await agent.stop();
if (code !== 0) violations.push(`the agent ended with ${code}`);
unmountDisk(mount);
const verdict: Verdict = { violations, attempts: job?.attempt ?? 0, snapshotsRestored, databases, goneOnMs };
process.stdout.write(JSON.stringify(verdict));

/** Copies of them, as the cut has left them: opening would mend what is to be looked at. */
function examineDatabases(): number {
  const names = readdirSync(`${mount}/state`, { recursive: true, encoding: 'utf8' });
  const found = names.filter((name) => /\.(?:db|sqlite)$/.test(name) && !name.includes('repository/'));
  mkdirSync('/mnt/databases', { recursive: true });
  for (const name of found) {
    const copy = path.join('/mnt/databases', name.replaceAll('/', '_'));
    for (const ending of ['', '-wal', '-shm']) {
      const from = path.join(mount, 'state', `${name}${ending}`);
      if (existsSync(from)) cpSync(from, `${copy}${ending}`);
    }
    try {
      const database = new Sqlite(copy);
      const said = JSON.stringify(database.pragma('integrity_check'));
      if (said !== '[{"integrity_check":"ok"}]') violations.push(`${name}: ${said.slice(0, 500)}`);
      database.close();
    } catch (error) {
      violations.push(`${name}: ${String(error)}`);
    }
  }
  return found.length;
}

async function goneOn(running: RunningAgent): Promise<{ job: ShownJob | undefined; goneOnMs: number }> {
  const beganMs = performance.now();
  if (facts.job === null) return { job: undefined, goneOnMs: 0 };
  const { id, route } = facts.job;
  for (;;) {
    const { status, data } = await running.ask('GET', `${route}/${id}`);
    const elapsedMs = performance.now() - beganMs;
    // It was accepted, so it is known.
    if (status !== 200) return { job: undefined, goneOnMs: elapsedMs };
    const job = data as ShownJob;
    if (job.finished_at !== null && job.status !== 'queued') return { job, goneOnMs: elapsedMs };
    if (elapsedMs > PATIENCE_MS) return { job, goneOnMs: elapsedMs };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Nothing is said to be lost, damaged or rolled back, and what was saved is said to be. */
async function requireTruth(running: RunningAgent): Promise<void> {
  const { data } = await running.ask('GET', '/status');
  const { headline, statements, checks } = data as {
    headline: { level: string };
    statements: readonly { code: string }[];
    checks: readonly { name?: string; status?: string }[];
  };
  const alarming = statements.filter(({ code }) =>
    /damage|lost|roll|emptied|corrupt|failed|other_repository/.test(code),
  );
  if (headline.level === 'bad' || alarming.length > 0)
    violations.push(`"status" says: ${JSON.stringify({ headline, alarming, checks }).slice(0, 1_500)}`);
}

/** @returns the tags of its snapshots */
async function examineRepository(of: Place): Promise<readonly string[]> {
  const name = path.basename(of.repository);
  if (!existsSync(of.repository)) return [];
  const checked = await runProgram(of, ['check', '--read-data', '--json']);
  if (checked.code !== 0)
    violations.push(
      `check of ${name}: ${checked.code} ${checked.stdout.slice(-800)}${checked.stderr.slice(-800)}`,
    );
  const listed = await runProgram(of, ['snapshots', '--json']);
  if (listed.code !== 0) violations.push(`snapshots of ${name}: ${listed.stderr.slice(-800)}`);
  const tags: string[] = [];
  for (const snapshot of jsonLines(listed)) {
    if (snapshot['type'] !== 'snapshot') continue;
    const tag = (snapshot['tags'] as readonly string[]).find((one) => one.startsWith('generation-')) ?? '?';
    tags.push(tag);
    const target = '/mnt/restored';
    rmSync(target, { recursive: true, force: true });
    const restored = await runProgram(of, [
      'restore',
      String(snapshot['id']),
      '--target',
      target,
      '--restore-ownership',
    ]);
    if (restored.code !== 0)
      violations.push(`restore of ${tag} from ${name}: ${restored.code} ${restored.stderr.slice(-800)}`);
    else if (shell(digestOf(`${target}${mount}/source`)) !== facts.digests[tag])
      violations.push(`${tag} of ${name} is not what its backup has read`);
  }
  return tags;
}
