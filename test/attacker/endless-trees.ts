/** Trees of a few hundred bytes that unfold to any number of paths. */
import { CIPHER_GCM } from '../../src/format/header.ts';
import { asByteString } from '../../src/base/byte-path.ts';
import { ChunkHasher } from '../../src/codec/hash.ts';
import { ByteWriter, encodeEntry, encodeLeaf } from '../../src/format/tree-encode.ts';
import type { DirectoryTotals } from '../../src/format/tree.ts';
import { packKey } from '../../src/repository/objects/listing.ts';
import { PackWriter } from '../../src/repository/packs/pack-writer.ts';
import type { Repository } from '../../src/repository/repository.ts';
import type { Sealed } from './sealing.ts';

export interface EndlessTree {
  readonly packs: readonly Sealed[];
  readonly root: Buffer;
  readonly totals: DirectoryTotals;
}

/** What entries say of the directories that they name. */
export type Told = 'truth' | 'nothing' | 'too-little';

export interface Shape {
  readonly levels: number;
  /** Names in each directory, all of them the same one. */
  readonly names: number;
  readonly told: Told;
}

const METADATA = {
  mode: 0o755,
  uid: 0,
  gid: 0,
  mtimeNs: 1_700_000_000_000_000_000n,
  ctimeNs: 1_700_000_000_000_000_000n,
  inode: 1,
} as const;

export function endlessTree({ keys }: Repository, salt: Buffer, { levels, names, told }: Shape): EndlessTree {
  const idKey = keys.idKey('tree', { plain: false, salt });
  const hasher = new ChunkHasher(idKey);
  const packs: Sealed[] = [];
  const writer = new PackWriter({
    keys,
    kind: 'tree',
    cipher: CIPHER_GCM,
    idKey,
    packTarget: 65_536,
    segmentTarget: 65_536,
    compression: { kind: 'none' },
    take: (capacity) => Buffer.alloc(capacity),
    emit: ({ name, bytes }) => void packs.push({ key: packKey(name), body: Buffer.from(bytes) }),
  });
  let id = Buffer.alloc(0);
  let totals: DirectoryTotals = { files: 0, bytes: 0, entries: 0 };
  for (let level = 0; level <= levels; level += 1) {
    const out = new ByteWriter(1_024);
    const count = level === 0 ? 0 : names;
    for (let n = 0; n < count; n += 1) {
      const name = asByteString(`n${n}`);
      encodeEntry(out, { type: 'directory', name, ...METADATA, id, totals: said(totals, told) });
    }
    const chunk = encodeLeaf(count, out.view());
    totals = { files: 0, bytes: 0, entries: count * (1 + totals.entries) };
    id = Buffer.from(hasher.id(chunk));
    writer.append(id, chunk);
  }
  writer.finish();
  return { packs, root: id, totals };
}

function said(totals: DirectoryTotals, told: Told): DirectoryTotals {
  if (told === 'truth') return { ...totals, entries: Math.min(totals.entries, Number.MAX_SAFE_INTEGER) };
  return { ...totals, entries: told === 'nothing' ? 0 : Math.min(totals.entries, 4) };
}
