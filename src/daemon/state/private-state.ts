/** Requires that the state directory is closed to other users: it holds keys, names of files, and what opens the backups. */
import type { Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { accessProblem } from '../../base/private-files.ts';
import { causeText } from '../../base/errno-words.ts';
import { StateError, errnoOf } from '../../base/errors.ts';

/** Checked together with everything directly in them. '' is the state directory itself, in which only `FILES` are checked. */
const DIRECTORIES = ['', 'run', 'journal', 'catalog', 'repositories', 'walks', 'secrets'] as const;

/** Without the configuration, which has rules of its own, and the repository, which is encrypted. */
const FILES = [
  'token.key',
  'machine.key',
  'passphrase',
  'recovery-code',
  'recovery-kit.txt',
  'repository-id',
  'state.db',
  'state.db-wal',
  'state.db-shm',
  'agent.log',
  'agent.log.1',
  'config.last-good.json',
  'enrollment.json',
] as const;

/**
 * Checks what exists, without following symbolic links. What is missing will be made with the right mode.
 * @throws {StateError} STATE_NOT_PRIVATE, READ_ERROR
 */
export async function requirePrivateState(stateDirectory: string): Promise<void> {
  for (const name of DIRECTORIES) {
    const path = name === '' ? stateDirectory : join(stateDirectory, name);
    const stats = await lookAt(path);
    // The state directory itself may be a symbolic link, for example to another disk.
    if (stats === undefined || (name === '' && stats.isSymbolicLink())) continue;
    if (!stats.isDirectory()) throw wrongKind(path, stats, 'directory');
    requireOurs(path, stats, 0o700);
    if (name === '') continue;
    for (const entry of await readdir(path)) await requirePrivateFile(join(path, entry));
  }
  for (const name of FILES) await requirePrivateFile(join(stateDirectory, name));
}

/** Why an agent would refuse to start with it, as sentences; undefined when it would not. */
export async function whyItIsRefused(stateDirectory: string): Promise<string | undefined> {
  try {
    await requirePrivateState(stateDirectory);
    return undefined;
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    return `It cannot run now: ${error.message}. ${error.hint}`;
  }
}

async function requirePrivateFile(path: string): Promise<void> {
  const stats = await lookAt(path);
  // Access to a socket is decided where it is made; one in a private directory belongs to the agent.
  if (stats === undefined || stats.isSocket()) return;
  if (!stats.isFile()) throw wrongKind(path, stats, 'file');
  requireOurs(path, stats, 0o600);
}

async function lookAt(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return undefined;
    throw new StateError('READ_ERROR', `${path} cannot be checked: ${causeText(cause)}`, {
      hint: 'Check the disk, and that the state directory belongs to the user that the agent runs as.',
      cause,
    });
  }
}

function wrongKind(path: string, stats: Stats, wanted: 'file' | 'directory'): StateError {
  const what = stats.isSymbolicLink() ? 'a symbolic link' : `not a ${wanted}`;
  return new StateError('STATE_NOT_PRIVATE', `${path} is ${what}`, {
    hint: `Replace it with the ${wanted} itself.`,
  });
}

function requireOurs(path: string, { uid, mode }: Stats, wanted: 0o600 | 0o700): void {
  const open = accessProblem(path, wanted === 0o600 ? 'file' : 'directory');
  if (open !== undefined)
    throw new StateError('STATE_NOT_PRIVATE', `${path} ${open.text}`, {
      hint: `If you did not intend that, assume that others know its contents. Then run: ${open.command}`,
    });
  if (process.platform === 'win32') return;
  if (uid !== process.geteuid?.()) {
    throw new StateError('STATE_NOT_PRIVATE', `${path} belongs to another user (uid ${uid})`, {
      hint: 'Run Holdfast as that user, or set HOLDFAST_STATE_DIR to another directory.',
    });
  }
  if ((mode & 0o077) === 0) return;
  throw new StateError(
    'STATE_NOT_PRIVATE',
    `${path} is open to other users (mode ${(mode & 0o7777).toString(8)})`,
    {
      hint: `If you did not intend that, assume that others know its contents. Then run: chmod ${wanted.toString(8)} ${path}`,
    },
  );
}
