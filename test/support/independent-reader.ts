/**
 * A reader of repositories written from docs/repository-format.md alone: the proof that the page is complete. It takes a
 * directory and a secret and gives every entry of every snapshot. Section numbers are those of the page.
 */

import { verify } from 'node:crypto';
import { statSync } from 'node:fs';
import path from 'node:path';
import { openKeyring, type StrangerSecret } from './independent-keys.ts';
import {
  bytes,
  bytesOf,
  hex,
  integer,
  list,
  names,
  need,
  openNamed,
  openNamedObject,
  openObject,
  read,
  type Fields,
  type Keys,
} from './independent-objects.ts';
import { ChunkReader, chunkPlaces } from './independent-packs.ts';
import { join, rawKey, u64, uncbor, without } from './independent-primitives.ts';
import { readTreeChunk, type TreeEntry } from './independent-tree.ts';

export interface StrangerOptions {
  /** Passphrase costs below the floor are accepted: a repository made for tests. */
  readonly weakCost?: boolean;
  /** Where chunks lie: from the index objects and the directories of other packs, or from directories alone. */
  readonly places?: 'index' | 'directories';
  /** The name of the only snapshot to read. */
  readonly only?: string | undefined;
}

/** An entry of a snapshot. */
export interface StrangerEntry {
  /** The snapshot's name. */
  readonly snapshot: string;
  /** Absolute, one character a byte. */
  readonly path: string;
  readonly entry: TreeEntry;
  /** Of regular files. */
  readonly content: Buffer | undefined;
}

/** Section 10, step by step. */
export function* readRepository(
  directory: string,
  secret: StrangerSecret,
  options: StrangerOptions = {},
): Generator<StrangerEntry, void, undefined> {
  const keys = openKeyring(directory, secret, options.weakCost === true);
  requireConfig(directory, keys);
  const forgotten = namedByTombstones(directory, keys, 'snapshots');
  const places = chunkPlaces(directory, keys, options.places ?? 'index');
  for (const name of names(directory, 'snapshots', /^[0-9a-f]{64}$/)) {
    if (forgotten.has(name) || (options.only !== undefined && name !== options.only)) continue;
    const record = uncbor(openNamed(directory, 'snapshots', name, 5, keys));
    need(integer(record, 'v') === 1, 'snapshot version');
    const reader = new ChunkReader(directory, keys, places, record);
    yield* walk(reader, bytes(record, 'root', 24), '', name);
  }
}

/** The first 16 bytes, in hex, of the ids of all chunks that live snapshots need: their trees and what those name. */
export function neededChunks(directory: string, keys: Keys): ReadonlySet<string> {
  const needed = new Set<string>();
  const forgotten = namedByTombstones(directory, keys, 'snapshots');
  const places = chunkPlaces(directory, keys, 'directories');
  const need16 = (id: Uint8Array): boolean => {
    const start = hex(id.subarray(0, 16));
    if (needed.has(start)) return false;
    needed.add(start);
    return true;
  };
  for (const name of names(directory, 'snapshots', /^[0-9a-f]{64}$/)) {
    if (forgotten.has(name)) continue;
    const record = uncbor(openNamed(directory, 'snapshots', name, 5, keys));
    const reader = new ChunkReader(directory, keys, places, record);
    const waiting = [bytes(record, 'root', 24)];
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      if (!need16(id)) continue;
      const chunk = readTreeChunk(reader.tree(id));
      if (chunk.form === 1) waiting.push(...chunk.children.map((child) => child.id));
      if (chunk.form === 2) for (const data of chunk.ids) need16(data);
      if (chunk.form !== 0) continue;
      for (const entry of chunk.entries) {
        if (entry.directory !== undefined) waiting.push(entry.directory);
        if (entry.indirect) waiting.push(...entry.content);
        else for (const data of entry.content) need16(data);
      }
    }
  }
  return needed;
}

// --- section 7: configuration and tombstones ---

function isSigned(map: Fields, domain: string, keys: Keys): boolean {
  const message = join(domain, keys.repo, without(map, 'signature'));
  return verify(null, message, rawKey('Ed25519', 'public', keys.adminPublic), bytes(map, 'signature', 64));
}

function requireConfig(directory: string, keys: Keys): void {
  const numbers = names(directory, 'config', /^[1-9]\d{0,8}$/).map(Number);
  const sound = numbers.sort((a, b) => b - a).flatMap((n) => configOf(directory, n, keys));
  const map = sound.find((one) => one['n'] !== undefined) ?? sound[0];
  need(map !== undefined, 'configuration');
  need(integer(map, 'v') === 1 && integer(map, 'min_format') <= 2, 'newer format');
}

/** None where what is there is not what the administrator has signed for its number, or for none. */
function configOf(directory: string, n: number, keys: Keys): readonly Fields[] {
  const opened = openedOrNot(() => openObject(read(directory, `config/${n}`), 6, keys));
  if (opened?.context.equals(u64(n)) !== true) return [];
  const map = uncbor(opened.plaintext);
  const isMeant = map['n'] === undefined || map['n'] === n;
  return isMeant && isSigned(map, 'hf1/config', keys) ? [map] : [];
}

function openedOrNot<T>(open: () => T): T | undefined {
  try {
    return open();
  } catch {
    return undefined;
  }
}

/** The names that tombstones of a kind list, and when the newest of those was stored, by the file's time. */
export function namedByTombstones(
  directory: string,
  keys: Keys,
  kind: 'packs' | 'snapshots',
): ReadonlyMap<string, number> {
  const named = new Map<string, number>();
  for (const name of names(directory, 'trash', /^[0-9a-f]{64}$/)) {
    const { context, plaintext } = openNamedObject(directory, 'trash', name, 8, keys);
    const map = uncbor(plaintext);
    const isMeant = map['chain'] === undefined || context.equals(bytes(map, 'chain', 56));
    if (!isMeant || !isSigned(map, 'hf1/tomb', keys) || map['kind'] !== kind) continue;
    const storedMs = statSync(path.join(directory, 'trash', name)).mtimeMs;
    for (const one of list(map, 'names')) {
      const pack = hex(bytesOf(one));
      named.set(pack, Math.max(storedMs, named.get(pack) ?? 0));
    }
  }
  return named;
}

// --- section 6: trees and files ---

function* walk(
  reader: ChunkReader,
  id: Uint8Array,
  parent: string,
  snapshot: string,
): Generator<StrangerEntry, void, undefined> {
  let last: Buffer | undefined;
  for (const entry of directoryEntries(reader, id, undefined)) {
    need(last === undefined || Buffer.compare(last, entry.name) < 0, 'order of a directory');
    last = entry.name;
    const entryPath = `${parent}/${entry.name.toString('latin1')}`;
    const content = entry.type === 1 ? fileContent(reader, entry) : undefined;
    yield { snapshot, path: entryPath, entry, content };
    if (entry.directory !== undefined) yield* walk(reader, entry.directory, entryPath, snapshot);
  }
}

function* directoryEntries(
  reader: ChunkReader,
  id: Uint8Array,
  level: number | undefined,
): Generator<TreeEntry, void, undefined> {
  const chunk = readTreeChunk(reader.tree(id));
  if (chunk.form === 0) {
    need(level === undefined || level === 0, 'level of a leaf');
    yield* chunk.entries;
    return;
  }
  if (chunk.form === 2) throw new Error('independent reader: a list where a directory belongs');
  need(level === undefined || level === chunk.level, 'level of a branch');
  for (const { id: child } of chunk.children) yield* directoryEntries(reader, child, chunk.level - 1);
}

function fileContent(reader: ChunkReader, entry: TreeEntry): Buffer {
  const ids = entry.indirect
    ? entry.content.flatMap((id) => {
        const chunk = readTreeChunk(reader.tree(id));
        if (chunk.form !== 2) throw new Error('independent reader: no list where one belongs');
        return chunk.ids;
      })
    : entry.content;
  const data = Buffer.concat(ids.map((id) => reader.data(id)));
  const parts: Buffer[] = [];
  let used = 0;
  let end = 0;
  for (const { gap, length } of entry.holes) {
    parts.push(data.subarray(used, used + gap), Buffer.alloc(length));
    used += gap;
    end += gap + length;
  }
  parts.push(data.subarray(used));
  need(end <= entry.size, 'a hole outside of its file');
  const content = Buffer.concat(parts);
  need(content.length === entry.size, 'size of a file');
  return content;
}
