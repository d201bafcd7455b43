/**
 * A source behind a symbolic link lies in its snapshots where the link led then. Whoever asks for something of it knows it by
 * the name that he gave it, which a snapshot keeps beside the path.
 */
import { asByteString, type ByteString } from './byte-path.ts';

export interface SourceName {
  /** As it was named. */
  readonly name: ByteString;
  /** Where it really lay: one of the paths of the snapshot. */
  readonly path: ByteString;
}

export interface NamedPaths {
  readonly paths: readonly ByteString[];
  readonly named?: readonly SourceName[] | undefined;
}

/**
 * Where a snapshot has what somebody asks for by a path.
 * @param leadsTo where the path leads on this machine now: for snapshots that did not keep how their sources were named
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

/** Whether a path is one of the sources, by the name that it was given or by where it lay. */
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
