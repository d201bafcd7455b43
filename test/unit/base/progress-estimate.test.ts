import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createEstimate } from '../../../src/base/progress-estimate.ts';
import type { EstimateCounters } from '../../../src/base/progress-estimate.ts';

function counters(facts: Partial<EstimateCounters> = {}): EstimateCounters {
  return { phase: 'uploading', filesDone: 0, filesTotal: null, bytesDone: 0, bytesTotal: 1e9, ...facts };
}

describe('the estimate', () => {
  it('is exact for even work', () => {
    const estimate = createEstimate();
    for (let time = 0; time <= 60_000; time += 250)
      estimate.observe(time, counters({ bytesDone: time * 10 }));
    expect(estimate.bytesPerSecond()).toBeCloseTo(10_000, 6);
    expect(estimate.etaMs()).toBeCloseTo((1e9 - 600_000) / 10, 0);
  });

  it('follows a changed rate within half a minute or so, not at once', () => {
    const estimate = createEstimate();
    let bytesDone = 0;
    const run = (from: number, to: number, perMs: number) => {
      for (let time = from; time < to; time += 100) {
        estimate.observe(time, counters({ bytesDone }));
        bytesDone += perMs * 100;
      }
      return estimate.bytesPerSecond() ?? 0;
    };
    expect(run(0, 60_000, 1)).toBeCloseTo(1000, -2);
    expect(run(60_000, 65_000, 4)).toBeLessThan(2100);
    const later = run(65_000, 105_000, 4);
    expect(later).toBeGreaterThan(3700);
    expect(later).toBeLessThan(4000);
  });

  it('is by files where bytes have no total', () => {
    const estimate = createEstimate();
    for (let time = 0; time <= 10_000; time += 500) {
      estimate.observe(time, counters({ bytesTotal: 0, filesTotal: 1000, filesDone: time / 100 }));
    }
    expect(estimate.etaMs()).toBeCloseTo(90_000, -2);
  });

  it('starts anew with a phase, and when the counters fall', () => {
    const estimate = createEstimate();
    for (let time = 0; time <= 5000; time += 500) estimate.observe(time, counters({ bytesDone: time }));
    expect(estimate.etaMs()).not.toBeNull();
    estimate.observe(5500, counters({ phase: 'verifying', bytesDone: 6000 }));
    expect([estimate.bytesPerSecond(), estimate.etaMs()]).toEqual([null, null]);
    for (let time = 5500; time <= 9500; time += 500) {
      estimate.observe(time, counters({ phase: 'verifying', bytesDone: time }));
    }
    estimate.observe(10_000, counters({ phase: 'verifying', bytesDone: 1 }));
    expect([estimate.bytesPerSecond(), estimate.etaMs()]).toEqual([null, null]);
  });

  it('has no time while the total is unknown, when all is done, or when it would be beyond all reason', () => {
    for (const facts of [{ bytesTotal: null }, { bytesTotal: 10 }, { bytesTotal: 1e18 }]) {
      const estimate = createEstimate();
      for (let time = 0; time <= 10_000; time += 500)
        estimate.observe(time, counters({ bytesDone: time, ...facts }));
      expect(estimate.etaMs()).toBeNull();
    }
  });

  it('never leaps, however uneven the work is', () => {
    let compared = 0;
    const bursts = fc.array(
      fc.record({
        passed: fc.integer({ min: 100, max: 400 }),
        bytes: fc.oneof(
          fc.constant(0),
          fc.integer({ min: 1, max: 1000 }),
          fc.integer({ min: 1, max: 50_000_000 }),
        ),
      }),
      { minLength: 30, maxLength: 200, size: 'max' },
    );
    fc.assert(
      fc.property(bursts, (steps) => {
        const estimate = createEstimate();
        let time = 0;
        let bytesDone = 0;
        let before: number | null = null;
        for (const { passed, bytes } of steps) {
          time += passed;
          bytesDone += bytes;
          estimate.observe(time, counters({ bytesDone, bytesTotal: 1e10 }));
          const eta = estimate.etaMs();
          if (before !== null && eta !== null) {
            compared += 1;
            const leap = Math.abs(eta - (before - passed));
            expect(leap).toBeLessThanOrEqual((passed / 1000) * Math.max(0.2 * before, 2000) + passed + 1);
          }
          before = eta;
        }
      }),
      { numRuns: 200 },
    );
    expect(compared).toBeGreaterThan(1000);
  });
});
