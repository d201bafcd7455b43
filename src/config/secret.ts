/** Secrets that settings refer to. They are looked up when they are used, and are never shown by accident. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { endTree, outputUntilExit } from '../base/child-output.ts';
import type { Clock } from '../base/clock.ts';
import { faultWords, isLossy, peopleText, SAVE_AS_UTF8, withoutFinalLineBreak } from '../base/people-text.ts';
import { ConfigError } from './config-error.ts';
import { readSecretFile } from './file-access.ts';
import type { SecretReference } from './settings.ts';
import { absolutePath } from './settings-context.ts';

const SHOWN = '[secret]';

/** A secret in memory. Logs, JSON, templates and inspection show `[secret]` instead of it. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The secret itself, for the one place that uses it. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return SHOWN;
  }

  toJSON(): string {
    return SHOWN;
  }

  [Symbol.toPrimitive](): string {
    return SHOWN;
  }

  [inspect.custom](): string {
    return SHOWN;
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface SecretContext {
  readonly env: Environment;
  /** The directory that `~` stands for. */
  readonly home: string;
  readonly clock: Clock;
  /** The environment of commands that print a secret: without the variables that hold other secrets. */
  readonly childEnv?: Environment;
  /** Called with every secret that is found, so that it can be removed from texts. */
  readonly learn?: (secret: string) => void;
}

/** Milliseconds that a command may take: long enough to ask a password store over a network. */
const COMMAND_MS = 30_000;
const LARGEST_OUTPUT = 65_536;

/**
 * Looks the secret up anew each time, so that a changed one needs no restart. One line break at its end is dropped.
 * @throws {ConfigError} SECRET_UNAVAILABLE, SECRET_UNSAFE
 */
export async function resolveSecret(
  reference: SecretReference,
  context: SecretContext,
  signal: AbortSignal,
): Promise<Secret> {
  signal.throwIfAborted();
  const found = withoutFinalLineBreak(await lookUp(reference, context, signal));
  if (found === '') throw unavailable(`${subjectOf(reference)} is empty`, 'Put the secret there.');
  if (found.includes('\0'))
    throw unavailable(`${subjectOf(reference)} contains a NUL character`, 'A secret is one line of text.');
  context.learn?.(found);
  return new Secret(found);
}

async function lookUp(
  reference: SecretReference,
  context: SecretContext,
  signal: AbortSignal,
): Promise<string> {
  if ('file' in reference) {
    const bytes = await readSecretFile(absolutePath(reference.file, context), { checkMode: true });
    return textOf(bytes, reference);
  }
  if ('env' in reference) {
    const value = context.env[reference.env];
    if (value !== undefined && isLossy(value))
      throw unavailable(`${subjectOf(reference)} ${faultWords('not-utf8')}`, SAVE_AS_UTF8);
    if (value !== undefined) return value;
    throw unavailable(`${subjectOf(reference)} is not set`, 'Set it for the agent, not only in your shell.');
  }
  if ('command' in reference) return textOf(await ask(reference.command, context, signal), reference);
  return textOf(await readCredential(reference.credential, context), reference);
}

/** Invalid text is refused and never replaced, as different bytes would then become the same secret. */
function textOf(bytes: Uint8Array, reference: SecretReference): string {
  const read = peopleText(bytes);
  if ('text' in read) return read.text;
  throw unavailable(`${subjectOf(reference)} ${faultWords(read.fault)}`, SAVE_AS_UTF8);
}

/** Reads a systemd credential. Its file mode is not checked, as systemd makes it readable for the service alone. */
async function readCredential(name: string, { env }: SecretContext): Promise<Buffer> {
  const directory = env['CREDENTIALS_DIRECTORY'] ?? '';
  if (directory === '') {
    throw unavailable(
      `The credential ${name} is not there: systemd gave none`,
      `Write LoadCredential=${name}:/path in the unit, and start the agent by systemd.`,
    );
  }
  // The schema rejects slashes; references from elsewhere are checked here.
  if (!/^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(name))
    throw unavailable('This is not the name of a credential', 'Use letters, digits, ".", "-" and "_".');
  return await readSecretFile(join(directory, name), { checkMode: false });
}

async function ask(
  command: string,
  { env, childEnv, clock }: SecretContext,
  signal: AbortSignal,
): Promise<Buffer> {
  const child = spawn(command, {
    shell: true,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...(childEnv ?? env) },
    // In a process group of its own, so that processes started by the shell can be ended with it.
    detached: process.platform !== 'win32',
  });
  const ended = outputUntilExit(child, LARGEST_OUTPUT);
  ended.catch(() => undefined);
  const patience = new AbortController();
  const giveUp = (): void => patience.abort();
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    const late = clock.sleep(COMMAND_MS, patience.signal).then(() => 'late' as const);
    const outcome = await Promise.race([ended, late]);
    if (outcome === 'late') {
      throw unavailable(
        'The command for a secret took longer than 30 seconds',
        'Run it in a terminal to see why. It must not ask for anything.',
      );
    }
    const { code, killedBy, bytes, hasMore } = outcome;
    if (hasMore)
      throw unavailable(
        'The command for a secret prints more than 64 KiB',
        'It must print the secret and nothing else.',
      );
    if (code !== 0) {
      throw unavailable(
        `The command for a secret failed (${killedBy ?? `exit code ${code}`})`,
        'Run it in a terminal to see what is wrong. It must print the secret and nothing else.',
      );
    }
    return bytes;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ConfigError) throw error;
    throw unavailable('The command for a secret could not be started', 'Check that there is a shell.', error);
  } finally {
    signal.removeEventListener('abort', giveUp);
    patience.abort();
    if (child.exitCode === null && child.signalCode === null) {
      endGroup(child.pid);
      // A process that left the group may keep the pipe open.
      child.stdout.destroy();
    }
  }
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  if (process.platform === 'win32') {
    endTree(pid);
    return;
  }
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // It has just ended.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function subjectOf(reference: SecretReference): string {
  if ('file' in reference) return `The secret file ${reference.file}`;
  if ('env' in reference) return `The environment variable ${reference.env} for a secret`;
  if ('command' in reference) return 'The output of the command for a secret';
  return `The credential ${reference.credential}`;
}

function unavailable(message: string, hint: string, cause?: unknown): ConfigError {
  return new ConfigError('SECRET_UNAVAILABLE', message, { hint, cause });
}
