/** Whether something exists at a path, and where it lies once the links are resolved, even when parts of the path do not exist or do not answer. */
import { lstatSync, readlinkSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { type ByteString, isUtf8 } from '../base/byte-path.ts';
import { errnoOf } from '../base/errors.ts';
import { pathText, treePath } from '../base/tree-path.ts';
import { realPath } from '../base/typed-path.ts';
import { touchFar } from './far-answer.ts';
import { farPlaceOf } from './far-mounts.ts';

/** The most links in a row that are followed; a path with more leads nowhere. */
const MOST_LINKS = 40;

/** Where a path leads, or would lead if all of it existed. Links are followed as far as they can be read. */
export function whereItLies(path: string, links = 0): string {
  try {
    return realPath(path);
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errnoOf(error) ?? '')) return path;
  }
  const above = dirname(path);
  if (above === path) return path;
  const here = join(whereItLies(above, links), basename(path));
  const leadsTo = linkAt(here);
  if (leadsTo === undefined || links === MOST_LINKS) return here;
  return whereItLies(resolve(dirname(here), leadsTo), links + 1);
}

/**
 * The same for callers that must not block: remote file systems are not touched, so links inside of them are not
 * followed.
 */
export function whereItLeads(path: string): string {
  const far = farPlaceOf(treePath(path));
  return far === undefined ? whereItLies(path) : pathText(far.path);
}

/**
 * Other paths that a path may correspond to in a snapshot: where it leads, with a link at its end taken as itself or
 * followed.
 * @param path absolute
 */
export function wherePathLeads(path: ByteString): readonly ByteString[] {
  const text = pathText(path);
  // Such a path was not typed on this machine, or leads nowhere else.
  if (!isUtf8(path) || !isAbsolute(text) || text === '/') return [];
  const itself = join(whereItLeads(dirname(text)), basename(text));
  return [...new Set([itself, whereItLeads(text)])].filter((one) => one !== text).map(treePath);
}

function linkAt(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
      ? readlinkSync(path)
      : undefined;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

/** Milliseconds to wait for one of Holdfast's own places; callers wait for this. */
const PATIENCE_MS = 5_000;

export interface RealPath {
  readonly path: string;
  /** False where its file system fails or does not answer. */
  readonly answers: boolean;
}

/**
 * The path with links resolved, as far as possible where its file system fails or does not answer. Undefined where
 * nothing exists.
 */
export async function whereItReallyLies(path: string, signal: AbortSignal): Promise<RealPath | undefined> {
  const far = farPlaceOf(treePath(path));
  if (far !== undefined) {
    const answer = await touchFar(far.path, signal, { mount: far.mount, patienceMs: PATIENCE_MS });
    if (answer === 'unanswered') return { path: pathText(far.path), answers: false };
  }
  try {
    return { path: realPath(path), answers: true };
  } catch (error) {
    const code = errnoOf(error);
    if (code === undefined) throw error;
    return code === 'ENOENT' ? undefined : { path: pathText(far?.path ?? treePath(path)), answers: false };
  }
}

/** @throws the system's error for a path that cannot be examined */
export async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** True also for a path that cannot be examined: whatever opens it reports the error. */
export async function mayBeThere(path: string): Promise<boolean> {
  try {
    return await isThere(path);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return true;
  }
}
