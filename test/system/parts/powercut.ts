/**
 * The power goes while an agent makes a first backup, a later one and a prune that deletes, and a Partner service takes
 * reports, all at once and each on a disk of its own, on one of three file systems. Each of the four is judged by itself, by
 * the programs in disks/. One counts when its repository had grown, or that of the prune had shrunk, and its job was not over;
 * the service when it had answered reports since the machine went on.
 */
import { rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { runCommand } from '../../servers/run-command.ts';
import { seededRandom, type SeededRandom } from '../../support/seeded-random.ts';
import type { Bench, Part } from '../bench.ts';
import type { AgentVerdict, JobAsked, JudgedAgent } from '../disks/judge-agent.ts';
import type { JudgedPartner, PartnerVerdict } from '../disks/judge-partner.ts';
import { BACKUPS, DISKS, MEBIBYTES, REPOSITORIES, type RepositoryName } from '../disks/mounted-disk.ts';
import { inOwnMounts, mountableHere } from '../disks/own-mounts.ts';
import { tellCuts, type CutRecord } from '../kept-figures.ts';
import { goOnAtWork, machineAtWork, noted, type AtWork, type Layers } from './cut-machine.ts';
import { KINDS, answeredIn, changesIn } from './cut-work.ts';
import { FILE_SYSTEMS } from './mounts.ts';

/** On each file system; each hits four kinds of work. */
const USUAL_ROUNDS = 8;
/** Answered since the machine went on, before a cut of the service counts. */
const LEAST_REPORTS = 3;
const LONGEST_MS = 30_000;
/** So long holds the right to prune that a cut leaves behind; it passes while the next machine comes to work. */
const LEASE_MS = 300_000;
/** What forgotten backups leave to be removed. */
const DELETED_KIB = (BACKUPS - 1) * MEBIBYTES * 1_024;

export const powercut: Part = {
  name: 'powercut',
  purpose:
    'the power goes in first and later backups, in prunes that delete and in a Partner service, on ext4, XFS and btrfs',
  minutes: 90,
  run: async (bench) => {
    const { fileSystems } = bench.settings;
    const kinds = mountableHere(FILE_SYSTEMS.filter((one) => fileSystems?.includes(one) ?? true));
    bench.check('this kernel can look at the disks of the machine, as root', kinds.length > 0);
    if (kinds.length < FILE_SYSTEMS.length) bench.say(`tried here: ${kinds.join(' ') || 'none'}`);
    const random = seededRandom(bench.settings.seed);
    const cuts: CutRecord[] = [];
    const waiting: AtWork[] = [];
    for (const kind of kinds) {
      waiting.push(await machineAtWork(bench, kind));
      while (waiting[0] !== undefined && ageMs(waiting[0]) > LEASE_MS)
        await cutAndJudge(bench, waiting.shift(), random, cuts);
    }
    while (waiting.length > 0) await cutAndJudge(bench, waiting.shift(), random, cuts);
    for (const line of tellCuts(cuts)) bench.say(line.trim());
    for (const kind of Object.values(KINDS)) {
      const counted = cuts.filter((one) => one.kind === kind && one.counted).length;
      bench.figures[`cuts that counted, ${kind}`] = counted;
      bench.check(`${kind}: some cuts counted`, counted > 0);
    }
  },
};

/** Since it was frozen. */
function ageMs({ directory }: AtWork): number {
  return Date.now() - statSync(path.join(directory, 'memory')).mtimeMs;
}

async function cutAndJudge(
  bench: Bench,
  work: AtWork | undefined,
  random: SeededRandom,
  cuts: CutRecord[],
): Promise<void> {
  if (work === undefined) return;
  // What one cut has left is looked at while the machine runs to the next.
  let judging: Promise<unknown> = Promise.resolve();
  for (let round = 0; round < (bench.settings.cuts ?? USUAL_ROUNDS); round += 1) {
    const left = await cut(bench, work, random, round);
    await judging;
    judging = judge(bench, work, left, cuts);
    // Whoever waits for it is told.
    judging.catch(() => undefined);
  }
  await judging;
}

/** The disks after a cut. */
interface Left {
  readonly place: string;
  readonly layers: Layers;
  readonly notes: string;
}

async function cut(bench: Bench, work: AtWork, random: SeededRandom, round: number): Promise<Left> {
  const place = bench.place(`cut-${work.kind}-${round}`);
  const { layers, machine } = await goOnAtWork(bench, work, place);
  const [removed, lastsMs] = [random.below(DELETED_KIB), random.below(LONGEST_MS)];
  let beganMs: number | undefined;
  const notes = await noted(machine, 180_000, (text) => {
    const { store } = changesIn(text);
    if (store === undefined) return false;
    beganMs ??= performance.now();
    const elapsedMs = performance.now() - beganMs;
    if (answeredIn(text).count < LEAST_REPORTS && elapsedMs < 2 * LONGEST_MS) return false;
    // One that changes no more is over, or soon will be.
    return -store >= removed || elapsedMs > lastsMs;
  });
  await machine.cutPower();
  return { place, layers, notes };
}

async function judge(bench: Bench, work: AtWork, left: Left, cuts: CutRecord[]): Promise<void> {
  const { place, layers, notes } = left;
  for (const name of DISKS)
    await runCommand('qemu-img', ['convert', '-O', 'raw', layers[name], path.join(place, `${name}.raw`)]);
  const records = [
    ...(await judgeAgent(bench, work, place, notes)),
    await judgePartner(bench, work, place, notes),
  ];
  for (const record of records) {
    cuts.push(record);
    bench.settings.kept.addCut(record);
    const { kind, changed, counted, violations } = record;
    const unit = kind === KINDS.partner ? 'reports' : 'KiB';
    const what = `${work.kind}, ${kind}, ${changed} ${unit}: ${counted ? 'counted' : 'not counted'}`;
    bench.check(what, violations.length === 0, violations.join('\n'));
  }
  rmSync(place, { recursive: true, force: true });
}

async function judgeAgent(
  bench: Bench,
  { kind: filesystem, made, jobs: ids }: AtWork,
  images: string,
  notes: string,
): Promise<readonly CutRecord[]> {
  const asked = (name: RepositoryName): JobAsked => ({
    id: ids[name],
    route: name === 'store' ? '/prune' : '/backup',
  });
  const jobs = { store: asked('store'), grown: asked('grown'), fresh: asked('fresh') };
  const { credential, digests } = made;
  const given: JudgedAgent = { kind: filesystem, images, credential, digests, jobs };
  const verdict = await inOwnMounts<AgentVerdict>('judge-agent.ts', given, 900_000);
  const changes = changesIn(notes);
  const longest = 'longest until a job that was hit was completed (s)';
  return REPOSITORIES.map((name) => {
    const { attempts, violations, snapshotsRestored, goneOnMs } = verdict.jobs[name];
    const changed = changes[name] ?? 0;
    const isChanged = name === 'store' ? changed < 0 : changed > 0;
    add(bench, 'snapshots restored and compared', snapshotsRestored);
    add(bench, 'databases examined', name === 'store' ? verdict.databases : 0);
    bench.figures[longest] = Math.max(Number(bench.figures[longest] ?? 0), Math.round(goneOnMs / 100) / 10);
    return {
      seed: bench.settings.seed,
      filesystem,
      kind: KINDS[name],
      counted: isChanged && attempts > 1,
      changed,
      // What is wrong with the agent as a whole is told once.
      violations: name === 'store' ? [...verdict.violations, ...violations] : violations,
    };
  });
}

async function judgePartner(
  bench: Bench,
  { kind: filesystem, made, answered: before }: AtWork,
  images: string,
  notes: string,
): Promise<CutRecord> {
  const { last, count } = answeredIn(notes);
  const answered = made.partner.devices.map((_, number) => last[number] ?? before[number] ?? 0);
  const given: JudgedPartner = { kind: filesystem, images, made: made.partner, answered };
  const { violations, reports } = await inOwnMounts<PartnerVerdict>('judge-partner.ts', given, 300_000);
  add(bench, 'reports that were answered', count);
  add(bench, 'reports in the stores', reports);
  const { seed } = bench.settings;
  const counted = count >= LEAST_REPORTS;
  return { seed, filesystem, kind: KINDS.partner, counted, changed: count, violations };
}

function add(bench: Bench, name: string, more: number): void {
  bench.figures[name] = Number(bench.figures[name] ?? 0) + more;
}
