/** Tells what is neither a file nor a directory: such a node has a name, an owner and a mode, and nothing that could be stored. */
import type { Stats } from 'node:fs';

/** In words; undefined for a file, a directory or a symbolic link. */
export function nodeKind(stats: Stats): 'a pipe' | 'a socket' | 'a device' | undefined {
  if (stats.isFIFO()) return 'a pipe';
  if (stats.isSocket()) return 'a socket';
  return stats.isBlockDevice() || stats.isCharacterDevice() ? 'a device' : undefined;
}

/** Why a node is no source. */
export function nodeText(path: string, kind: string): string {
  return `${path} is ${kind}, neither a file nor a directory, so a backup would store nothing that is read from it`;
}

export const NODE_HINT = 'Choose a directory or a file. With its directory, its name and mode are backed up.';
