/** A thread that claims chunks: with what seed, how many, out of how many ids is in its data. */

import { parentPort, workerData } from 'node:worker_threads';
import { ChunkTable, type ChunkTableMemory } from '../../src/repository/packs/chunk-table.ts';
import { seededRandom } from './seeded-random.ts';

export interface ClaimTask {
  readonly memory: ChunkTableMemory;
  readonly seed: number;
  readonly claims: number;
  readonly ids: number;
  /** Set to 1 when all threads are there. */
  readonly start: SharedArrayBuffer;
}

/** Ids as hashes are, evenly spread, but cheaper: the finaliser of MurmurHash3 over the number and the place. */
export function idOf(number: number): Buffer {
  const id = Buffer.allocUnsafe(24);
  for (let word = 0; word < 6; word += 1) {
    let mixed = Math.imul(number + 1, 0x9e37_79b1) ^ Math.imul(word, 0x85eb_ca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85eb_ca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
    id.writeInt32LE(mixed ^ (mixed >>> 16), word * 4);
  }
  return id;
}

const port = parentPort;
if (port !== null) {
  const { memory, seed, claims, ids, start }: ClaimTask = workerData;
  const table = new ChunkTable(memory);
  const random = seededRandom(seed);
  const numbers = Array.from({ length: claims }, () => random.below(ids));
  port.postMessage('ready');
  Atomics.wait(new Int32Array(start), 0, 0);
  const first = numbers.filter((number) => table.claim(idOf(number)));
  port.postMessage(Uint32Array.from(first));
}
