/** A scan of a source, for comparison with the next one. */
import { createHash, type Hash } from 'node:crypto';
import { lstatSync, readdirSync, statSync, type Stats } from 'node:fs';
import { asByteString, joinBytes, type ByteString } from '../base/byte-path.ts';
import { fsPath } from '../base/tree-path.ts';
import { errnoOf } from '../base/errors.ts';

export interface FarPollOrder {
  readonly root: ByteString;
  readonly never: readonly ByteString[];
  /** Files that are examined one by one; default 20,000. Beyond that only directories are, which show additions and removals. */
  readonly mostFiles?: number | undefined;
}

/** `digest` differs when something was added, removed or changed; `identity` differs when the root was replaced. */
export type FarPoll =
  | {
      readonly kind: 'there';
      readonly identity: string;
      readonly directories: number;
      readonly digest: string;
    }
  | { readonly kind: 'absent' };

const MOST_FILES = 20_000;

/** @param alive called for every entry that was examined */
export function pollFar({ root, never, mostFiles = MOST_FILES }: FarPollOrder, alive: () => void): FarPoll {
  const found = orErrno(() => statSync(fsPath(root)));
  if (typeof found === 'string') return { kind: 'absent' };
  alive();
  const hash = createHash('sha256');
  const leftOut = new Set(never);
  const counts = { files: 0, directories: 0 };
  note(hash, root, found);
  const waiting = found.isDirectory() ? [root] : [];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    counts.directories += 1;
    for (const entry of namesIn(path, hash)) {
      const below = joinBytes(path, entry.name);
      if (leftOut.has(below)) continue;
      if (!entry.isDirectory && counts.files >= mostFiles) continue;
      if (!entry.isDirectory) counts.files += 1;
      note(
        hash,
        below,
        orErrno(() => lstatSync(fsPath(below))),
      );
      alive();
      if (entry.isDirectory) waiting.push(below);
    }
  }
  const { ino, dev } = found;
  const kind = found.isDirectory() ? `directory ${dev} ${ino}` : 'file';
  return { kind: 'there', identity: kind, directories: counts.directories, digest: hash.digest('hex') };
}

function namesIn(
  path: ByteString,
  hash: Hash,
): readonly { readonly name: ByteString; readonly isDirectory: boolean }[] {
  const entries = orErrno(() => readdirSync(fsPath(path), { withFileTypes: true, encoding: 'latin1' }));
  if (typeof entries === 'string') {
    hash.update(`${entries}\n`);
    return [];
  }
  return entries
    .map((entry) => ({ name: asByteString(entry.name), isDirectory: entry.isDirectory() }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function note(hash: Hash, path: ByteString, found: Stats | string): void {
  const seen =
    typeof found === 'string'
      ? found
      : [found.mode, found.ino, found.size, found.mtimeMs, found.ctimeMs].join(' ');
  hash.update(`${path}\0${seen}\n`, 'latin1');
}

/** An error becomes part of the result, as the scan must go on. */
function orErrno<T>(look: () => T): T | string {
  try {
    return look();
  } catch (error) {
    const code = errnoOf(error);
    if (code === undefined) throw error;
    return code;
  }
}
