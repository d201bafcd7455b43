/**
 * Snapshots that no backup would write: entries and tree chunks are encoded from any values whatever, with nothing
 * checked, and sealed properly, as somebody who has the keys could.
 */

import { asByteString } from '../../src/base/byte-path.ts';
import { ChunkHasher } from '../../src/codec/hash.ts';
import { CIPHER_GCM } from '../../src/format/header.ts';
import type { SnapshotRecord } from '../../src/format/records.ts';
import { packKey } from '../../src/repository/objects/listing.ts';
import { PackWriter } from '../../src/repository/packs/pack-writer.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { commitSnapshot, type Snapshot } from '../../src/repository/snapshots.ts';

/** Appends the integer forms of the format, from values of any size. */
class RawBytes {
  readonly #parts: Buffer[] = [];

  u8(value: number): void {
    this.#parts.push(Buffer.from([value]));
  }

  varint(value: number | bigint): void {
    const bytes: number[] = [];
    let rest = BigInt(value);
    for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    bytes.push(Number(rest));
    this.#parts.push(Buffer.from(bytes));
  }

  svarint(value: number): void {
    const big = BigInt(value);
    this.varint(big < 0n ? -big * 2n - 1n : big * 2n);
  }

  text(text: string): void {
    this.varint(text.length);
    this.#parts.push(Buffer.from(text, 'latin1'));
  }

  raw(bytes: Buffer): void {
    this.#parts.push(bytes);
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

export const TYPE = {
  file: 1,
  directory: 2,
  symlink: 3,
  fifo: 4,
  socket: 5,
  character: 6,
  block: 7,
} as const;

export interface RawEntry {
  readonly type: number;
  readonly name: string;
  readonly flags?: number;
  readonly mode?: number;
  readonly uid?: number;
  readonly gid?: number;
  readonly seconds?: number;
  readonly nanoseconds?: number;
  readonly inode?: number;
  readonly links?: { readonly device: number; readonly count: number };
  readonly xattrs?: readonly { readonly name: string; readonly value: Buffer }[];
  /** Instead of the real number of attributes. */
  readonly xattrCount?: number;
  readonly size?: number | bigint;
  /** Gap since the last hole, and length. */
  readonly holes?: readonly (readonly [gap: number, length: number])[];
  readonly holeCount?: number;
  /** 24 bytes each. */
  readonly ids?: readonly Buffer[];
  readonly idCount?: number;
  readonly directory?: Buffer;
  readonly totals?: { readonly files?: number; readonly bytes?: number; readonly entries?: number };
  readonly target?: string;
  readonly major?: number;
  readonly minor?: number;
}

const FLAG = { xattrs: 1, links: 2, holes: 4, indirect: 8 } as const;

export function rawEntry(entry: RawEntry): Buffer {
  const out = new RawBytes();
  const flags =
    (entry.flags ?? 0) |
    (entry.xattrs === undefined ? 0 : FLAG.xattrs) |
    (entry.links === undefined ? 0 : FLAG.links) |
    (entry.holes === undefined ? 0 : FLAG.holes);
  out.u8(entry.type);
  out.varint(flags);
  out.text(entry.name);
  out.varint(entry.mode ?? (entry.type === TYPE.directory ? 0o755 : 0o644));
  out.varint(entry.uid ?? 0);
  out.varint(entry.gid ?? 0);
  out.svarint(entry.seconds ?? 1_700_000_000);
  out.varint(entry.nanoseconds ?? 0);
  out.svarint(1_700_000_000);
  out.varint(0);
  out.varint(entry.inode ?? 1);
  if (entry.links !== undefined) {
    out.varint(entry.links.device);
    out.varint(entry.links.count);
  }
  if (entry.xattrs !== undefined) {
    out.varint(entry.xattrCount ?? entry.xattrs.length);
    for (const { name, value } of entry.xattrs) {
      out.text(name);
      out.varint(value.length);
      out.raw(value);
    }
  }
  rawKindFields(out, entry);
  return out.bytes();
}

function rawKindFields(out: RawBytes, entry: RawEntry): void {
  if (entry.type === TYPE.file) {
    out.varint(entry.size ?? 0);
    if (entry.holes !== undefined) {
      out.varint(entry.holeCount ?? entry.holes.length);
      for (const [gap, length] of entry.holes) {
        out.varint(gap);
        out.varint(length);
      }
    }
    out.varint(entry.idCount ?? entry.ids?.length ?? 0);
    for (const id of entry.ids ?? []) out.raw(id);
  } else if (entry.type === TYPE.directory) {
    out.raw(entry.directory ?? Buffer.alloc(24));
    out.varint(entry.totals?.files ?? 1_000);
    out.varint(entry.totals?.bytes ?? 0);
    out.varint(entry.totals?.entries ?? 10_000);
  } else if (entry.type === TYPE.symlink) {
    out.text(entry.target ?? 'target');
  } else if (entry.type === TYPE.character || entry.type === TYPE.block) {
    out.varint(entry.major ?? 1);
    out.varint(entry.minor ?? 3);
  }
}

/** A leaf of encoded entries, in the order given. */
export function rawLeaf(entries: readonly Buffer[], count = entries.length): Buffer {
  const out = new RawBytes();
  out.u8(1);
  out.u8(0);
  out.varint(count);
  for (const entry of entries) out.raw(entry);
  return out.bytes();
}

export function rawBranch(
  level: number,
  children: readonly (readonly [firstName: string, id: Buffer])[],
): Buffer {
  const out = new RawBytes();
  out.u8(1);
  out.u8(1);
  out.u8(level);
  out.varint(children.length);
  for (const [firstName, id] of children) {
    out.text(firstName);
    out.raw(id);
  }
  return out.bytes();
}

export function rawList(ids: readonly Buffer[]): Buffer {
  const out = new RawBytes();
  out.u8(1);
  out.u8(2);
  out.varint(ids.length);
  for (const id of ids) out.raw(id);
  return out.bytes();
}

/** Where the chunks of a hostile snapshot go; both return the id. */
export interface RawStore {
  readonly data: (chunk: Buffer) => Buffer;
  readonly tree: (chunk: Buffer) => Buffer;
}

/** Stores what `build` makes and commits a snapshot whose root is the tree chunk it returns. */
export async function hostileSnapshot(
  repository: Repository,
  build: (store: RawStore) => Buffer,
  signal: AbortSignal,
  record: Partial<SnapshotRecord> = {},
): Promise<Snapshot> {
  const packs: { name: string; bytes: Buffer }[] = [];
  const [data, tree] = [chunkStore(repository, 'data', packs), chunkStore(repository, 'tree', packs)];
  const root = build({ data: data.put, tree: tree.put });
  data.finish();
  tree.finish();
  for (const { name, bytes } of packs) await repository.destination.put(packKey(name), bytes, signal);
  const none = {
    files: 0,
    directories: 0,
    links: 0,
    others: 0,
    bytes: 0,
    new: 0,
    changed: 0,
    unchanged: 0,
    failed: 0,
  };
  return await commitSnapshot(
    repository,
    {
      tool: 'hostile',
      host: 'host',
      user: 'user',
      paths: [asByteString('/')],
      startedMs: 1_700_000_000_000,
      finishedMs: 1_700_000_000_000,
      root,
      plain: false,
      tags: [],
      pinned: false,
      status: 'complete',
      errors: [],
      errorsMore: 0,
      counts: none,
      owners: { users: {}, groups: {} },
      omitted: [],
      kind: 'files',
      ...record,
    },
    { live: 1 },
    signal,
  );
}

function chunkStore(
  repository: Repository,
  kind: 'tree' | 'data',
  packs: { name: string; bytes: Buffer }[],
): { put: (chunk: Buffer) => Buffer; finish: () => void } {
  const idKey = repository.keys.idKey(kind, { plain: false });
  const hasher = new ChunkHasher(idKey);
  const known = new Set<string>();
  const writer = new PackWriter({
    keys: repository.keys,
    kind,
    cipher: CIPHER_GCM,
    idKey,
    packTarget: 16 * 1024 * 1024,
    segmentTarget: repository.config.segmentTarget,
    compression: { kind: 'zstd', level: 3 },
    take: (capacity) => Buffer.allocUnsafeSlow(capacity),
    emit: ({ name, bytes }) => {
      packs.push({ name, bytes });
    },
  });
  return {
    put: (chunk) => {
      const id = Buffer.from(hasher.id(chunk));
      if (!known.has(id.toString('hex'))) writer.append(id, Buffer.from(chunk));
      known.add(id.toString('hex'));
      return id;
    },
    finish: () => writer.finish(),
  };
}
