/** Gets the passphrase from options, the environment, a file, a command, or the person at the terminal. */
import { spawn } from 'node:child_process';
import { outputUntilExit } from '../../base/child-output.ts';
import {
  SAVE_AS_UTF8,
  faultWords,
  isLossy,
  peopleText,
  withoutFinalLineBreak,
} from '../../base/people-text.ts';
import { causeText } from '../../base/errno-words.ts';
import { StateError } from '../../base/errors.ts';
import type { Secret } from '../../repository/slots/key-slots.ts';
import { secretOf } from '../../repository/slots/typed-secret.ts';
import { shellCommand } from '../../base/shell-words.ts';
import { readAtMost } from '../terminal/standard-streams.ts';
import { filePath, requireBaseOf } from '../../base/typed-path.ts';
import { endWithChildren } from '../../system/end-process.ts';
import type { Context } from '../command/context.ts';
import { usage, type RepositoryOptions } from '../command/options.ts';
import { promptHidden } from '../terminal/prompt.ts';

/** The largest passphrase that is accepted, in bytes. */
const LARGEST = 65_536;

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
    throw usage(
      '--password-file and --password-command cannot be combined',
      'Use --password-file or --password-command.',
    );
  }
  if (passwordFile !== undefined) return { file: passwordFile };
  return passwordCommand === undefined ? undefined : { command: passwordCommand };
}

/** Reads the passphrase from where it was given. @throws {StateError} {RequestError} */
export async function readGiven(given: GivenSecret, context: Context): Promise<string> {
  const read = given.text === undefined ? await readFrom(given, context) : fromVariable(given.text);
  if (read !== '') return read;
  throw usage('The passphrase is empty', 'Check the file, command or variable it comes from.');
}

function fromVariable(text: string): string {
  if (!isLossy(text)) return text;
  throw usage(
    `The passphrase in the environment ${faultWords('not-utf8')}`,
    'Set the variable in a terminal that uses UTF-8, or put the passphrase in a file.',
  );
}

async function readFrom({ file, command }: GivenSecret, context: Context): Promise<string> {
  if (file !== undefined)
    return passphraseIn(
      await readPasswordFile(file, context.signal),
      `The password file ${file}`,
      SAVE_AS_UTF8,
    );
  if (command === undefined) return '';
  return passphraseIn(
    await askCommand(command, context),
    'The output of the password command',
    'It must print only the passphrase, in UTF-8.',
  );
}

/** Refuses bytes that are not text: a lossy reading would make different bytes the same passphrase. */
function passphraseIn(bytes: Buffer, subject: string, hint: string): string {
  const read = peopleText(bytes);
  if ('text' in read) return withoutFinalLineBreak(read.text);
  throw new StateError('READ_ERROR', `${subject} ${faultWords(read.fault)}`, { hint });
}

/** Reads a file, or a pipe that a shell made, as with `<(…)`. */
async function readPasswordFile(file: string, signal: AbortSignal): Promise<Buffer> {
  requireBaseOf(file);
  let content: Buffer | undefined;
  try {
    content = await readAtMost(filePath(file), LARGEST, signal);
  } catch (cause) {
    signal.throwIfAborted();
    throw new StateError('READ_ERROR', `The password file ${file} cannot be read: ${causeText(cause)}`, {
      hint: 'Check the path, and that you have permission to read it.',
    });
  }
  if (content !== undefined) return content;
  throw new StateError('READ_ERROR', `The password file ${file} is larger than 64 KiB`, {
    hint: 'The file must contain only the passphrase.',
  });
}

async function askCommand(command: string, { env, signal }: Context): Promise<Buffer> {
  signal.throwIfAborted();
  // The command stays in the process group of this process, so that it may ask the person at the terminal.
  const child = spawn(shellCommand(command), { shell: true, stdio: ['inherit', 'pipe', 'inherit'], env });
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  const ended = outputUntilExit(child, LARGEST);
  ended.catch(() => undefined);
  try {
    const { code, killedBy, bytes, hasMore } = await Promise.race([ended, aborted.promise]);
    if (hasMore) throw failedCommand('The password command prints more than 64 KiB');
    if (code !== 0) throw failedCommand(`The password command failed (${killedBy ?? `exit code ${code}`})`);
    return bytes;
  } finally {
    signal.removeEventListener('abort', abort);
    await endWithChildren(child);
  }
}

function failedCommand(message: string): StateError {
  return new StateError('PASSWORD_COMMAND', message, {
    hint: 'Run the command on its own to see what is wrong. It must print only the passphrase.',
  });
}

export function noPassphrase(location?: string): Error {
  return usage(
    `No passphrase${location === undefined ? '' : ` for ${location}`} was given, and there is no terminal to ask for it`,
    'Use --password-file or --password-command, or set HOLDFAST_PASSWORD, HOLDFAST_PASSWORD_FILE or HOLDFAST_PASSWORD_COMMAND.',
  );
}

export async function promptSecret(location: string, context: Context): Promise<Secret> {
  return secretOf(await promptHidden(`Passphrase (or recovery code) for ${location}: `, context));
}
