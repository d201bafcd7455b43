/**
 * Makes the directory of the Windows service. Everybody may make directories where it lies, so what somebody else has
 * made is not trusted: its maker could read the keys, and decide what the service does. Nothing is removed, as it may be
 * an installation of somebody's, with keys in it.
 */
import { lstat, readdir, rename } from 'node:fs/promises';
import { win32 } from 'node:path';
import {
  ADMINISTRATORS,
  SERVICE_SID,
  opennessOf,
  shownSid,
  type AccessList,
} from '../../base/access-list.ts';
import { StateError, errnoOf } from '../../base/errors.ts';
import { windowsAccess } from '../../base/windows-access.ts';

/** The program's own directory: for administrators and the system, and readable for the service. */
export const OVERALL = `O:BAG:BAD:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;;0x1200a9;;;${SERVICE_SID})`;
/** The state, in which the service writes. */
export const OF_SERVICE = `O:BAG:BAD:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;0x1301bf;;;${SERVICE_SID})`;

/** What is asked of the system. */
export interface DirectoryCalls {
  /** False when something of the name is there. */
  create(path: string, descriptor: string): boolean;
  permit(path: string, descriptor: string): void;
  accessList(path: string): AccessList;
  /** A link, or a directory mounted there, leads elsewhere. */
  isLink(path: string): Promise<boolean>;
  names(path: string): Promise<readonly string[]>;
  move(from: string, to: string): Promise<void>;
}

/** Of this machine. */
export function directoryCalls(): DirectoryCalls {
  const access = windowsAccess();
  return {
    create: (path, descriptor) => access.create(path, 'directory', descriptor),
    permit: (path, descriptor) => access.permit(path, descriptor),
    accessList: (path) => access.accessList(path),
    isLink: async (path) => (await lstat(path)).isSymbolicLink(),
    names: async (path) => await namesIn(path),
    move: rename,
  };
}

async function namesIn(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOTDIR' || errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}

export interface ProtectOptions {
  readonly descriptor: string;
  /** The time, as part of a name. */
  readonly stamp: string;
}

/**
 * Makes a directory with its permissions from the first moment on, or gives them to one that only administrators could
 * have made.
 * @throws {StateError} SET_ASIDE when somebody else may have made it; NOT_TRUSTED for what is in it
 */
export async function protectDirectory(
  path: string,
  { descriptor, stamp }: ProtectOptions,
  calls: DirectoryCalls,
): Promise<void> {
  if (calls.create(path, descriptor)) return;
  const doubt = await doubtAbout(path, calls);
  if (doubt !== undefined) await setAside(path, doubt, `${path}.aside-${stamp}`, calls);
  const inside = await doubtsInside(path, calls);
  if (inside.length > 0)
    throw new StateError('NOT_TRUSTED', `Nothing was changed or started: ${inside.join('; ')}`, {
      hint: 'Move anything you do not recognise elsewhere. Give what is yours to the administrators: icacls PATH /setowner *S-1-5-32-544 /L, then icacls PATH /reset /L. Then run this again.',
    });
  calls.permit(path, descriptor);
}

/** Why somebody else may decide what lies there; undefined when nobody may. */
async function doubtAbout(path: string, calls: DirectoryCalls): Promise<string | undefined> {
  if (await calls.isLink(path)) return 'is a link';
  // The administrators stand for whoever installs: an administrator's own files are theirs as well.
  const { foreignOwner, changers } = opennessOf(calls.accessList(path), ADMINISTRATORS);
  if (foreignOwner !== undefined) return `was created by another user (${shownSid(foreignOwner)})`;
  return changers.length === 0
    ? undefined
    : `can be written to by others (${changers.map(shownSid).join(', ')})`;
}

/** Two levels: what lies deeper got its permissions from there. */
async function doubtsInside(path: string, calls: DirectoryCalls, levels = 2): Promise<readonly string[]> {
  const found: string[] = [];
  for (const name of await calls.names(path)) {
    const inner = win32.join(path, name);
    const doubt = await doubtAbout(inner, calls);
    if (doubt !== undefined) found.push(`${inner} ${doubt}`);
    else if (levels > 1) found.push(...(await doubtsInside(inner, calls, levels - 1)));
  }
  return found;
}

/** @throws {StateError} always: whoever installs has to know */
async function setAside(path: string, doubt: string, aside: string, calls: DirectoryCalls): Promise<never> {
  await calls.move(path, aside);
  throw new StateError('SET_ASIDE', `${path} ${doubt}. It was moved to ${aside}, with its contents`, {
    hint: 'Run this again to create a new one. If it was your own installation, check its contents, and copy its state into the new one before the service starts: it has the keys and settings.',
  });
}
