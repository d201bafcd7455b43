/** The user's state directory: the embedded repository, the key to it, and what this machine remembers of others. */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, open, readdir, stat, type FileHandle } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import {
  accessProblem,
  closeDirectory,
  makePrivateDirectory,
  type AccessProblem,
} from '../../base/private-files.ts';
import { readFileIfPresent } from '../../base/atomic-file.ts';
import { StateError, errnoOf } from '../../base/errors.ts';
import { makeDirectories } from '../../base/make-directories.ts';
import { createDirectorySync } from '../../destination/directory-sync.ts';
import { storeNewFile } from '../../destination/new-file.ts';
import type { Environment } from '../terminal/terminal.ts';

export interface StatePaths {
  readonly directory: string;
  /** The embedded repository. */
  readonly repository: string;
  /** The secret that opens it on this machine. */
  readonly machineKey: string;
  readonly recoveryKit: string;
  /** The passphrase of the recovery kit, for repositories that the agent makes elsewhere. */
  readonly passphrase: string;
  /** The recovery code of the kit, for the same repositories. */
  readonly recoveryCode: string;
  /** The id of the embedded repository. The file is written once that repository is complete. */
  readonly repositoryId: string;
  /** The directory in which the running agent says how to reach it. */
  readonly run: string;
}

/** @throws {StateError} when there is no place for it */
export function statePaths(env: Environment): StatePaths {
  const directory = stateDirectory(env);
  return {
    directory,
    repository: join(directory, 'repository'),
    machineKey: join(directory, 'machine.key'),
    recoveryKit: join(directory, 'recovery-kit.txt'),
    passphrase: join(directory, 'passphrase'),
    recoveryCode: join(directory, 'recovery-code'),
    repositoryId: join(directory, 'repository-id'),
    run: join(directory, 'run'),
  };
}

/** `--config`, else HOLDFAST_CONFIG, else `config.json` in the state directory. */
export function configFile(named: string | undefined, env: Environment): string {
  const chosen = named ?? env['HOLDFAST_CONFIG'] ?? '';
  return chosen === '' ? join(statePaths(env).directory, 'config.json') : resolve(chosen);
}

function stateDirectory(env: Environment): string {
  const chosen = env['HOLDFAST_STATE_DIR'] ?? '';
  if (chosen !== '') return resolve(chosen);
  const home = homedir();
  if (process.platform === 'win32') {
    return join(env['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local'), 'Holdfast');
  }
  if (process.platform === 'darwin') return join(home, 'Library', 'Application Support', 'Holdfast');
  const xdg = env['XDG_STATE_HOME'] ?? '';
  // The XDG specification says that relative paths are to be ignored.
  if (isAbsolute(xdg)) return join(xdg, 'holdfast');
  if (isAbsolute(home)) return join(home, '.local', 'state', 'holdfast');
  throw new StateError('STATE_UNKNOWN', 'There is no home directory for the state of Holdfast', {
    hint: 'Set HOLDFAST_STATE_DIR to a directory.',
  });
}

/** The id of the embedded repository; undefined until that repository is complete. */
export async function knownRepositoryId({ repositoryId }: StatePaths): Promise<string | undefined> {
  return (await readFileIfPresent(repositoryId))?.toString('latin1').trim();
}

/**
 * Makes the state directory, private to the user, or checks that nobody else can change what is in it.
 * @throws {StateError}
 */
export async function ensureStateDirectory(directory: string): Promise<void> {
  try {
    await makeDirectories(dirname(directory));
    makePrivateDirectory(directory);
    if ((await readdir(directory)).length === 0) await makePrivate(directory);
  } catch (cause) {
    throw unusableState(directory, cause);
  }
  await requireOwnDirectory(directory);
  await requireWritable(directory);
}

/** Reports a read-only state directory as such, before writing some file in it fails. @throws {StateError} */
export async function requireWritable(directory: string): Promise<void> {
  try {
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw unusableState(directory, cause);
  }
}

export function unusableState(directory: string, cause: unknown): StateError {
  return new StateError('WRITE_ERROR', `The state directory ${directory} cannot be used`, {
    hint: 'Make it writable, or set HOLDFAST_STATE_DIR to another directory.',
    cause,
  });
}

async function makePrivate(directory: string): Promise<void> {
  const open = accessProblem(directory, 'directory');
  // What belongs to another user stays as it is, and is refused.
  if (open !== undefined && open.kind !== 'foreign') closeDirectory(directory);
  if (process.platform === 'win32') return;
  const { uid, mode } = await stat(directory);
  if (isOurs(uid) && (mode & 0o077) !== 0) await chmod(directory, 0o700);
}

async function requireOwnDirectory(directory: string): Promise<void> {
  const open = accessProblem(directory, 'directory');
  // A new file may be used by whoever may use its directory, so nobody else may even read here.
  if (open !== undefined) throw looseOnWindows(directory, open);
  const { uid, mode } = await stat(directory);
  if (!isOurs(uid)) throw notOurs(directory, uid);
  if (process.platform !== 'win32' && (mode & 0o022) !== 0) {
    throw loose(directory, mode, 'be changed by other users', 700);
  }
}

const KEY_BYTES = 32;

/**
 * The machine's secret; undefined when there is none.
 * @throws {StateError} when others could read it, or it is damaged
 */
export async function readMachineKey({ directory, machineKey }: StatePaths): Promise<Buffer | undefined> {
  let file: FileHandle;
  try {
    file = await open(machineKey, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return undefined;
    const hint = errnoOf(cause) === 'ELOOP' ? 'It is a symbolic link. Replace it with the file itself.' : '';
    throw new StateError('READ_ERROR', `The machine key ${machineKey} cannot be read`, { hint, cause });
  }
  try {
    const stats = await file.stat();
    if (!isOurs(stats.uid)) throw notOurs(machineKey, stats.uid);
    if (process.platform !== 'win32' && (stats.mode & 0o077) !== 0) {
      throw loose(machineKey, stats.mode, 'be read or changed by other users', 600);
    }
    const open = accessProblem(machineKey, 'file', file.fd);
    if (open !== undefined) throw looseOnWindows(machineKey, open);
    await requireOwnDirectory(directory);
    const text = stats.isFile() && stats.size < 100 ? await file.readFile('latin1') : '';
    const hex = /^([0-9a-f]{64})\s*$/.exec(text)?.[1];
    if (hex === undefined) {
      throw new StateError('STATE_DAMAGED', `The machine key ${machineKey} is damaged`, {
        hint: 'Open the repository with the passphrase or the recovery code of the recovery kit (--password-file).',
      });
    }
    return Buffer.from(hex, 'hex');
  } finally {
    await file.close();
  }
}

/**
 * Makes the machine's secret, whole and durable or not at all: half a key would keep the next start from making a new
 * one.
 * @throws {StateError} also when there is one already
 */
export async function createMachineKey({ directory, machineKey }: StatePaths): Promise<Buffer> {
  const secret = randomBytes(KEY_BYTES);
  const content = Buffer.from(`${secret.toString('hex')}\n`);
  try {
    await storeNewFile(
      machineKey,
      content,
      createDirectorySync(directory),
      undefined,
      new AbortController().signal,
    );
    return secret;
  } catch (cause) {
    throw new StateError('WRITE_ERROR', `${machineKey} cannot be written`, {
      hint: 'Check that the state directory is writable and that the disk has space.',
      cause,
    });
  }
}

function isOurs(uid: number): boolean {
  return process.geteuid === undefined || uid === process.geteuid();
}

function notOurs(path: string, uid: number): StateError {
  return new StateError('STATE_NOT_PRIVATE', `${path} belongs to another user (uid ${uid})`, {
    hint: 'Run Holdfast as that user, or set HOLDFAST_STATE_DIR to another directory.',
  });
}

function loose(path: string, mode: number, what: string, wanted: number): StateError {
  const shown = (mode & 0o7777).toString(8);
  return new StateError('STATE_NOT_PRIVATE', `${path} can ${what} (mode ${shown})`, {
    hint: `Unless you did this on purpose, assume that others know what it protects. Then run: chmod ${wanted} ${path}`,
  });
}

function looseOnWindows(path: string, { text, command }: AccessProblem): StateError {
  return new StateError('STATE_NOT_PRIVATE', `${path} ${text}`, {
    hint: `Unless you did this on purpose, assume that others know what it protects. Then run: ${command}`,
  });
}
