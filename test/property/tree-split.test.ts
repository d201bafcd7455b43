import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { asByteString, type ByteString } from '../../src/base/byte-path.ts';
import { decodeTreeChunk } from '../../src/format/tree-decode.ts';
import { encodeDirectory } from '../../src/format/tree-split.ts';
import type { Entry } from '../../src/format/tree.ts';
import { seededRandom } from '../support/seeded-random.ts';

const random = seededRandom(2_026);

function entry(name: ByteString, xattr?: Buffer): Entry {
  const metadata = { name, mode: 0o644, uid: 0, gid: 0, mtimeNs: 0n, ctimeNs: 0n, inode: 1 };
  const xattrs = xattr === undefined ? undefined : [{ name: asByteString('x'), value: xattr }];
  return { type: 'fifo', ...metadata, xattrs };
}

/** The chunks of a directory by id, and the id that stands for it. */
function stored(entries: Iterable<Entry>): { chunks: Map<string, Buffer>; root: string } {
  const chunks = new Map<string, Buffer>();
  const root = encodeDirectory(entries, (chunk) => {
    const id = createHash('sha256').update(chunk).digest().subarray(0, 24);
    chunks.set(id.toString('hex'), chunk);
    return id;
  });
  return { chunks, root: root.toString('hex') };
}

function namesIn(chunks: ReadonlyMap<string, Buffer>, id: string, level?: number): string[] {
  const bytes = chunks.get(id);
  if (bytes === undefined) throw new Error(`chunk ${id} was not stored`);
  const chunk = decodeTreeChunk(bytes, id);
  if (chunk.form === 'leaf') {
    expect(level ?? 0).toBe(0);
    return chunk.entries.map(({ name }) => name);
  }
  if (chunk.form === 'list') throw new Error('a list in a directory');
  if (level !== undefined) expect(chunk.level).toBe(level);
  return chunk.children.flatMap(({ firstName, id: child }) => {
    const below = namesIn(chunks, child.toString('hex'), chunk.level - 1);
    expect(below[0]).toBe(firstName);
    return below;
  });
}

const names = Array.from({ length: 50_000 }, (_, i) =>
  asByteString(`${random.below(1_000_000)}-${i}`),
).sort();

describe('a directory of 50,000 entries', () => {
  const whole = stored(names.map((name) => entry(name)));

  it('comes back whole and in order, in leaves of 512 to 4,096 and a branch or two above them', () => {
    const counts = [...whole.chunks.values()].flatMap((chunk) => {
      const decoded = decodeTreeChunk(chunk, 'chunk');
      return decoded.form === 'leaf' ? [decoded.entries.length] : [];
    });

    expect(namesIn(whole.chunks, whole.root)).toEqual(names);
    expect(Math.max(...counts)).toBeLessThanOrEqual(4_096);
    expect(counts.filter((count) => count < 512).length).toBeLessThanOrEqual(1);
    expect(counts.length).toBeGreaterThan(25);
    expect(whole.chunks.size - counts.length).toBe(1);
  });

  it('is the same however its names were come by', () => {
    const shuffled = names.map((name) => ({ name, key: random.next() })).sort((a, b) => a.key - b.key);
    const again = stored(
      shuffled
        .map(({ name }) => name)
        .sort()
        .map((name) => entry(name)),
    );

    expect(again.root).toBe(whole.root);
  });

  it('changes in a leaf or two and the branch above when one name comes or goes', () => {
    const changed = Array.from({ length: 12 }, (_, i) => {
      const at = random.below(names.length);
      const added = asByteString(`${random.below(1_000_000)}-new`);
      const other = i % 2 === 0 ? [...names, added].sort() : names.toSpliced(at, 1);
      const { chunks } = stored(other.map((name) => entry(name)));
      return [...chunks.keys()].filter((id) => !whole.chunks.has(id)).length;
    });

    expect(Math.max(...changed)).toBeLessThanOrEqual(5);
    expect(changed.reduce((sum, count) => sum + count, 0) / changed.length).toBeLessThan(3.5);
  });
});

describe('a directory', () => {
  it('that is empty is a leaf without entries', () => {
    const { chunks, root } = stored([]);

    expect(namesIn(chunks, root)).toEqual([]);
    expect(chunks.size).toBe(1);
  });

  it('of entries with much metadata is split by bytes', () => {
    const entries = Array.from({ length: 100 }, (_, i) =>
      entry(asByteString(`n${100 + i}`), random.bytes(65_536)),
    );
    const { chunks, root } = stored(entries);

    expect(namesIn(chunks, root)).toHaveLength(100);
    expect(Math.max(...[...chunks.values()].map((chunk) => chunk.length))).toBeLessThan(1_048_576 + 70_000);
  });

  it('whose names never end a leaf by their hash is split by number, on several levels', () => {
    const fnv = (name: string): number => {
      let hash = 0x811c_9dc5;
      for (let i = 0; i < name.length; i += 1) hash = Math.imul(hash ^ name.charCodeAt(i), 0x0100_0193);
      return hash & 0x1ff;
    };
    const stubborn: ByteString[] = [];
    for (let i = 0; stubborn.length < 10_000; i += 1) {
      const name = asByteString(String(i).padStart(7, '0'));
      if (fnv(name) !== 0) stubborn.push(name);
    }
    const { chunks, root } = stored(stubborn.map((name) => entry(name)));

    expect(namesIn(chunks, root)).toEqual(stubborn);
    expect(chunks.size).toBe(4);
  });
});
