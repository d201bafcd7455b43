/** The steps of an installation, which are all shown before any of them is done. */
import { execFile } from 'node:child_process';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { readFileIfPresent } from '../../base/atomic-file.ts';
import { causeText } from '../../base/errno-words.ts';
import { StateError, errnoOf } from '../../base/errors.ts';
import type { Environment } from '../terminal/terminal.ts';

export type Step =
  | {
      readonly kind: 'write';
      readonly path: string;
      readonly content: string;
      readonly mode: number;
    }
  | { readonly kind: 'remove'; readonly path: string; readonly tree?: boolean }
  | {
      readonly kind: 'run';
      readonly words: readonly string[];
      /** Whether the installation goes on if the command fails. */
      readonly mayFail?: boolean;
    }
  | {
      /** Something that no program does. */
      readonly kind: 'act';
      readonly shown: string;
      readonly act: (env: Environment, signal: AbortSignal) => Promise<void>;
    };

export interface StepOutcome {
  readonly step: Step;
  /** Whether something is different from before; always true for a command. */
  readonly changed: boolean;
  /** Why a command that may fail failed; empty if it did not. */
  readonly failure: string;
}

export function shownStep(step: Step): string {
  if (step.kind === 'act') return step.shown;
  if (step.kind === 'write') return `write ${step.path}`;
  if (step.kind === 'remove')
    return `remove ${step.path}${step.tree === true ? ' and everything in it' : ''}`;
  return `run ${step.words.map(shownWord).join(' ')}`;
}

function shownWord(word: string): string {
  return /^[\w@:./,+=%-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** Whether a step would change anything. Commands are assumed to. */
export async function isNeeded(step: Step): Promise<boolean> {
  if (step.kind === 'run' || step.kind === 'act') return true;
  if (step.kind === 'remove' && step.tree === true) return true;
  const there = await readFileIfPresent(step.path);
  if (step.kind === 'remove') return there !== undefined;
  return there === undefined || there.toString('utf8') !== step.content;
}

/** @throws {StateError} with what to do */
export async function doStep(step: Step, env: Environment, signal: AbortSignal): Promise<StepOutcome> {
  signal.throwIfAborted();
  if (step.kind === 'run') {
    const failure = await runProgram(step.words, env, signal);
    if (failure !== '' && step.mayFail !== true) throw commandFailed(step.words, failure);
    return { step, changed: true, failure };
  }
  if (step.kind === 'act') {
    await step.act(env, signal);
    return { step, changed: true, failure: '' };
  }
  if (!(await isNeeded(step))) return { step, changed: false, failure: '' };
  try {
    if (step.kind === 'remove') await rm(step.path, { force: true, recursive: step.tree === true });
    else await writeWhole(step.path, step.content, step.mode);
  } catch (cause) {
    throw new StateError('WRITE_ERROR', `${step.path} cannot be changed: ${causeText(cause)}`, {
      hint:
        process.platform === 'win32'
          ? 'Run the command in a terminal that was opened with "Run as administrator".'
          : 'Only root can change services of the machine: run the command with sudo.',
      cause,
    });
  }
  return { step, changed: true, failure: '' };
}

/** Writes a file whole or not at all. */
async function writeWhole(path: string, content: string, mode: number): Promise<void> {
  const temporary = join(dirname(path), `.tmp-${randomBytes(8).toString('hex')}`);
  await mkdir(dirname(path), { recursive: true, mode: 0o755 });
  const file = await open(temporary, 'wx', mode);
  try {
    await file.writeFile(content);
    await file.chmod(mode);
    await file.sync();
    await file.close();
    await rename(temporary, path);
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Runs a program and returns what it said when it failed; empty when it went well. */
async function runProgram(
  [program = '', ...words]: readonly string[],
  env: Environment,
  signal: AbortSignal,
): Promise<string> {
  return await new Promise<string>((resolve, reject) => {
    execFile(program, words, { env: { ...env }, signal }, (error, _stdout, stderr) => {
      if (error === null) resolve('');
      else if (signal.aborted) reject(error);
      else if (errnoOf(error) === 'ENOENT') resolve('this program is not installed');
      else resolve(stderr.trim() || `exit code ${error.code ?? error.signal ?? 'unknown'}`);
    });
  });
}

/** What a program prints; undefined when that is nothing. */
export async function outputOf(
  [program = '', ...words]: readonly string[],
  env: Environment,
  signal: AbortSignal,
): Promise<string | undefined> {
  return await new Promise<string | undefined>((resolve, reject) => {
    execFile(program, words, { env: { ...env }, signal }, (error, stdout) => {
      if (error !== null && signal.aborted) reject(error);
      // `systemctl is-active` fails for every state but "active", and prints the state.
      else resolve(stdout.trim() === '' ? undefined : stdout.trim());
    });
  });
}

function commandFailed(words: readonly string[], failure: string): StateError {
  const unit = words.find((word) => word.endsWith('.service')) ?? 'holdfast.service';
  return new StateError('COMMAND_FAILED', `${words.join(' ')} failed: ${failure}`, {
    hint:
      words[0] === 'systemctl'
        ? `See the messages of the agent with: journalctl -u ${shownWord(unit)}`
        : 'Fix the cause and run the same command again: it skips what is already done.',
  });
}
