/**
 * Makes files and directories that only their user may use, and finds out whether others may. On POSIX systems the mode
 * says it. On Windows it is the access list, which a new file has from its directory: so a file is given one of its own
 * only where the directory is open to others.
 */
import { mkdirSync, openSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { privateCommand, opennessOf, shownSid, type Openness } from './access-list.ts';
import { ownDescriptor, windowsAccess } from './windows-access.ts';

/** Opens a new file for writing that only its user may use. @throws the file system's error, EEXIST if it is there */
export async function openNewPrivate(path: string): Promise<FileHandle> {
  return makeOnWindows(path) ? await open(path, 'r+') : await open(path, 'wx', 0o600);
}

/** The synchronous variant. */
export function openNewPrivateSync(path: string): number {
  return makeOnWindows(path) ? openSync(path, 'r+') : openSync(path, 'wx', 0o600);
}

/** Whether an empty file was made, with its access list from the first moment on. */
function makeOnWindows(path: string): boolean {
  return (
    process.platform === 'win32' &&
    isOpenAbove(path) &&
    windowsAccess().create(path, 'file', ownDescriptor('file'))
  );
}

/** Makes a directory that only its user may use; nothing is done when it exists. @throws the file system's error */
export function makePrivateDirectory(path: string): void {
  const onWindows = process.platform === 'win32' && isOpenAbove(path);
  if (onWindows && windowsAccess().create(path, 'directory', ownDescriptor('directory'))) return;
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

/** Closes an existing directory of Windows, in which there is nothing yet. */
export function closeDirectory(path: string): void {
  windowsAccess().permit(path, ownDescriptor('directory'));
}

function isOpenAbove(path: string): boolean {
  return accessProblem(dirname(resolve(path)), 'directory') !== undefined;
}

/** In which way a file of Windows is not private. */
export interface AccessProblem {
  readonly kind: 'foreign' | 'changed' | 'read';
  /** What follows the name of the file in a sentence, and names whom. */
  readonly text: string;
  /** Commands that put it right. */
  readonly command: string;
}

/**
 * Undefined on other systems, and for what only its user, the system and the administrators may use.
 * @param opened the descriptor of the file, which is then judged itself, whatever lies at the path by now
 */
export function accessProblem(
  path: string,
  kind: 'file' | 'directory',
  opened?: number,
): AccessProblem | undefined {
  if (process.platform !== 'win32') return undefined;
  const access = windowsAccess();
  const openness = opennessOf(access.accessList(opened ?? path), access.user);
  return problemOf(path, kind, openness, access.user);
}

export function problemOf(
  path: string,
  kind: 'file' | 'directory',
  openness: Openness,
  user: string,
): AccessProblem | undefined {
  const { foreignOwner, readers, changers } = openness;
  const command = privateCommand(path, openness, user, kind);
  if (foreignOwner !== undefined)
    return {
      kind: 'foreign',
      text: `belongs to another user (${shownSid(foreignOwner)})`,
      command: `icacls "${path}" /setowner "*${user}", and ${command}`,
    };
  if (changers.length > 0)
    return { kind: 'changed', text: `can be changed by others (${listed(changers)})`, command };
  if (readers.length > 0)
    return { kind: 'read', text: `can be read by others (${listed(readers)})`, command };
  return undefined;
}

function listed(whom: readonly string[]): string {
  return whom.map(shownSid).join(', ');
}
