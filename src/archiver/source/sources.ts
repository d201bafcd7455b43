/** Turns the sources of a backup as the user named them into what the archiver takes. */
import { closeSync, constants, lstatSync, openSync, readlinkSync, statSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { NeverPath } from '../../exclude/excluder.ts';
import { type ByteString } from '../../base/byte-path.ts';
import { treePath } from '../../base/tree-path.ts';
import { errnoText } from '../../base/errno-words.ts';
import { NODE_HINT, nodeKind, nodeText } from '../../base/node-kind.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { quoted } from '../../base/shell-words.ts';
import { SourceError, errnoOf } from '../../base/errors.ts';
import { filePath, realPath, resolveTyped, spelledAsStored } from '../../base/typed-path.ts';
import type { SourceName } from '../../base/source-names.ts';
import { accessHint } from '../../system/mac-mounts.ts';
import { isMadeUp, mountOf, mountTable, parseMounts, type Mount } from '../../system/mount-table.ts';
import { placeAround } from '../../system/same-place.ts';
import { findHungMounts, isHung } from './hung-mounts.ts';

export interface Sources {
  /** Each source once, absolute. Symbolic links on the way to it are resolved, because none is followed inside a source. */
  readonly paths: readonly ByteString[];
  /** The paths in the order in which they were named, each as often as it was named. */
  readonly places: readonly ByteString[];
  /** The names that the user gave for sources whose path is another. */
  readonly named: readonly SourceName[];
  /** Notes for the user: a link that is only stored, a path that became another. */
  readonly notes: readonly string[];
}

/**
 * To be called before anything else touches the named paths. Those that hang are left alone from then on.
 * @param base what relative names begin at; undefined for the working directory
 * @throws {SourceError} INVALID_SOURCE when all of them hang
 */
export async function requireAnswer(
  named: readonly string[],
  base: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const paths = named.map((name) => resolveTyped(name, base));
  await findHungMounts(paths.map(treePath), signal);
  const first = paths.find((path) => isHung(treePath(path)));
  if (first === undefined || !paths.every((path) => isHung(treePath(path)))) return;
  throw invalid(first, 'not_answering', `The file system of ${first} does not answer`);
}

/**
 * Looks at the named paths. One that is absent or cannot be looked at is left to the backup, which records it, as long
 * as there are others.
 * @throws {SourceError} INVALID_SOURCE when there is nothing to save
 */
export function resolveSources(
  named: readonly string[],
  base: string | undefined,
  never: readonly NeverPath[],
): Sources {
  const notes: string[] = [];
  const found = named.map((name) => findSource(name, base, notes));
  const first = found[0];
  if (found.every(({ stats }) => stats === undefined)) refuseAll(found);
  const mounts = parseMounts(mountTable());
  for (const one of found) {
    refuseOwnPlaces(one.path, never);
    refuseMadeUp(one.path, mounts);
    refuseNode(one);
  }
  if (found.length === 1 && first?.stats !== undefined) requireReadable(first.path, first.stats);
  const names = found.flatMap(({ path, wanted }) =>
    path === wanted ? [] : [{ name: treePath(wanted), path: treePath(path) }],
  );
  const places = found.map(({ path }) => treePath(path));
  return { paths: [...new Set(places)], places, named: names, notes: [...new Set(notes)] };
}

interface FoundSource {
  /** The path as it was named, made absolute. */
  readonly wanted: string;
  readonly path: string;
  readonly stats: Stats | undefined;
  /** The path ended in a slash, which means the directory or file that is there in the end. */
  readonly behindLink?: boolean;
  /** The error code if the path could not be looked at although something may be there. */
  readonly failure?: string | undefined;
}

function refuseAll(found: readonly FoundSource[]): void {
  const [first] = found;
  const barred = found.find(({ failure }) => failure !== undefined);
  if (barred?.failure !== undefined)
    throw invalid(
      barred.path,
      reasonOf(barred.failure),
      `${barred.path} cannot be read: ${errnoText(barred.failure)}`,
      accessHint(barred.path, barred.failure),
    );
  if (first === undefined) return;
  throw invalid(
    first.path,
    'not_found',
    found.length === 1 ? `${first.path} does not exist` : 'None of the sources exists',
  );
}

function reasonOf(failure: string): keyof typeof HINTS {
  if (['EACCES', 'EPERM'].includes(failure)) return 'not_readable';
  return ['ELOOP', 'ENAMETOOLONG'].includes(failure) ? 'not_found' : 'not_answering';
}

function findSource(name: string, base: string | undefined, notes: string[]): FoundSource {
  const wanted = resolveTyped(name, base);
  // As with other tools, a trailing slash or `/.` means the directory that a link points to.
  const behindLink = /[^/]\/+(?:\.\/*)*$/.test(name);
  if (isHung(treePath(wanted))) return { wanted, path: wanted, stats: undefined };
  const path = behindLink ? realPlace(wanted) : inRealDirectory(wanted);
  const { stats, failure } = look(path);
  if (failure !== undefined) return { wanted, path, stats, failure };
  // A link that led anywhere would have been resolved, so the directory that was meant does not exist.
  if (behindLink && stats?.isSymbolicLink() === true) return { wanted, path, stats: undefined };
  if (path !== wanted) notes.push(`${wanted} is stored under its real path, ${path}.`);
  if (stats?.isSymbolicLink() === true) {
    notes.push(
      `${path} is a symbolic link to ${readlinkSync(filePath(path))}: only the link is backed up. To back up what it points to, write ${name.replace(/\/+$/, '')}/`,
    );
  }
  if (stats !== undefined && !behindLink) notes.push(...notesOfNode(path, stats));
  return { wanted, path, stats, behindLink };
}

/** Whoever names a disk or a pipe as a source mostly means what can be read from it. */
function notesOfNode(path: string, stats: Stats): readonly string[] {
  const what = nodeKind(stats);
  if (what === undefined) return [];
  const only = `${path} is ${what}: only its name, owner and mode are backed up, and nothing that is read from it.`;
  return [[only, ...readingOf(path, stats)].join(' ')];
}

function readingOf(path: string, stats: Stats): readonly string[] {
  if (stats.isSocket()) return [];
  return [`To back up that: ${holdfast`backup --stdin-name ${basename(path)} < ${quoted(path)}`}`];
}

/**
 * The sources of the settings come with a slash. Where one is a disk or a pipe, a backup of its name would count as a
 * good one, again and again, and nobody would read a note.
 */
function refuseNode({ path, stats, behindLink }: FoundSource): void {
  if (stats === undefined || behindLink !== true) return;
  const what = nodeKind(stats);
  if (what === undefined) return;
  throw invalid(
    path,
    'unsupported_type',
    nodeText(path, what),
    [NODE_HINT, ...readingOf(path, stats)].join(' '),
  );
}

function look(path: string): Pick<FoundSource, 'stats' | 'failure'> {
  try {
    return { stats: lstatSync(filePath(path)) };
  } catch (error) {
    const failure = errnoOf(error);
    if (failure === undefined) throw error;
    return { stats: undefined, failure: ['ENOENT', 'ENOTDIR'].includes(failure) ? undefined : failure };
  }
}

function inRealDirectory(path: string): string {
  const directory = dirname(path);
  return directory === path ? path : spelledAsStored(join(realPlace(directory), basename(path)));
}

/** The path with its links resolved; the path itself when nothing is there, or nothing that can be looked at. */
function realPlace(path: string): string {
  try {
    return realPath(path);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return path;
  }
}

function refuseOwnPlaces(path: string, never: readonly NeverPath[]): void {
  const place = placeAround(treePath(path), never);
  if (place !== undefined)
    throw invalid(path, 'inside_state_directory', `${path} is ${place.reason}, or in it`);
}

/**
 * Refuses file systems that the kernel makes up. There is nothing to save in them, and reading may have effects: answer
 * a tracer, or take a message out of a queue.
 */
function refuseMadeUp(path: string, mounts: readonly Mount[]): void {
  const mount = mountOf(treePath(path), mounts);
  if (mount === undefined || !isMadeUp(mount.type)) return;
  throw invalid(
    path,
    'unsupported_type',
    `${path} is on a file system of the kernel (${mount.type}), which has no real files`,
  );
}

/**
 * An unreadable source is recorded when there are others, but as the only one it would leave nothing to save. The test
 * opens it, because access(2) checks the user's permissions alone, and a service may have a capability to read more.
 */
function requireReadable(path: string, stats: Stats): void {
  if (!stats.isFile() && !stats.isDirectory()) return;
  try {
    closeSync(openSync(filePath(path), constants.O_RDONLY | constants.O_NONBLOCK));
    // A directory that may be read but not entered gives names and nothing else. `join` would drop the dot.
    if (stats.isDirectory()) statSync(filePath(`${path}/.`));
  } catch (error) {
    const failure = errnoOf(error) ?? 'error';
    throw invalid(
      path,
      'not_readable',
      `${path} cannot be read: ${errnoText(failure)}`,
      accessHint(path, failure),
    );
  }
}

const HINTS = {
  not_found: 'Check the spelling, and that the drive is mounted.',
  inside_state_directory: 'Choose something else: a repository inside itself would grow forever.',
  not_answering: 'Check that its server or program is running, or unmount it, then back up again.',
  unsupported_type: 'Choose something else: such a file system stores nothing.',
  not_readable: 'Run the backup as a user who can read it.',
};

function invalid(
  path: string,
  reason: keyof typeof HINTS,
  message: string,
  hint: string = HINTS[reason],
): SourceError {
  return new SourceError('INVALID_SOURCE', message, {
    op: 'find source',
    hint,
    details: { path, reason },
  });
}
