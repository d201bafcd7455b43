/** The decisions about entries of a source, and the sentences that explain them. */

import { type ByteString } from '../base/byte-path.ts';
import { pathText } from '../base/tree-path.ts';
import { formatBytes } from '../base/units.ts';

export type EntryKind = 'file' | 'directory' | 'other';

export type Decision = Kept | MountPoint | Exclusion;

export interface Kept {
  readonly excluded: false;
  /** False when a directory is stored without its content. */
  readonly descend: true;
}

/** A directory on another file system: it is stored without its content. */
export interface MountPoint {
  readonly excluded: false;
  readonly descend: false;
  readonly rule: 'other-file-system';
}

/** The entry, and everything below it, is left out. */
export type Exclusion =
  | PatternExclusion
  | CacheDirectoryExclusion
  | MarkerExclusion
  | SizeExclusion
  | NeverExclusion;

export interface PatternExclusion {
  readonly excluded: true;
  readonly rule: 'pattern';
  /** The pattern as it was written, `!` and escapes included. */
  readonly pattern: string;
  /** The option or setting, or the ignore file with its line: `/home/u/.gitignore:12`. */
  readonly from: string;
}

export interface CacheDirectoryExclusion {
  readonly excluded: true;
  readonly rule: 'cache-directory';
  /** The CACHEDIR.TAG file. */
  readonly tag: ByteString;
}

export interface MarkerExclusion {
  readonly excluded: true;
  readonly rule: 'marker';
  /** The marker file. */
  readonly marker: ByteString;
}

export interface SizeExclusion {
  readonly excluded: true;
  readonly rule: 'larger-than';
  /** Bytes. */
  readonly size: number;
  /** Bytes. */
  readonly limit: number;
}

export interface NeverExclusion {
  readonly excluded: true;
  readonly rule: 'never';
  /** Why this path is never backed up, as a noun phrase: "the repository itself". */
  readonly reason: string;
}

/** The common case, one object for all entries. */
export const KEEP: Kept = { excluded: false, descend: true };

export const MOUNT_POINT: MountPoint = { excluded: false, descend: false, rule: 'other-file-system' };

/** The reason as a clause, to follow "because" or a colon. */
export function reasonOf(decision: MountPoint | Exclusion): string {
  let reason: string;
  switch (decision.rule) {
    case 'pattern':
      reason = `it matches the pattern ${quoted(decision.pattern)} from ${printable(decision.from)}`;
      break;
    case 'cache-directory':
      reason = `its directory is marked as a cache by ${shownPath(decision.tag)}`;
      break;
    case 'marker':
      reason = `its directory holds the marker file ${shownPath(decision.marker)}`;
      break;
    case 'larger-than':
      reason = `its size, ${formatBytes(decision.size)} (${decision.size} bytes), is over the limit of ${formatBytes(decision.limit)} (${decision.limit} bytes)`;
      break;
    case 'never':
      reason = `it is ${decision.reason}`;
      break;
    case 'other-file-system':
      reason = 'it is on another file system than the source';
      break;
  }
  return reason;
}

/** A path as shown to people: control characters, which a name may contain, are escaped. */
export function shownPath(path: ByteString): string {
  return printable(pathText(path));
}

export function quoted(text: string): string {
  return `'${printable(text)}'`;
}

export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (control) => {
    return `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}
