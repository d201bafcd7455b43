import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { DestinationError } from '../../../src/base/errors.ts';
import { encodeIndexedPack, type IndexedPack } from '../../../src/format/index-object.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { readIndexObjects } from '../../../src/repository/chunk-index.ts';
import { IndexWriter } from '../../../src/repository/contents/index-writer.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import { faultyDestination } from '../../support/faulty-destination.ts';
import { memoryRepository } from '../../support/hand-made-snapshot.ts';

const { signal } = new AbortController();
let repository: Repository;

beforeEach(async () => {
  repository = await memoryRepository(signal);
});

function pack(chunks: number): IndexedPack {
  const lengths = new Uint32Array(chunks).fill(10);
  return {
    name: randomBytes(32).toString('hex'),
    cipher: 1,
    generation: 1,
    salt: randomBytes(32),
    sealedBy: 0,
    directory: {
      kind: 'data',
      packLength: 100_000,
      segments: [{ offset: 80, storedLength: 50, rawLength: chunks * 10, compression: 1, chunks }],
      lengths,
      ids: randomBytes(16 * chunks),
      idBytes: 16,
    },
  };
}

async function stored(
  through: Repository = repository,
): Promise<{ names: string[]; packs: string[]; supersedes: string[] }> {
  const damaged: { object: string; error: unknown }[] = [];
  const objects = await readIndexObjects(through, damaged, signal);
  expect(damaged).toEqual([]);
  return {
    names: [...objects.keys()],
    packs: [...objects.values()].flatMap(({ packs }) => packs.map(({ name }) => name)),
    supersedes: [...objects.values()].flatMap(({ supersedes }) => supersedes),
  };
}

describe('the index writer', () => {
  it('writes what was added as one object that can be read back', async () => {
    const writer = new IndexWriter(repository);
    const packs = [pack(3), pack(500)];
    for (const one of packs) writer.add(encodeIndexedPack(one));
    expect(writer.pendingBytes).toBeGreaterThan(500 * 19);
    const names = await writer.flush([], signal);
    expect(writer.pendingBytes).toBe(0);
    expect(await stored()).toEqual({ names, packs: packs.map(({ name }) => name), supersedes: [] });
    expect(names).toHaveLength(1);
  });

  it('writes nothing when there is nothing to write', async () => {
    expect(await new IndexWriter(repository).flush([], signal)).toEqual([]);
    expect((await stored()).names).toEqual([]);
  });

  it('supersedes others even without packs, and only once all new objects are stored', async () => {
    const old = randomBytes(32).toString('hex');
    const writer = new IndexWriter(repository, 4_000);
    const packs = Array.from({ length: 9 }, () => pack(100));
    for (const one of packs) writer.add(encodeIndexedPack(one));
    const names = await writer.flush([old], signal);
    expect(names.length).toBeGreaterThan(3);
    const objects = await readIndexObjects(repository, [], signal);
    expect(names.map((name) => objects.get(name)?.supersedes.length)).toEqual([
      ...names.slice(1).map(() => 0),
      1,
    ]);
    expect((await stored()).packs.sort()).toEqual(packs.map(({ name }) => name).sort());
    expect(await writer.flush([old], signal)).toHaveLength(1);
  });

  it('leaves a pack that no index object can hold to its own directory', async () => {
    const writer = new IndexWriter(repository, 1_000);
    writer.add(encodeIndexedPack(pack(100)));
    expect(writer.pendingBytes).toBe(0);
  });

  it('keeps everything for the next flush when the destination fails', async () => {
    const error = new DestinationError('full', 'no space');
    using full = faultyDestination(createMemoryDestination(), [
      { on: 'put', under: 'index/', fault: 'fail', error },
    ]);
    const through = await memoryRepository(signal, full);
    const writer = new IndexWriter(through);
    const one = pack(5);
    writer.add(encodeIndexedPack(one));
    const { pendingBytes } = writer;
    await expect(writer.flush([], signal)).rejects.toBe(error);
    expect(writer.pendingBytes).toBe(pendingBytes);
    await writer.flush([], signal);
    expect((await stored(through)).packs).toEqual([one.name]);
  });
});
