/**
 * Finds sources that were named by a symbolic link. In a snapshot such a source has the path that the link led to at
 * the time. Users know it by the name they gave, which the snapshot keeps in addition to the path.
 */
import { asByteString, type ByteString } from './byte-path.ts';

export interface SourceName {
  /** The name that the user gave. */
  readonly name: ByteString;
  /** Where the source really was: one of the snapshot's paths. */
  readonly path: ByteString;
}

export interface NamedPaths {
  readonly paths: readonly ByteString[];
  readonly named?: readonly SourceName[] | undefined;
}

/**
 * The path in a snapshot for the path that a user asks for.
 * @param leadsTo where that path leads on this machine at present, for snapshots that did not keep the names of their
 *   sources
 */
export function pathIn(
  { paths, named = [] }: NamedPaths,
  asked: ByteString,
  leadsTo: readonly ByteString[] = [],
): ByteString {
  if (paths.some((path) => isAtOrBelow(asked, path))) return asked;
  const by = named.find(({ name }) => isAtOrBelow(asked, name));
  if (by !== undefined) return below(by.path, asked.slice(by.name.length));
  const meant = [asked, ...leadsTo].find((one) => paths.some((path) => isAtOrBelow(path, one)));
  return meant ?? leadsTo.find((one) => paths.some((path) => isAtOrBelow(one, path))) ?? asked;
}

/** Whether a path is one of the sources, by its given name or by its real path. */
export function isSourceOf({ paths, named = [] }: NamedPaths, asked: readonly ByteString[]): boolean {
  return asked.some((one) => paths.includes(one) || named.some(({ name }) => name === one));
}

function below(directory: ByteString, rest: string): ByteString {
  if (directory === '/') return asByteString(rest === '' ? '/' : rest);
  return asByteString(`${directory}${rest}`);
}

function isAtOrBelow(path: ByteString, directory: ByteString): boolean {
  return directory === '/' || path === directory || path.startsWith(`${directory}/`);
}
