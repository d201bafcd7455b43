import { describe, expect, it } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import { ContentReader, fileContent, type FileRange } from '../../../src/browse/cat.ts';
import { findPath } from '../../../src/browse/locate.ts';
import { SnapshotTrees } from '../../../src/browse/snapshot-trees.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import type { SnapshotRecord } from '../../../src/format/records.ts';
import type { FileEntry } from '../../../src/format/tree.ts';
import { loadIndex } from '../../../src/repository/chunk-index.ts';
import { packKey } from '../../../src/repository/objects/listing.ts';
import {
  directory,
  file,
  handMadeSnapshot,
  memoryRepository,
  type HandMadeFile,
} from '../../support/hand-made-snapshot.ts';
import { recordingDestination } from '../../support/recording-destination.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const { signal } = new AbortController();

async function stored(node: HandMadeFile, record: Partial<SnapshotRecord> = {}) {
  const destination = recordingDestination(createMemoryDestination());
  const repository = await memoryRepository(signal, destination);
  const snapshot = await handMadeSnapshot(repository, directory({ f: node }), record, signal);
  const index = await loadIndex(repository, { without: new Set() }, signal);
  const reader = new SnapshotTrees(repository, index).reader(snapshot);
  const { entry } = await findPath(reader, snapshot, asByteString('/f'), signal);
  if (entry?.type !== 'file') throw new Error('the test file is not there');
  destination.reset();
  const read = (range?: FileRange, of: FileEntry = entry): AsyncGenerator<Buffer, void, undefined> =>
    fileContent(repository, index, snapshot, of, range, signal);
  return { destination, repository, snapshot, index, entry, read };
}

async function whole(buffers: AsyncIterable<Buffer>): Promise<Buffer> {
  const list = [];
  for await (const buffer of buffers) list.push(Buffer.from(buffer));
  return Buffer.concat(list);
}

const random = seededRandom(20_231_114);
/** Chunks so large that few of them fit one segment. */
const chunks = Array.from({ length: 40 }, () => random.bytes(20_000 + random.below(20_000)));
const bytes = Buffer.concat(chunks);

describe('fileContent', () => {
  it('gives the bytes of a file of many segments in order', async () => {
    const { read } = await stored(file(chunks));

    expect((await whole(read())).equals(bytes)).toBe(true);
  });

  it('gives nothing for an empty file', async () => {
    const { read } = await stored(file(''));

    expect(await whole(read())).toHaveLength(0);
  });

  it.each([{ plain: true }, { salt: Buffer.alloc(16, 3) }])(
    'reads snapshots with chunks of their own: %o',
    async (record) => {
      const { read } = await stored(file(chunks), record);

      expect((await whole(read())).equals(bytes)).toBe(true);
    },
  );

  it('follows lists of chunks', async () => {
    const { read } = await stored(file(chunks, { idsPerList: 7 }));

    expect((await whole(read())).equals(bytes)).toBe(true);
    expect(
      (await whole(read({ offset: 500_000, length: 300_000 }))).equals(bytes.subarray(500_000, 800_000)),
    ).toBe(true);
  });

  it('fills holes with zeros in buffers of bounded size', async () => {
    const hole = 3 * 1024 * 1024 + 17;
    const { read } = await stored(
      file([Buffer.from('abc'), Buffer.from('def')], {
        holes: [
          { offset: 0, length: 5 },
          { offset: 7, length: hole },
          { offset: 7 + hole, length: 2 },
          { offset: 13 + hole, length: 1 },
        ],
      }),
    );

    const sizes = [];
    for await (const buffer of read()) sizes.push(buffer.length);
    const content = await whole(read());

    expect(Math.max(...sizes)).toBeLessThanOrEqual(1024 * 1024);
    expect(
      content.equals(
        Buffer.concat([Buffer.from('\0\0\0\0\0ab'), Buffer.alloc(hole + 2), Buffer.from('cdef\0')]),
      ),
    ).toBe(true);
  });

  it('gives a file that is one large hole without asking the destination', async () => {
    const { destination, read } = await stored(file([], { holes: [{ offset: 0, length: 5_000_000 }] }));

    expect((await whole(read())).equals(Buffer.alloc(5_000_000))).toBe(true);
    expect(destination.calls).toEqual([]);
  });

  it('reads only segments with chunks of the range', async () => {
    const { destination, read } = await stored(file(chunks));
    const all = await whole(read());
    const segments = destination.count('get', 'packs/');
    destination.reset();

    const middle = await whole(read({ offset: 600_000, length: 10 }));

    expect(middle.equals(all.subarray(600_000, 600_010))).toBe(true);
    expect(segments).toBeGreaterThan(10);
    expect(destination.count('get', 'packs/')).toBeLessThanOrEqual(2);
  });

  it('leaves out of a range what lies beyond the end', async () => {
    const { read } = await stored(file('0123456789'));

    expect((await whole(read({ offset: 8, length: 100 }))).toString()).toBe('89');
    expect((await whole(read({ offset: 10, length: 1 }))).toString()).toBe('');
    expect((await whole(read({ offset: 99, length: 1 }))).toString()).toBe('');
    expect((await whole(read({ offset: 3, length: 0 }))).toString()).toBe('');
  });

  it.each([
    { offset: -1, length: 1 },
    { offset: 0, length: -1 },
    { offset: 0.5, length: 1 },
  ])('refuses the range %o', async (range) => {
    const { read } = await stored(file('0123456789'));

    await expect(whole(read(range))).rejects.toMatchObject({ code: 'INVALID_RANGE' });
  });

  it('fetches a segment once however often its chunks come back', async () => {
    const pair = [random.bytes(1_000), random.bytes(1_000)];
    const many = Array.from({ length: 200 }, (_, i) => pair[i % 2] ?? Buffer.alloc(0));
    const { destination, read } = await stored(file(many));

    expect((await whole(read())).equals(Buffer.concat(many))).toBe(true);
    expect(destination.count('get', 'packs/')).toBe(1);
  });

  it('fetches segments ahead of the reader, but few of them', async () => {
    const { destination, read } = await stored(file(chunks));
    const content = read();

    await content.next();
    const ahead = destination.count('get', 'packs/');
    await content.return();

    expect(ahead).toBeGreaterThanOrEqual(2);
    expect(ahead).toBeLessThanOrEqual(4);
  });

  it('refuses a chunk whose bytes do not match its id', async () => {
    const { read, entry } = await stored(file('content'));
    // The index knows the first 16 bytes of an id.
    const content = Buffer.from(entry.content);
    content[23] = (content[23] ?? 0) ^ 1;

    await expect(whole(read(undefined, { ...entry, content }))).rejects.toMatchObject({
      code: 'CORRUPT_DATA',
      message: `chunk ${content.toString('hex')}: its bytes do not match its id`,
    });
  });

  it('reports a damaged segment and a chunk that no pack holds', async () => {
    const { destination, index, read, entry, repository } = await stored(file(chunks));
    const pack = index.packs.find(({ kind }) => kind === 'data');
    if (pack === undefined) throw new Error('there is no data pack');
    const body = await destination.get(packKey(pack.name), undefined, signal);
    body[body.length >> 1] = (body[body.length >> 1] ?? 0) ^ 1;
    await repository.destination.delete(packKey(pack.name), signal);
    await repository.destination.put(packKey(pack.name), body, signal);

    await expect(whole(read())).rejects.toMatchObject({ code: 'CORRUPT_DATA' });
    await expect(whole(read(undefined, { ...entry, content: Buffer.alloc(24, 1) }))).rejects.toMatchObject({
      message: expect.stringContaining('no pack holds it') as unknown,
    });
  });

  it.each([-1, 1])('refuses a file whose chunks do not make its size (%i byte)', async (difference) => {
    const { read } = await stored(file(chunks, { size: bytes.length + difference }));

    await expect(whole(read())).rejects.toMatchObject({
      code: 'CORRUPT_DATA',
      message: `file f: its chunks and holes make ${bytes.length} bytes, its size is ${bytes.length + difference}`,
    });
  });

  it('never gives more bytes than the size says', async () => {
    const { read } = await stored(file('0123456789', { size: 4 }));
    const given: string[] = [];

    await expect(
      (async () => {
        for await (const buffer of read()) given.push(buffer.toString());
      })(),
    ).rejects.toMatchObject({ code: 'CORRUPT_DATA' });
    expect(given.join('').length).toBeLessThanOrEqual(4);
  });

  it('stops with the reason of an aborted signal', async () => {
    const { repository, index, snapshot, entry } = await stored(file(chunks));
    const abort = new AbortController();
    const content = fileContent(repository, index, snapshot, entry, undefined, abort.signal);

    await content.next();
    abort.abort();

    await expect(whole(content)).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('ContentReader', () => {
  it('keeps segments for the next file', async () => {
    const destination = recordingDestination(createMemoryDestination());
    const repository = await memoryRepository(signal, destination);
    const names = Array.from({ length: 50 }, (_, i) => `f${i}`);
    const root = directory(Object.fromEntries(names.map((name) => [name, file(`content of ${name}`)])));
    const snapshot = await handMadeSnapshot(repository, root, {}, signal);
    const index = await loadIndex(repository, { without: new Set() }, signal);
    const trees = new SnapshotTrees(repository, index).reader(snapshot);
    const entries = await trees.directory(snapshot.record.root, signal);
    destination.reset();

    const content = new ContentReader(repository, index, { plain: false });
    for (const entry of entries) {
      if (entry.type !== 'file') continue;
      expect((await whole(content.read(entry, undefined, signal))).toString()).toBe(
        `content of ${entry.name}`,
      );
    }

    expect(entries).toHaveLength(50);
    expect(destination.count('get', 'packs/')).toBe(1);
  });
});
