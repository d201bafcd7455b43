/**
 * Files that change, go or fail while they are read, at any call: an entry is one version of its file, or marked as changed,
 * or missing and listed; nothing else is the worse for it. What is no file is never opened.
 */
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { asByteString, bytesOfText } from '../../src/base/byte-path.ts';
import { treePath } from '../../src/base/tree-path.ts';
import type { Entry } from '../../src/format/tree.ts';
import type { Snapshot } from '../../src/repository/snapshots.ts';
import { storedContent } from '../support/compare-snapshot.ts';
import { never, openEngine, type Engine } from '../support/engine.ts';
import { makeSpecial } from '../support/libc.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { watchReads } from '../support/watched-reads.ts';

const CHANGES = [
  'appended to',
  'cut',
  'rewritten',
  'emptied',
  'removed',
  'replaced by a file',
  'replaced by a directory',
  'replaced by a link',
  'replaced by a FIFO',
] as const;
type Change = (typeof CHANGES)[number];
const FAILURES = ['EIO', 'EACCES', 'ESTALE'] as const;
type Failure = (typeof FAILURES)[number];

const REPLACEMENTS: Readonly<Partial<Record<Change | Failure, Entry['type']>>> = {
  'replaced by a directory': 'directory',
  'replaced by a link': 'symlink',
  'replaced by a FIFO': 'fifo',
};

/** Nothing, what is read at once, and what is read in parts. */
const SIZES = [0, 300, 70_000, 300_000] as const;
const FILES = 16;
/** Devices only root can make. */
const SPECIALS =
  process.getuid?.() === 0
    ? (['fifo', 'socket', 'character-device'] as const)
    : (['fifo', 'socket'] as const);

export interface SourceFaults {
  /** In how many files each change and each failure struck. */
  readonly struck: ReadonlyMap<Change | Failure, number>;
  /** Entries that were marked as changed. */
  readonly marked: number;
  /** Backups of a FIFO, socket or device. */
  readonly specials: number;
}

interface Version {
  readonly content: Buffer;
  readonly mtimeNs: bigint;
}

interface Trial {
  readonly path: string;
  readonly plan: Change | Failure | undefined;
  /** The first call that it strikes at, counted from 0; a change strikes so often at most, a failure from there on. */
  readonly from: number;
  readonly times: number;
  /** What has stood there as a file. */
  readonly versions: Version[];
  strikes: number;
}

/** @param rounds of 16 files each, some of which are left alone */
export async function sweepSourceFaults(rounds: number, random: SeededRandom): Promise<SourceFaults> {
  await using engine = await openEngine();
  const struck = new Map<Change | Failure, number>();
  let marked = 0;
  for (let round = 0; round < rounds; round += 1) {
    const directory = join(engine.source, `round-${round}`);
    mkdirSync(directory);
    const trials = Array.from({ length: FILES }, (_, number) => makeTrial(directory, number, random));
    const special = join(directory, 'special');
    makeSpecial(bytesOfText(special), SPECIALS[round % SPECIALS.length] ?? 'fifo', 0o600, 1, 5);
    const { snapshot, opened } = await backUpStruck(engine, directory, trials);
    expect(opened, 'what is no file is not opened').not.toContain(special);
    const tree = await engine.treeOf(snapshot);
    expect(['fifo', 'socket', 'char-device']).toContain(tree.get(asByteString(special))?.type);
    const problems = new Map<string, string>(snapshot.record.errors.map(({ path, code }) => [path, code]));
    expect(snapshot.record.status).toBe(problems.size === 0 ? 'complete' : 'partial');
    for (const trial of trials) {
      const { path, plan, strikes } = trial;
      const problem = problems.get(path);
      await expectTrue(engine, snapshot, trial, tree.get(asByteString(path)), problem);
      if (problem === 'CHANGED') marked += 1;
      problems.delete(path);
      if (plan !== undefined && strikes > 0) struck.set(plan, (struck.get(plan) ?? 0) + 1);
    }
    expect([...problems.keys()]).toEqual([]);
    const next = await engine.backup([directory]);
    expect(next.snapshot.record.status).toBe('complete');
    expect(await engine.differences(next.snapshot, directory)).toEqual([]);
    rmSync(directory, { recursive: true });
  }
  return { struck, marked, specials: rounds };
}

function makeTrial(directory: string, number: number, random: SeededRandom): Trial {
  const path = join(directory, `file-${number}`);
  const size = SIZES[number % SIZES.length] ?? 0;
  writeFileSync(path, random.bytes(size));
  const plans = [...CHANGES, ...FAILURES, undefined];
  // A file of no bytes is opened, looked at and tried once.
  const from = random.below(size > 70_000 ? 6 : 3);
  const times = random.next() < 0.8 ? 1 : 3;
  const trial = { path, plan: plans[random.below(plans.length)], from, times, versions: [], strikes: 0 };
  noteVersion(trial);
  return trial;
}

function noteVersion({ path, versions }: Trial): void {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat?.isFile() === true) versions.push({ content: readFileSync(path), mtimeNs: stat.mtimeNs });
}

async function backUpStruck(
  engine: Engine,
  directory: string,
  trials: readonly Trial[],
): Promise<{ readonly snapshot: Snapshot; readonly opened: readonly string[] }> {
  const opened: string[] = [];
  using _ = watchReads(directory, (path, before) => {
    opened.push(path);
    const trial = trials.find((one) => one.path === path);
    if (trial?.plan === undefined || before < trial.from) return;
    if (isFailure(trial.plan)) {
      trial.strikes += 1;
      throw Object.assign(new Error(`${trial.plan}: planned, ${path}`), {
        code: trial.plan,
        syscall: 'read',
      });
    }
    if (trial.strikes === trial.times) return;
    trial.strikes += 1;
    change(path, trial.plan, trial.strikes);
    noteVersion(trial);
  });
  const { snapshot } = await engine.backup([directory]);
  return { snapshot, opened };
}

function isFailure(plan: Change | Failure): plan is Failure {
  return FAILURES.some((one) => one === plan);
}

/** What cannot be done again, as what was there is gone, is left as it is. */
function change(path: string, plan: Change, time: number): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isFile() !== true) return;
  switch (plan) {
    case 'appended to':
      return appendFileSync(path, randomBytes(1 + time * 1_000));
    case 'cut':
      return truncateSync(path, Math.floor(stat.size / 2));
    case 'rewritten':
      return writeFileSync(path, randomBytes(stat.size));
    case 'emptied':
      return truncateSync(path, 0);
    case 'removed':
      return rmSync(path);
    case 'replaced by a file':
      writeFileSync(`${path}.new`, randomBytes(stat.size));
      return renameSync(`${path}.new`, path);
    case 'replaced by a directory':
      rmSync(path);
      return mkdirSync(path);
    case 'replaced by a link':
      rmSync(path);
      return symlinkSync('special', path);
    case 'replaced by a FIFO':
      rmSync(path);
      return makeSpecial(treePath(path), 'fifo', 0o600);
  }
}

/** One version of the file, whole and with its own time; or marked; or what took its place; or missing, and listed. */
async function expectTrue(
  engine: Engine,
  snapshot: Snapshot,
  { path, plan, strikes, versions }: Trial,
  entry: Entry | undefined,
  problem: string | undefined,
): Promise<void> {
  const what = `${path}, ${plan ?? 'left alone'}, ${strikes} times`;
  if (strikes === 0 || plan === undefined) expect([entry?.type, problem], what).toEqual(['file', undefined]);
  else if (isFailure(plan)) expect([entry, problem], what).toEqual([undefined, plan]);
  if (entry === undefined) {
    expect(problem, what).toBeDefined();
    return;
  }
  if (entry.type !== 'file') {
    // What took its place before it was read is stored as what it is, and whole.
    expect([entry.type, problem], what).toEqual([
      plan === undefined ? 'file' : REPLACEMENTS[plan],
      undefined,
    ]);
    if (entry.type === 'symlink') expect(entry.target, what).toBe('special');
    return;
  }
  // Fails by itself when chunks and holes do not make up the size.
  const content = await storedContent(engine.repository, snapshot, entry, never);
  expect(content.length, what).toBe(entry.size);
  expect(problem, what).toBe(entry.changedWhileRead ? 'CHANGED' : undefined);
  if (entry.changedWhileRead) return;
  const same = versions.filter((version) => version.content.equals(content));
  expect(same.length, `${what}: no version of it has what was stored`).toBeGreaterThan(0);
  expect(
    same.map(({ mtimeNs }) => mtimeNs),
    what,
  ).toContain(entry.mtimeNs);
}
