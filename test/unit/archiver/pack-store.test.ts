/** When a pack counts as stored: its name says what its bytes are. */
import { createHash, randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { PackStore, type StorablePack } from '../../../src/archiver/store/pack-store.ts';
import { DestinationError } from '../../../src/base/errors.ts';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { withRetry } from '../../../src/destination/retry.ts';
import { encodeIndexedPack } from '../../../src/format/index-object.ts';
import { packKey } from '../../../src/repository/objects/listing.ts';
import { memoryRepository } from '../../support/hand-made-snapshot.ts';
import { recordingDestination } from '../../support/recording-destination.ts';

const { signal } = new AbortController();
const pack = randomPack();
const key = packKey(pack.name);
const zeros = Buffer.alloc(pack.bytes.length);
let memory: Destination;

beforeEach(() => {
  memory = createMemoryDestination();
});

function randomPack(): StorablePack {
  const bytes = randomBytes(1_000);
  const name = createHash('sha256').update(bytes).digest('hex');
  const indexEntry = encodeIndexedPack({
    name,
    cipher: 1,
    generation: 1,
    salt: randomBytes(32),
    sealedBy: 0,
    directory: {
      kind: 'data',
      packLength: bytes.length,
      segments: [{ offset: 80, storedLength: 500, rawLength: 10, compression: 1, chunks: 1 }],
      lengths: Uint32Array.of(10),
      ids: randomBytes(16),
      idBytes: 16,
    },
  });
  return { name, bytes, indexEntry };
}

/** What storing the pack comes to where `there` has its name: what counts as stored, how many index objects there are, and what went wrong. */
async function outcomeOf(destination: Destination, there?: Uint8Array) {
  const repository = await memoryRepository(signal, destination);
  if (there !== undefined) await memory.put(key, there, signal);
  await using store = new PackStore(repository, signal);
  store.store(pack, () => {});
  const error = await store.finish().then(
    () => undefined,
    (failure: unknown) => failure,
  );
  let indexObjects = 0;
  for await (const page of memory.list('index/', signal)) indexObjects += page.length;
  return { stored: [...store.stored], indexObjects, error };
}

const success = { stored: [[pack.name, pack.bytes.length]], indexObjects: 1, error: undefined };
const refusal = {
  stored: [],
  indexObjects: 0,
  error: expect.objectContaining({ kind: 'corrupt-reply', details: { key } }) as unknown,
};

describe('a pack whose name is taken', () => {
  test('is stored when its own bytes are there: an earlier try got through', async () => {
    expect(await outcomeOf(memory, pack.bytes)).toEqual(success);
  });

  test('is not when the destination keeps other bytes of its length, and these stay as they are', async () => {
    expect(await outcomeOf(memory, zeros)).toEqual(refusal);
    expect(await memory.get(key, undefined, signal)).toEqual(zeros);
  });

  test('is not when what is there is cut short, which nobody reads to find out', async () => {
    const recording = recordingDestination(memory);
    expect(await outcomeOf(recording, pack.bytes.subarray(1))).toEqual(refusal);
    expect(recording.count('get', key)).toBe(0);
  });

  test('is not when it is gone by the time it is looked at', async () => {
    const vanishing: Destination = {
      ...memory,
      stat: async (name, now) => {
        if (name === key) await memory.delete(key, now);
        return await memory.stat(name, now);
      },
    };
    expect(await outcomeOf(vanishing, pack.bytes)).toEqual({
      stored: [],
      indexObjects: 0,
      error: expect.objectContaining({ kind: 'unreachable', retry: 'now' }) as unknown,
    });
  });
});

test('a pack of which the destination kept zeros, and whose answer was lost, is not stored', async () => {
  let tries = 0;
  const forgetful: Destination = {
    ...memory,
    put: async (name, body, now) => {
      if (name !== key || tries++ > 0) return await memory.put(name, body, now);
      await memory.put(name, zeros, now);
      throw new DestinationError('unreachable', 'the connection was lost', { retry: 'now' });
    },
  };
  expect(await outcomeOf(withRetry(forgetful, undefined, async () => {}))).toEqual(refusal);
  expect(tries).toBe(2);
});
