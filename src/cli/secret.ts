/** Where the passphrase comes from: options, environment, a file, a command, or the person at the terminal. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { StateError, errnoOf } from '../base/errors.ts';
import type { Secret } from '../repository/key-slots.ts';
import { secretOf } from '../repository/typed-secret.ts';
import type { Context } from './context.ts';
import { usage, type RepositoryOptions } from './options.ts';
import { promptHidden } from './prompt.ts';

/** What the command line and the environment say about the passphrase. */
export interface GivenSecret {
  readonly text?: string | undefined;
  readonly file?: string | undefined;
  readonly command?: string | undefined;
}

const VARIABLES = ['HOLDFAST_PASSWORD', 'HOLDFAST_PASSWORD_FILE', 'HOLDFAST_PASSWORD_COMMAND'] as const;

/** Takes the passphrase, and where to find one, out of the environment, so that no child process inherits it. */
export function takeFromEnvironment(env: NodeJS.ProcessEnv): GivenSecret | undefined {
  const [text, file, command] = VARIABLES.map((name) => {
    const value = env[name];
    delete env[name];
    return value === undefined || value === '' ? undefined : value;
  });
  if (text !== undefined) return { text };
  if (file !== undefined) return { file };
  return command === undefined ? undefined : { command };
}

/** @throws {RequestError} when both are given */
export function givenByOptions({
  passwordFile,
  passwordCommand,
}: Pick<RepositoryOptions, 'passwordFile' | 'passwordCommand'>): GivenSecret | undefined {
  if (passwordFile !== undefined && passwordCommand !== undefined) {
    throw usage('Two places for the passphrase are given', 'Give --password-file or --password-command.');
  }
  if (passwordFile !== undefined) return { file: passwordFile };
  return passwordCommand === undefined ? undefined : { command: passwordCommand };
}

/** The passphrase itself. @throws {StateError} {RequestError} */
export async function readGiven(given: GivenSecret, context: Context): Promise<string> {
  const read = given.text ?? (await readFrom(given, context));
  if (read !== '') return read;
  throw usage('The given passphrase is empty', 'Check the file, command or variable that it comes from.');
}

async function readFrom({ file, command }: GivenSecret, context: Context): Promise<string> {
  if (file !== undefined) return withoutFinalNewline(await readPasswordFile(file));
  return command === undefined ? '' : withoutFinalNewline(await askCommand(command, context));
}

async function readPasswordFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new StateError(
      'READ_ERROR',
      `The password file ${file} cannot be read (${errnoOf(cause) ?? 'error'})`,
      {
        hint: 'Check the path and that this user may read it.',
      },
    );
  }
}

async function askCommand(command: string, { env, signal }: Context): Promise<string> {
  const child = spawn(command, { shell: true, stdio: ['inherit', 'pipe', 'inherit'], env, signal });
  try {
    const [output, [code, killedBy]] = await Promise.all([text(child.stdout), once(child, 'close')]);
    if (code === 0) return output;
    throw new StateError(
      'PASSWORD_COMMAND',
      `The password command failed (${killedBy === null ? `exit code ${code}` : killedBy})`,
      { hint: 'Run it by itself to see what is wrong. It must print the passphrase and nothing else.' },
    );
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

function withoutFinalNewline(content: string): string {
  return content.replace(/\r?\n$/, '');
}

export async function promptSecret(location: string, context: Context): Promise<Secret> {
  return secretOf(await promptHidden(`Passphrase (or recovery code) for ${location}: `, context));
}
