import { accessSync, constants, fstatSync, lchownSync, readlinkSync, rmdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { asByteString, textWithBytes, type ByteString } from '../../base/byte-path.ts';
import { exactPathText, treePath } from '../../base/tree-path.ts';
import { causeText, errnoText } from '../../base/errno-words.ts';
import { RequestError, errnoOf } from '../../base/errors.ts';
import { makeDirectoriesSync } from '../../base/make-directories.ts';
import { filePath, realPath } from '../../base/typed-path.ts';
import { native } from '../../system/native.ts';
import { mayDoAsRoot } from '../../system/privileges.ts';
import { DescriptorDirectory } from './descriptor-directory.ts';
import { requireOutside } from './own-places.ts';
import { directoryAt } from './drives-directory.ts';
import { otherSpellings } from '../../base/spellings.ts';
import type { RestoreRequest } from '../request/request.ts';
import { UNFINISHED_FILE, type TargetDirectory } from './target-directory.ts';
import { newRun, temporaryName } from './temporary-names.ts';

/** Where a restore writes to. */
export interface OpenTarget {
  /** Undefined in a dry run whose target does not exist. */
  readonly root: TargetDirectory | undefined;
  /** Absolute, links resolved. */
  readonly path: ByteString;
  /** The directories that were made for the target, the topmost first. */
  readonly made: readonly string[];
  /** Whether names that differ in spelling only are one in it, as far as that was tried. */
  readonly ignoresCase: boolean;
  /** For other threads: the descriptor, which they share, or the path. */
  readonly handover: { readonly fd: number } | { readonly path: string };
}

type TargetRequest = Pick<RestoreRequest, 'target' | 'never' | 'dryRun'>;

/**
 * Opens the target, making the directory if it is absent, and finds out whether it is writable.
 * @throws {RequestError} INVALID_TARGET with `details.reason`
 */
export function openTarget({ target, never, dryRun }: TargetRequest): OpenTarget {
  if (target.kind === 'in-place') return { ...opened('/'), made: [], ignoresCase: false };
  const { path: wanted, within = [] } = target;
  if (!path.isAbsolute(wanted)) {
    throw invalid('not_absolute', `The target ${wanted} is not an absolute path`, 'Give the full path.');
  }
  let made: readonly string[] = [];
  try {
    const place = realOf(wanted);
    requireWithin(place, within, wanted);
    requireOutside(place, never);
    if (!dryRun) made = makeDurably(wanted);
    if (!statSync(filePath(wanted)).isDirectory())
      throw Object.assign(new Error('ENOTDIR: not a directory'), { code: 'ENOTDIR' });
    const resolved = realPath(wanted);
    const open = opened(resolved);
    // Checked again for the opened directory: its path may have led elsewhere at the first check.
    requireWithin(placeOf(open), within, wanted);
    requireOutside(placeOf(open), never);
    if (dryRun) accessSync(filePath(resolved), constants.W_OK | constants.X_OK);
    return { ...open, made, ignoresCase: !dryRun && probe(open.root) };
  } catch (error) {
    removeMade(made);
    const code = errnoOf(error);
    if (dryRun && code === 'ENOENT') return absent(wanted);
    if (code === undefined || error instanceof RequestError) throw error;
    throw unusable(wanted, code, error);
  }
}

function requireWithin(place: string, allowed: readonly string[], wanted: string): void {
  if (allowed.length === 0 || allowed.some((root) => isInside(realOf(root), place))) return;
  throw invalid(
    'not_allowed',
    `The settings do not allow restoring to ${wanted}, which is ${place}`,
    'Choose a directory below one of restore.allowedRoots, or add it there.',
  );
}

/** Removes the directories that were made for a failed restore, as far as they are empty. */
export function removeMade(made: readonly string[]): void {
  for (const directory of made.toReversed()) {
    try {
      rmdirSync(filePath(directory));
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      return;
    }
  }
}

/**
 * Makes the directory, and syncs the parent of each new one so that it is on disk. Returns the new ones, the topmost first.
 */
function makeDurably(wanted: string): readonly string[] {
  const first = makeDirectoriesSync(path.resolve(wanted));
  if (first === undefined) return [];
  const all: string[] = [];
  for (let made = path.resolve(wanted); ; made = path.dirname(made)) {
    all.unshift(made);
    const { root } = opened(path.dirname(made));
    root.sync();
    root.close();
    if (made === first) break;
  }
  all.forEach(giveToOwnerAbove);
  return all;
}

/** A process with root's rights under another user id gives new directories to the owner of the directory above. */
function giveToOwnerAbove(made: string): void {
  if (process.geteuid?.() === 0 || !mayDoAsRoot()) return;
  const { uid, gid } = statSync(path.dirname(made));
  lchownSync(made, uid, gid);
}

function placeOf({ handover, path: resolved }: Omit<OpenTarget, 'made' | 'ignoresCase'>): string {
  const named = exactPathText(resolved);
  if (!('fd' in handover) || process.platform !== 'linux') return named;
  try {
    return textWithBytes(asByteString(readlinkSync(`/proc/self/fd/${handover.fd}`, 'latin1')));
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
  // /proc is not mounted: the path has to lead to the opened directory once more
  const [open, found] = [fstatSync(handover.fd), statSync(filePath(named))];
  if (open.ino === found.ino && open.dev === found.dev && realPath(named) === named) return named;
  throw invalid('unusable', `${named} is no longer the directory that was opened`, 'Try again.');
}

/** The path with links resolved as far as it exists. */
function realOf(wanted: string): string {
  try {
    return realPath(wanted);
  } catch (error) {
    const above = path.dirname(wanted);
    if (!['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '') || above === wanted)
      return path.resolve(wanted);
    return path.join(realOf(above), path.basename(wanted));
  }
}

function isInside(directory: string, place: string): boolean {
  const way = path.relative(directory, place);
  return way === '' || (way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way));
}

function opened(
  resolved: string,
): Omit<OpenTarget, 'made' | 'ignoresCase'> & { readonly root: TargetDirectory } {
  const bytes = treePath(resolved);
  if (native === null) {
    return { root: directoryAt(bytes), path: bytes, handover: { path: bytes } };
  }
  const root = DescriptorDirectory.open(native, bytes);
  return { root, path: bytes, handover: { fd: root.fd } };
}

function absent(wanted: string): OpenTarget {
  const bytes = treePath(realOf(wanted));
  return { root: undefined, path: bytes, made: [], ignoresCase: false, handover: { path: bytes } };
}

/**
 * Makes a file and removes it: the only test that covers permissions, read-only mounts and quotas.
 * @returns whether the file is found by another spelling of its name as well
 */
function probe(root: TargetDirectory): boolean {
  const name = temporaryName(newRun(), 0);
  root.closeFile(root.createFile(name, UNFINISHED_FILE));
  const found = otherSpellings(name).some((other) => root.find(other) !== undefined);
  root.removeFile(name);
  return found;
}

const REASONS: Readonly<Record<string, readonly [reason: string, hint: string]>> = {
  EACCES: ['not_writable', 'Choose a directory that this user can write to, or change its permissions.'],
  EPERM: ['not_writable', 'Choose a directory that this user can write to, or change its permissions.'],
  EROFS: ['read_only', 'The file system is mounted read-only. Choose another target.'],
  ENOTDIR: ['not_a_directory', 'Name a directory.'],
  EEXIST: ['not_a_directory', 'Name a directory.'],
  ENOENT: ['not_found', 'No directory can be created there. Check the path.'],
  ENOSPC: ['full', 'Free up space or choose another target.'],
  EDQUOT: ['full', 'Free up space or choose another target.'],
};

function unusable(wanted: string, code: string, cause: unknown): RequestError {
  const [reason, hint] = REASONS[code] ?? ['unusable', 'Check the path and its file system.'];
  // a file that is itself the target is told like one on the way to it
  const words = code === 'EEXIST' ? errnoText('ENOTDIR') : causeText(cause);
  return invalid(reason, `Nothing can be restored to ${wanted}: ${words}`, hint, cause);
}

function invalid(reason: string, message: string, hint: string, cause?: unknown): RequestError {
  return new RequestError('INVALID_TARGET', message, { op: 'restore', hint, details: { reason }, cause });
}
