/**
 * What lies in a local repository that nothing needs any more, found by code that shares nothing with the program:
 * test/support/independent-*.ts, written from docs/repository-format.md.
 */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openKeyring } from '../support/independent-keys.ts';
import type { Keys } from '../support/independent-objects.ts';
import { storedPacks, supersededIndexObjects } from '../support/independent-packs.ts';
import { namedByTombstones, neededChunks } from '../support/independent-reader.ts';
import { PASSPHRASE } from '../sweep/program.ts';
import { listRepository } from '../sweep/stored-objects.ts';

export interface Garbage {
  readonly packs: readonly Orphan[];
  readonly forgottenSnapshots: readonly Orphan[];
  readonly supersededIndexes: readonly Orphan[];
  readonly packTombstones: number;
  readonly leases: readonly Orphan[];
  /** Unfinished files of writers that were killed: the destination removes them after a day. */
  readonly leftovers: number;
  readonly livePacks: number;
}

export interface Orphan {
  readonly name: string;
  /** Since it was stored, marked, or superseded, whichever made it an orphan; a pack that nobody marked since it was stored. */
  readonly ageMs: number;
  readonly marked: boolean;
}

let opened: { readonly repository: string; readonly keys: Keys } | undefined;

/** The keys, from the passphrase once. */
function keysOf(repository: string): Keys {
  if (opened?.repository !== repository)
    opened = { repository, keys: openKeyring(repository, { passphrase: PASSPHRASE }, true) };
  return opened.keys;
}

function packPath(repository: string, name: string): string {
  return join(repository, 'packs', name.slice(0, 2), name);
}

/** Tombstones come and go while they are read. */
const READ_TRIES = 20;

/** Packs that are still there although all tombstones which name them are older than `dueMs`. */
export function packsOverdue(
  repository: string,
  dueMs: number,
): readonly { readonly name: string; readonly markedMs: number }[] {
  const keys = keysOf(repository);
  for (let tries = 1; ; tries += 1) {
    try {
      return [...namedByTombstones(repository, keys, 'packs')]
        .filter(([name, markedMs]) => markedMs < dueMs && existsSync(packPath(repository, name)))
        .map(([name, markedMs]) => ({ name, markedMs }));
    } catch (error) {
      const vanished = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      if (!vanished || tries === READ_TRIES) throw error;
    }
  }
}

/** Of a repository at rest. */
export function garbageIn(repository: string, nowMs: number): Garbage {
  const keys = keysOf(repository);
  const needed = neededChunks(repository, keys);
  const markedPacks = namedByTombstones(repository, keys, 'packs');
  const age = (key: string): number => nowMs - statSync(join(repository, key)).mtimeMs;
  const stored = storedPacks(repository, keys);
  const packs: Orphan[] = [];
  for (const [name, ids] of stored) {
    const markedMs = markedPacks.get(name);
    if (ids.some((id) => needed.has(id)) && markedMs === undefined) continue;
    // A marked pack that still holds needed chunks was written anew, and the chunks lie in another pack too.
    const ageMs = markedMs === undefined ? age(`packs/${name.slice(0, 2)}/${name}`) : nowMs - markedMs;
    packs.push({ name, ageMs, marked: markedMs !== undefined });
  }
  const { objects, leftovers } = listRepository(repository);
  const forgotten = namedByTombstones(repository, keys, 'snapshots');
  const orphans = (prefix: string, since: (name: string) => number | undefined): Orphan[] =>
    [...objects.keys()]
      .filter((key) => key.startsWith(prefix))
      .flatMap((key) => {
        const name = key.slice(prefix.length);
        const ageMs = since(name);
        return ageMs === undefined ? [] : [{ name, ageMs, marked: true }];
      });
  const superseded = supersededIndexObjects(repository, keys);
  return {
    packs,
    forgottenSnapshots: orphans('snapshots/', (name) => {
      const sinceMs = forgotten.get(name);
      return sinceMs === undefined ? undefined : nowMs - sinceMs;
    }),
    supersededIndexes: orphans('index/', (name) => {
      const by = superseded.get(name);
      return by === undefined ? undefined : age(`index/${by}`);
    }),
    packTombstones: markedPacks.size,
    leases: orphans('leases/', (name) => age(`leases/${name}`)),
    leftovers: leftovers.length,
    livePacks: stored.size - packs.length,
  };
}
