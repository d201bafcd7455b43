// Turn 1 of 8.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChunkTable, OWN_PACK, type ChunkLocation } from '../../src/repository/packs/chunk-table.ts';
import { idOf, type ClaimTask } from '../support/chunk-table.worker.ts';

const location = fc.record({
  pack: fc.nat(OWN_PACK),
  segment: fc.nat(0xffff),
  offset: fc.nat(0xffff_ffff),
  length: fc.nat(0xff_ffff),
});

describe('a chunk table', () => {
  it('knows what a map knows', () => {
    const step = fc.oneof(
      fc.tuple(fc.constant('add' as const), fc.nat(60), location),
      fc.tuple(fc.constantFrom('claim' as const, 'find' as const), fc.nat(60), location),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const table = ChunkTable.create(0, 50);
        const model = new Map<number, ChunkLocation>();
        const relied = new Set<number>();
        for (const [kind, number, at] of steps) {
          const known = model.get(number);
          if (kind === 'find') {
            expect(table.find(idOf(number))).toEqual(known);
            const slot = table.slotOf(idOf(number));
            expect(slot >= 0).toBe(known !== undefined);
            if (slot >= 0) expect(table.locationAt(slot)).toEqual(known);
            continue;
          }
          const added = kind === 'add' ? table.add(idOf(number), 0, at) : table.claim(idOf(number));
          expect(added).toBe(known === undefined);
          if (known === undefined)
            model.set(number, kind === 'add' ? at : { pack: OWN_PACK, segment: 0, offset: 0, length: 0 });
          else if (known.pack < 50) relied.add(known.pack);
        }
        expect(table.reliedPacks()).toEqual([...relied].sort((a, b) => a - b));
      }),
      { numRuns: 60 },
    );
  });

  it('tells apart ids that differ in their first 16 bytes only, and takes ids cut to 16', () => {
    const table = ChunkTable.create(0, 1);
    const ids = Buffer.alloc(16 * 128);
    for (let i = 0; i < 128; i += 1) ids[i * 16 + (i >> 3)] = 1 << (i & 7);
    for (let i = 0; i < 128; i += 1)
      expect(table.add(ids, i * 16, { pack: 0, segment: i, offset: i, length: i })).toBe(true);
    for (let i = 0; i < 128; i += 1) expect(table.find(ids, i * 16)?.segment).toBe(i);
  });

  it('goes on when its tables fill up, and keeps every chunk where it was', () => {
    const table = ChunkTable.create(0, 1);
    const count = 110_000;
    const slots: number[] = [];
    const ids = Buffer.concat(Array.from({ length: count }, (_, i) => idOf(i)));
    for (let i = 0; i < count; i += 1) {
      table.add(ids, i * 24, { pack: 0, segment: i & 0xffff, offset: i, length: 1 });
      if (i % 1_000 === 0) slots.push(table.slotOf(ids, i * 24));
    }
    for (let i = 0; i < count; i += 1) expect(table.find(ids, i * 24)?.offset === i).toBe(true);
    expect(slots.map((_, i) => table.slotOf(ids, i * 24_000))).toEqual(slots);
    expect(table.locationAt(slots[7] ?? 0).offset).toBe(7_000);
  });

  it('lets one of several threads store each chunk; at most a few twice where tables change', async () => {
    const threads = 4;
    const ids = 60_000;
    const table = ChunkTable.create(0, 1);
    const start = new SharedArrayBuffer(4);
    const url = new URL('../support/chunk-table.worker.ts', import.meta.url);
    const workers = Array.from({ length: threads }, (_, seed) => {
      const workerData: ClaimTask = { memory: table.memory, seed, claims: 50_000, ids, start };
      return new Worker(url, { workerData });
    });
    await Promise.all(workers.map(async (worker) => await once(worker, 'message')));
    const answers = workers.map(async (worker) => (await once(worker, 'message')) as [Uint32Array]);
    Atomics.store(new Int32Array(start), 0, 1);
    Atomics.notify(new Int32Array(start), 0);
    const claimed = (await Promise.all(answers)).map(([numbers]) => numbers);
    const times = new Uint8Array(ids);
    for (const numbers of claimed) for (const number of numbers) times[number] = (times[number] ?? 0) + 1;
    const [some, twice] = [times.filter((n) => n > 0).length, times.filter((n) => n > 1).length];

    // Four times 50,000 draws leave few of them out: more than the first table takes.
    expect(some).toBeGreaterThan(55_000);
    expect(twice).toBeLessThanOrEqual(20);
    expect(claimed.every((numbers) => numbers.length > 1_000)).toBe(true);
    for (let number = 0; number < ids; number += 1)
      expect(table.find(idOf(number)) !== undefined).toBe((times[number] ?? 0) > 0);
  });
});
