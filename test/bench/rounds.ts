/** One source through all rounds and measures: A B C, A B C, …, each run with warm data and a quiet disk. */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, statfsSync } from 'node:fs';
import path from 'node:path';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import { firstDifference } from '../support/compare-bytes.ts';
import { removeTree } from '../support/remove-tree.ts';
import { bytesOfText } from '../../src/base/byte-path.ts';
import type { Measurement } from './measure.ts';
import { stepImage, stepTree } from './step-source.ts';
import { CommandFailed, timedRun } from './timed-run.ts';
import type { Command } from './timed-run.ts';
import type { Tool, ToolHome, ToolName } from './tools.ts';
import { countAll, readAll } from './warm-cache.ts';
import type { Contents } from './warm-cache.ts';

export const measures = ['first', 'unchanged', 'next', 'restore', 'restore-disk', 'check'] as const;
export type Measure = (typeof measures)[number];

export interface Source {
  readonly kind: 'tree' | 'image';
  /** Absolute. */
  readonly path: string;
  readonly next?: string;
}

export interface Plan {
  readonly rounds: number;
  readonly measures: readonly Measure[];
  readonly tools: readonly Tool[];
  readonly scratch: string;
  readonly timeoutSeconds: number;
  readonly progress: (line: string) => void;
}

export interface Run extends Measurement {
  /** 0 is the warm-up, which does not count. */
  readonly round: number;
  readonly measure: Measure;
  /** `cp` is `cp -a` of the source, the yardstick for restoring to disk. */
  readonly tool: ToolName | 'cp';
  /** After a backup: sum of the sizes of all files in the repository, and by how much it grew. */
  readonly stored?: { readonly bytes: number; readonly grownBy: number };
}

export interface SourceResult {
  readonly name: string;
  readonly kind: Source['kind'];
  readonly contents: Contents;
  readonly nextContents?: Contents;
  readonly runs: readonly Run[];
  readonly notes: readonly string[];
  /** Tools that failed and took no further part; the notes say why. */
  readonly failed: readonly ToolName[];
}

/** What one source is measured with. */
interface Session {
  readonly plan: Plan;
  readonly signal: AbortSignal;
  /** What is backed up: the source itself, or a work copy of it that can be stepped. */
  readonly subject: string;
  readonly memoryTarget: string;
  readonly runs: Run[];
  readonly notes: Set<string>;
  /** Tools that failed with this source and take no further part. */
  readonly failed: Set<ToolName>;
}

export async function measureSource(source: Source, plan: Plan, signal: AbortSignal): Promise<SourceResult> {
  const contents = countAll(source.path);
  const stepped = source.next !== undefined && plan.measures.includes('next');
  const notes = new Set<string>();
  if (contents.unreadable > 0) notes.add(`${contents.unreadable} entries of the source cannot be read`);
  const session: Session = {
    plan,
    signal,
    subject: stepped ? workCopy(source, plan) : source.path,
    memoryTarget: memoryTarget(contents, plan, notes),
    runs: [],
    notes,
    failed: new Set(),
  };
  try {
    for (let round = 0; round <= plan.rounds; round += 1) await measureRound(round, source, session);
  } finally {
    removeTree(session.memoryTarget);
    removeTree(path.join(plan.scratch, 'work'));
  }
  return {
    name: path.basename(source.path),
    kind: source.kind,
    contents,
    ...(source.next === undefined ? {} : { nextContents: countAll(source.next) }),
    runs: session.runs,
    notes: [...notes],
    failed: [...session.failed],
  };
}

function workCopy(source: Source, plan: Plan): string {
  const copy = path.join(plan.scratch, 'work', path.basename(source.path));
  mkdirSync(path.dirname(copy), { recursive: true });
  plan.progress('copying the source');
  copyAll(source.path, copy);
  return copy;
}

function copyAll(from: string, to: string): void {
  const { status, stderr } = spawnSync('cp', ['-a', from, to], { encoding: 'utf8' });
  if (status !== 0) throw new CommandFailed(`cp -a: ${stderr.trim().slice(-500)}`);
}

/** A directory in memory that holds one restored source, else one in scratch. */
function memoryTarget(contents: Contents, plan: Plan, notes: Set<string>): string {
  const memory = '/dev/shm';
  if (existsSync(memory)) {
    const { bavail, bsize } = statfsSync(memory);
    // A page per file at least, and some room for the tools themselves.
    const needed = contents.bytes + (contents.files + contents.directories) * 4096 + 2 ** 30;
    if (bavail * bsize > needed) return path.join(memory, path.basename(plan.scratch));
  }
  if (plan.measures.includes('restore'))
    notes.add('no memory file system with enough room: restored to disk instead');
  return path.join(plan.scratch, 'restored-in-place-of-memory');
}

async function measureRound(round: number, source: Source, session: Session): Promise<void> {
  const { plan, subject } = session;
  const wanted = new Set(plan.measures);
  const step = (to: string): void => {
    const counts = source.kind === 'tree' ? stepTree(subject, to) : stepImage(subject, to);
    plan.progress(`stepped: ${counts.written} written, ${counts.removed} removed`);
  };
  const homes = path.join(plan.scratch, 'homes');
  const home = (tool: Tool): ToolHome => ({
    repository: path.join(homes, tool.name, 'repository'),
    state: path.join(homes, tool.name, 'state'),
  });
  try {
    await eachTool(session, round, 'first', async (tool) => {
      mkdirSync(home(tool).state, { recursive: true });
      await timedRun(tool.init(home(tool)), limits(session), session.signal);
      await backup(tool, home(tool), 'first', round, session);
    });
    if (wanted.has('unchanged'))
      await eachTool(session, round, 'unchanged', (tool) =>
        backup(tool, home(tool), 'unchanged', round, session),
      );
    if (wanted.has('next') && source.next !== undefined) {
      step(source.next);
      await eachTool(session, round, 'next', (tool) => backup(tool, home(tool), 'next', round, session));
    }
    const last = wanted.has('next') && source.next !== undefined ? 'next' : 'first';
    if (wanted.has('restore'))
      await eachTool(session, round, 'restore', (tool) =>
        restore(tool, home(tool), last, 'restore', round, session),
      );
    if (wanted.has('restore-disk')) {
      await eachTool(session, round, 'restore-disk', (tool) =>
        restore(tool, home(tool), last, 'restore-disk', round, session),
      );
      await copyToDisk(round, session);
    }
    if (wanted.has('check'))
      await eachTool(session, round, 'check', async (tool) => {
        await record(tool.name, 'check', round, tool.check(home(tool)), [home(tool).repository], session);
      });
    if (last === 'next' && round < plan.rounds) step(source.path);
  } finally {
    removeTree(homes);
  }
}

/** The tools one after the other; one that fails is noted and left out from then on. */
async function eachTool(
  session: Session,
  round: number,
  measure: Measure,
  action: (tool: Tool) => Promise<void>,
): Promise<void> {
  for (const tool of session.plan.tools) {
    if (session.failed.has(tool.name)) continue;
    try {
      await action(tool);
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error;
      session.failed.add(tool.name);
      session.notes.add(`${tool.name} failed (${measure}, round ${round}): ${error.message}`);
      session.plan.progress(`${tool.name} failed: ${error.message}`);
    }
  }
}

function limits(session: Session): { readonly timeoutSeconds: number; readonly outputFile: string } {
  return {
    timeoutSeconds: session.plan.timeoutSeconds,
    outputFile: path.join(session.plan.scratch, 'output'),
  };
}

/** Runs a command with its data in memory and nothing waiting to be written, and keeps its figures. */
async function record(
  tool: Run['tool'],
  measure: Measure,
  round: number,
  command: Command,
  warm: readonly string[],
  session: Session,
  stored?: () => NonNullable<Run['stored']>,
): Promise<void> {
  const { plan } = session;
  session.signal.throwIfAborted();
  spawnSync('sync');
  for (const directory of warm) readAll(directory);
  const measured = await timedRun(command, limits(session), session.signal);
  if (plan.measures.includes(measure))
    session.runs.push({
      ...measured,
      round,
      measure,
      tool,
      ...(stored === undefined ? {} : { stored: stored() }),
    });
  if (measured.exitCode !== 0)
    session.notes.add(`${tool} ended with a warning (${measure}, exit code ${measured.exitCode})`);
  const label = round === 0 ? 'warm-up' : `round ${round}/${plan.rounds}`;
  plan.progress(`${label} ${measure}: ${tool} ${measured.wallSeconds.toFixed(2)} s`);
}

async function backup(
  tool: Tool,
  home: ToolHome,
  measure: 'first' | 'unchanged' | 'next',
  round: number,
  session: Session,
): Promise<void> {
  const before = countAll(home.repository).bytes;
  const command = tool.backup(home, session.subject, measure);
  await record(
    tool.name,
    measure,
    round,
    command,
    [session.subject, home.repository, home.state],
    session,
    () => {
      const { bytes } = countAll(home.repository);
      return { bytes, grownBy: bytes - before };
    },
  );
}

async function restore(
  tool: Tool,
  home: ToolHome,
  label: string,
  measure: 'restore' | 'restore-disk',
  round: number,
  session: Session,
): Promise<void> {
  const target = measure === 'restore' ? session.memoryTarget : path.join(session.plan.scratch, 'restored');
  mkdirSync(target);
  try {
    const command = tool.restore(home, label, target);
    await record(tool.name, measure, round, command, [home.repository], session);
    // A fast restore of something else would be worth nothing; looking once is enough.
    if (round === 0) inspectRestored(tool, path.join(target, session.subject), session);
  } finally {
    removeTree(target);
  }
}

function inspectRestored(tool: Tool, restored: string, session: Session): void {
  const { subject, notes } = session;
  if (!existsSync(restored)) {
    notes.add(`${tool.name}: nothing restored where the source should be`);
  } else if (countAll(subject).directories === 0) {
    const offset = firstDifference(bytesOfText(subject), bytesOfText(restored));
    if (offset !== undefined) notes.add(`${tool.name}: restored file differs from byte ${offset}`);
  } else {
    const differences = compareTrees(subject, restored, { holes: false });
    const [first] = differences;
    if (first !== undefined)
      notes.add(
        `${tool.name}: restored tree has ${differences.length} differences, first: ${shownDifference(first)}`,
      );
  }
}

async function copyToDisk(round: number, session: Session): Promise<void> {
  const target = path.join(session.plan.scratch, 'restored');
  mkdirSync(target);
  try {
    const command: Command = {
      program: 'cp',
      parameters: ['-a', session.subject, target],
      environment: {},
      success: [0],
    };
    await record('cp', 'restore-disk', round, command, [session.subject], session);
  } finally {
    removeTree(target);
  }
}
