import { bytesOfText, type ByteString } from '../base/byte-path.ts';
import { RequestError } from '../base/errors.ts';
import { compileGlob, matchSegment, matchSegments, type Segment } from '../exclude/glob.ts';
import { foldCase, inForm } from '../exclude/name-forms.ts';
import type { Entry, EntryType } from '../format/tree.ts';

/** What to look for. An entry must meet every condition that is given. */
export interface FindQuery {
  /**
   * Wildcards `*`, `?`, `[…]` and `**`, as in gitignore; one of them must match. A pattern with a `/` is matched
   * against the path (`/srv/w*`; without a leading slash at any depth: `src/*.ts`), any other against the name. A
   * trailing `/` matches only directories. Empty: no condition.
   */
  readonly patterns: readonly string[];
  readonly ignoreCase?: boolean;
  /** Empty or absent: all types. */
  readonly types?: readonly EntryType[];
  /** Bytes, both included. Only regular files have a size. */
  readonly minSize?: number | undefined;
  readonly maxSize?: number | undefined;
  /** Modified at this time or later, milliseconds since 1970. */
  readonly newerThanMs?: number | undefined;
  /** Modified before this time, milliseconds since 1970. */
  readonly olderThanMs?: number | undefined;
}

/** A query ready for use. */
export interface CompiledQuery {
  readonly query: FindQuery;
  readonly types: ReadonlySet<EntryType> | undefined;
  readonly newerThanNs: bigint | undefined;
  readonly olderThanNs: bigint | undefined;
  readonly patterns: readonly CompiledPattern[];
  readonly folded: boolean;
  /** Whether the answer depends on where an entry lies, not only on the entry. */
  readonly byPath: boolean;
}

interface CompiledPattern {
  readonly segments: readonly Segment[];
  readonly wholePath: boolean;
  readonly directoriesOnly: boolean;
}

/** @throws {RequestError} INVALID_PATTERN */
export function compileQuery(query: FindQuery): CompiledQuery {
  const folded = query.ignoreCase === true;
  const patterns = query.patterns.map((pattern) => compilePattern(pattern, folded));
  return {
    query,
    types: query.types === undefined || query.types.length === 0 ? undefined : new Set(query.types),
    newerThanNs: nanoseconds(query.newerThanMs),
    olderThanNs: nanoseconds(query.olderThanMs),
    patterns,
    folded,
    byPath: patterns.some(({ wholePath }) => wholePath),
  };
}

function nanoseconds(ms: number | undefined): bigint | undefined {
  return ms === undefined ? undefined : BigInt(Math.round(ms)) * 1_000_000n;
}

function compilePattern(pattern: string, folded: boolean): CompiledPattern {
  const directoriesOnly = pattern.length > 1 && pattern.endsWith('/');
  const body = directoriesOnly ? pattern.slice(0, -1) : pattern;
  const anchored = body.startsWith('/');
  const wholePath = body.includes('/');
  const written = anchored ? body.slice(1) : wholePath ? `**/${body}` : body;
  const segments = compileGlob(inForm(bytesOfText(written), 'text'), { fold: folded ? foldCase : undefined });
  if (typeof segments === 'string') throw neverMatches(pattern, segments);
  if (segments.some(isImpossible)) throw neverMatches(pattern, "no entry is called '', '.' or '..'");
  return { segments, wholePath, directoriesOnly };
}

function isImpossible(segment: Segment): boolean {
  return segment.kind === 'literal' && ['', '.', '..'].includes(segment.text);
}

function neverMatches(pattern: string, why: string): RequestError {
  return new RequestError('INVALID_PATTERN', `The pattern '${pattern}' can never match: ${why}`, {
    hint: 'Write a name (*.odt), a part of a path (docs/*.md) or a whole path (/srv/www/*.html).',
  });
}

/** The names of a directory's path, in the form that patterns are matched against. */
export type DirectoryNames = readonly string[];

export function enterDirectory(
  query: CompiledQuery,
  parent: DirectoryNames,
  name: ByteString,
): DirectoryNames {
  return query.byPath ? [...parent, formOf(query, name)] : parent;
}

/** Whether something below a directory can match; false only when its path rules that out. */
export function mayHoldMatches(query: CompiledQuery, directory: DirectoryNames): boolean {
  if (query.patterns.length === 0) return true;
  return query.patterns.some(({ segments, wholePath }) => {
    if (!wholePath) return true;
    for (const [depth, name] of directory.entries()) {
      const segment = segments[depth];
      if (segment?.kind === 'globstar') return true;
      if (segment === undefined || !matchSegment(segment, name, query.folded)) return false;
    }
    return segments.length > directory.length;
  });
}

export function matches(query: CompiledQuery, directory: DirectoryNames, entry: Entry): boolean {
  const { minSize, maxSize } = query.query;
  if (query.types !== undefined && !query.types.has(entry.type)) return false;
  if (minSize !== undefined || maxSize !== undefined) {
    if (entry.type !== 'file') return false;
    if (entry.size < (minSize ?? 0) || entry.size > (maxSize ?? Number.POSITIVE_INFINITY)) return false;
  }
  if (query.newerThanNs !== undefined && entry.mtimeNs < query.newerThanNs) return false;
  if (query.olderThanNs !== undefined && entry.mtimeNs >= query.olderThanNs) return false;
  if (query.patterns.length === 0) return true;
  const name = formOf(query, entry.name);
  return query.patterns.some((pattern) => {
    if (pattern.directoriesOnly && entry.type !== 'directory') return false;
    if (pattern.wholePath) return matchSegments(pattern.segments, [...directory, name], 0, query.folded);
    const [segment] = pattern.segments;
    return segment !== undefined && matchSegment(segment, name, query.folded);
  });
}

function formOf(query: CompiledQuery, name: ByteString): string {
  return inForm(name, query.folded ? 'folded' : 'text');
}
