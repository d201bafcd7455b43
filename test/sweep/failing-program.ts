/**
 * The real program, of whose calls to the file system one fails: every call of a command, one after the other, in every
 * way there is, at the destination, in the source, in the machine's own state and where a restore writes.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'vitest';
import { listSnapshots } from '../../src/repository/snapshots.ts';
import { removeTree } from '../support/remove-tree.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { changeCorpus, copyAside, makeCorpus, QUICK_SCALE } from './corpus.ts';
import { expectOnlyLost } from './damage-judge.ts';
import { checkAll, shownTree } from './every-call-operations.ts';
import type { CallPlan, FailedCall } from './fail-at-call.ts';
import { restoreNewest } from './library-oracle.ts';
import { expectSame } from './oracle.ts';
import { describeFailure, jsonLines, run, type Outcome, type Place } from './program.ts';
import { runAgain } from './warm-program.ts';
import { expireLeases } from './stored-objects.ts';
import { openHere, type Workspace } from './workspace.ts';

const injector = pathToFileURL(join(import.meta.dirname, 'fail-at-call.ts')).href;
const never = new AbortController().signal;
const SIZES = { packTarget: 500_000, segmentTarget: 131_072 };
/** A number below it chooses one of the ways in which any call can fail. */
const MOST_WAYS = 5;

/** Whose calls fail. */
export type Side = 'destination' | 'source' | 'state' | 'target';

export interface Command {
  readonly name: string;
  readonly sides: readonly Side[];
  /** Where the calls are made. */
  readonly thread: CallPlan['thread'];
  readonly base: 'small' | 'large' | 'none';
  readonly words: (at: Where) => readonly string[];
  /** What `--json` says, and what it left, besides what every command has to keep. */
  readonly judge?: (at: Where, outcome: Outcome, side: Side) => Promise<void> | void;
  /** Whether all that it was to do is done. */
  readonly achieved?: (at: Where, outcome: Outcome) => Promise<void> | void;
}

/** A copy of the base, and a target of its own. */
export interface Where {
  readonly workspace: Workspace;
  readonly base: Base;
  readonly place: Place;
  readonly target: string;
}

/** A repository with one snapshot of a source that has changed since. */
export interface Base {
  readonly place: Place;
  readonly source: string;
  /** The source as the snapshot has it, and as it is now. */
  readonly saved: string;
  readonly now: string;
  readonly trees: ReadonlyMap<string, string>;
  /** Holds another passphrase. */
  readonly passphraseFile: string;
}

export interface ProgramPlan {
  readonly commands: readonly Command[];
  /** Each so many-th call only. */
  readonly every: number;
  /** Begins with this call, and fails each in every way; else somewhere, and one way each. */
  readonly first?: number | undefined;
  /** What name and side begin with. */
  readonly only: string;
  readonly random: SeededRandom;
  readonly tell?: (what: string, failures: number) => void;
}

export interface ProgramResult {
  readonly failures: ReadonlyMap<string, number>;
  /** How often a command ended with each exit code, when a call of it had failed. */
  readonly codes: ReadonlyMap<number, number>;
  readonly violations: readonly string[];
}

export async function sweepFailingProgram(workspace: Workspace, plan: ProgramPlan): Promise<ProgramResult> {
  const bases = {
    small: await makeBase(workspace, 'small', plan.random, {
      smallFiles: 12,
      largeFiles: 3,
      largeBytes: 60_000,
    }),
    large: await makeBase(workspace, 'large', plan.random, QUICK_SCALE),
  };
  const failures = new Map<string, number>();
  const codes = new Map<number, number>();
  const violations: string[] = [];
  for (const command of plan.commands) {
    const base = command.base === 'large' ? bases.large : bases.small;
    for (const side of command.sides) {
      const name = `${command.name}, ${side}`;
      if (!name.startsWith(plan.only)) continue;
      let count = 0;
      for await (const { code, violation } of failuresOf(workspace, base, command, side, plan)) {
        if (violation !== undefined) violations.push(violation);
        // The last one looks at the command when nothing fails.
        if (code === undefined) continue;
        count += 1;
        codes.set(code, (codes.get(code) ?? 0) + 1);
      }
      failures.set(name, count);
      plan.tell?.(name, count);
    }
  }
  return { failures, codes, violations };
}

/** One trial after the other, until the command makes no more calls. */
async function* failuresOf(
  workspace: Workspace,
  base: Base,
  command: Command,
  side: Side,
  { first, every, random }: ProgramPlan,
): AsyncGenerator<Trial> {
  for (let number = first ?? 1 + random.below(Math.min(3, every)); ; number += every) {
    const from = first === undefined ? random.below(MOST_WAYS) : 0;
    for (let way = from, ways = from + 1; way < ways; way += 1) {
      const trial = await tryOnce(workspace, base, command, side, number, way);
      yield trial;
      if (trial.failed === undefined) return;
      if (first !== undefined) ways = trial.failed.ways;
    }
  }
}

async function makeBase(
  workspace: Workspace,
  name: string,
  random: SeededRandom,
  scale: Parameters<typeof makeCorpus>[1],
): Promise<Base> {
  const source = workspace.path(`${name}-source`);
  makeCorpus(source, scale, random);
  const place = await workspace.create(name, SIZES);
  const saved = workspace.path(`${name}-saved`);
  copyAside(source, saved);
  const words = ['backup', source];
  const outcome = await run(place, words);
  expect(outcome.code, describeFailure(words, outcome)).toBe(0);
  changeCorpus(source, 2, random);
  const now = workspace.path(`${name}-now`);
  copyAside(source, now);
  const repository = await openHere(place);
  const trees = new Map<string, string>();
  for (const one of (await listSnapshots(repository, never)).live)
    trees.set(one.id, await shownTree(repository, one));
  await repository.close();
  expect(trees.size).toBe(1);
  const passphraseFile = workspace.path(`${name}-passphrase`);
  writeFileSync(passphraseFile, 'sweep: another passphrase', { mode: 0o600 });
  return { place, source, saved, now, trees, passphraseFile };
}

interface Trial {
  /** Undefined when the command makes fewer calls. */
  readonly failed: FailedCall | undefined;
  /** What the command ended with when a call of it had failed. */
  readonly code: number | undefined;
  readonly violation: string | undefined;
}

async function tryOnce(
  workspace: Workspace,
  base: Base,
  command: Command,
  side: Side,
  number: number,
  way: number,
): Promise<Trial> {
  const place = command.base === 'none' ? workspace.place('failing') : workspace.copy(base.place, 'failing');
  if (command.base === 'none') workspace.drop(place);
  const at: Where = { workspace, base, place, target: workspace.fresh() };
  const report = workspace.path('failed-call');
  rmSync(report, { force: true });
  const plan: CallPlan = {
    number,
    thread: command.thread,
    way,
    directories: directoriesOf(side, at),
    native: side === 'source' || side === 'target',
    report,
  };
  const words = [...command.words(at), '--json'];
  const env = { NODE_OPTIONS: `--import=${injector}`, SWEEP_FAIL: JSON.stringify(plan) };
  const outcome = await run(place, words, env);
  const failed = existsSync(report) ? readFailed(report) : undefined;
  const shown = failed && `${failed.name} ${failed.path}: ${failed.errno}${failed.lasts ? ' for good' : ''}`;
  const what = `${command.name}, ${side}, call ${number} of the ${command.thread} thread (${shown ?? 'none'})`;
  const code = failed && (outcome.code ?? -1);
  try {
    await judge(at, command, side, words, outcome, failed);
    return { failed, code, violation: undefined };
  } catch (error) {
    return { failed, code, violation: `${what}: ${String(error)}` };
  } finally {
    removeTree(at.target);
    workspace.drop(place);
  }
}

function directoriesOf(side: Side, { base, place, target }: Where): readonly string[] {
  switch (side) {
    case 'destination':
      return [place.repository];
    case 'source':
      return [base.source];
    case 'state':
      return [place.state, join(place.cache, 'holdfast')];
    case 'target':
      return [target];
  }
}

/** The call that failed first: with several threads each has one of that number. */
function readFailed(report: string): FailedCall {
  const [line = ''] = readFileSync(report, 'utf8').split('\n');
  return JSON.parse(line) as FailedCall;
}

const WRONG_USAGE = 2;
const PARTIAL = 3;

async function judge(
  at: Where,
  command: Command,
  side: Side,
  words: readonly string[],
  outcome: Outcome,
  failed: FailedCall | undefined,
): Promise<void> {
  const said = describeFailure(words, outcome);
  const codes =
    failed === undefined ? [0] : side === 'source' || side === 'target' ? [0, 1, PARTIAL] : [0, 1];
  // A target that cannot be made or written to is refused before anything begins.
  if (failed !== undefined && side === 'target' && errorOf(outcome)?.['code'] === 'INVALID_TARGET')
    codes.push(WRONG_USAGE);
  expect(codes, said).toContain(outcome.code);
  expect(`${outcome.stderr}${outcome.stdout}`).not.toMatch(/unexpected error|defect|"code":"BUG"/i);
  if (outcome.code === 1) expect(errorOf(outcome) ?? foundBy(outcome), said).toBeDefined();
  if (outcome.code === 0) await command.achieved?.(at, outcome);
  await command.judge?.(at, outcome, side);
  if (command.base !== 'none') await expectNothingLost(at);
  expireLeases(at.place.repository);
  const again = await runAgain(at.place, words);
  const saidAgain = `the next run: ${describeFailure(words, again)}`;
  // What is done already need not be done again, and says so.
  const done = command.base === 'none' && errorOf(again)?.['code'] === 'REPOSITORY_EXISTS';
  if (!done) expect(again.code, saidAgain).toBe(0);
  expect(omissionsOf(again)).toEqual([]);
  await command.achieved?.(at, again);
  if (command.base !== 'none') await expectNothingLost(at);
}

/** The one line that says why a command failed. */
function errorOf(outcome: Outcome): Record<string, unknown> | undefined {
  return jsonLines(outcome).find(({ type }) => type === 'error');
}

/** What a check reports of an object that could not be read. */
function foundBy(outcome: Outcome): Record<string, unknown> | undefined {
  return jsonLines(outcome).find(({ type, status }) => type === 'check' && status === 'damaged');
}

async function expectNothingLost({ base, place }: Where): Promise<void> {
  const repository = await openHere(place);
  try {
    const { findings } = await checkAll(repository);
    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
    const { live } = await listSnapshots(repository, never);
    for (const [id, tree] of base.trees) {
      const snapshot = live.find((one) => one.id === id);
      if (snapshot === undefined) throw new Error(`snapshot ${id} is gone`);
      expect(await shownTree(repository, snapshot)).toBe(tree);
    }
  } finally {
    await repository.close();
  }
}

/** Paths that the command says it lacks. What may not be on disk yet is there. */
function problemsOf(outcome: Outcome): string[] {
  return jsonLines(outcome)
    .filter(({ type, message }) => type === 'problem' && !/may not be on disk/.test(String(message)))
    .map(({ path }) => String(path));
}

/** What a restore says that it left out of entries that stand. */
function omissionsOf(outcome: Outcome): readonly { readonly paths: readonly string[] }[] {
  const summary = jsonLines(outcome).find(({ type }) => type === 'summary');
  return (summary?.['omissions'] ?? []) as readonly { readonly paths: readonly string[] }[];
}

/** What the newest snapshot restores to is the source, but for what the backup listed. */
async function expectSaved({ workspace, base, place }: Where, lost: readonly string[]): Promise<void> {
  const target = workspace.fresh();
  try {
    await restoreNewest(place, target);
    expectOnlyLost({ source: base.source, tree: base.now }, target, lost, 'what was saved');
  } finally {
    removeTree(target);
  }
}

async function snapshotsAt(place: Place): Promise<readonly string[]> {
  const repository = await openHere(place);
  try {
    return (await listSnapshots(repository, never)).live.map(({ id }) => id);
  } finally {
    await repository.close();
  }
}

const backup: Pick<Command, 'words' | 'judge' | 'achieved'> = {
  words: ({ base }) => ['backup', base.source],
  judge: async (at, outcome) => {
    const lost = problemsOf(outcome);
    expect(outcome.code === PARTIAL).toBe(lost.length > 0);
    if (outcome.code === 1) {
      expect(await snapshotsAt(at.place), 'a failed backup leaves no snapshot').toEqual([
        ...at.base.trees.keys(),
      ]);
    } else await expectSaved(at, lost);
  },
  achieved: async (at) => await expectSaved(at, []),
};

const restore: Pick<Command, 'words' | 'judge' | 'achieved'> = {
  words: ({ target }) => ['restore', 'latest', '--target', target, '--overwrite', 'if-changed'],
  judge: ({ base, target }, outcome) => {
    if (outcome.code !== PARTIAL) return;
    const omitted = omissionsOf(outcome).flatMap(({ paths }) => paths);
    const origin = { source: base.source, tree: base.saved };
    expectOnlyLost(origin, target, problemsOf(outcome), 'the restore', omitted);
  },
  achieved: ({ base, target }, outcome) => {
    // What the system refuses of an entry's metadata is told, and the entry stands.
    if (omissionsOf(outcome).length === 0) expectSame(base.saved, join(target, base.source));
  },
};

export const COMMANDS: readonly Command[] = [
  { name: 'init', sides: ['destination', 'state'], thread: 'main', base: 'none', words: () => ['init'] },
  { name: 'backup', sides: ['destination', 'state', 'source'], thread: 'main', base: 'small', ...backup },
  { name: 'backup by threads', sides: ['source'], thread: 'worker', base: 'large', ...backup },
  { name: 'restore', sides: ['destination', 'state', 'target'], thread: 'main', base: 'small', ...restore },
  { name: 'restore by threads', sides: ['target'], thread: 'worker', base: 'large', ...restore },
  {
    name: 'prune',
    sides: ['destination', 'state'],
    thread: 'main',
    base: 'small',
    words: () => ['prune', '--grace', '0', '--no-other-writers'],
  },
  {
    name: 'keys add',
    sides: ['destination', 'state'],
    thread: 'main',
    base: 'small',
    words: ({ base }) => ['keys', 'add', '--new-password-file', base.passphraseFile],
  },
  {
    name: 'check',
    sides: ['destination'],
    thread: 'main',
    base: 'small',
    words: () => ['check', '--read-data'],
  },
  {
    name: 'recover',
    sides: ['destination', 'state'],
    thread: 'main',
    base: 'small',
    words: () => ['recover'],
  },
];
