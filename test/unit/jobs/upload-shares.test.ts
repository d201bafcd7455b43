/** One limit for all jobs that upload at the same time. */
import { describe, expect, it } from 'vitest';
import { sharesOf, UploadShares, type Uploader } from '../../../src/jobs/upload-shares.ts';

const KB = 1_000;

/** A destination that takes so much in a second at most. */
class Job implements Uploader {
  sent = 0;
  share: number | null = null;
  readonly most: number;
  constructor(most: number) {
    this.most = most;
  }
  limit(bytesPerSecond: number | null): void {
    this.share = bytesPerSecond;
  }
  upload(ms: number): void {
    this.sent += (Math.min(this.most, this.share ?? this.most) * ms) / 1_000;
  }
}

function passing(
  shares: UploadShares,
  total: number | null,
  jobs: readonly Job[],
): (seconds: number) => void {
  let nowMs = 0;
  return (seconds) => {
    for (let step = 0; step < seconds; step += 5) {
      shares.give(total, jobs, nowMs);
      for (const job of jobs) job.upload(5_000);
      nowMs += 5_000;
    }
    shares.give(total, jobs, nowMs);
  };
}

describe('a limit on what is uploaded', () => {
  it('is that of one job alone, and shared by several', () => {
    const shares = new UploadShares();
    const [a, b, c] = [new Job(9_000 * KB), new Job(9_000 * KB), new Job(9_000 * KB)];
    shares.give(900 * KB, [a], 0);
    expect(a.share).toBe(900 * KB);
    shares.give(900 * KB, [a, b, c], 1_000);
    expect([a.share, b.share, c.share]).toEqual([300 * KB, 300 * KB, 300 * KB]);
    shares.give(900 * KB, [b], 2_000);
    expect(b.share).toBe(900 * KB);
    shares.give(null, [b, c], 3_000);
    expect([b.share, c.share]).toEqual([null, null]);
  });

  it('goes to whom it is of use: a slow destination holds up no fast one, and gets more once it is faster', () => {
    const [slow, fast] = [new Job(20 * KB), new Job(9_000 * KB)];
    const pass = passing(new UploadShares(), 1_000 * KB, [slow, fast]);
    pass(20);
    expect(fast.share).toBeGreaterThan(800 * KB);
    Object.assign(slow, { most: 9_000 * KB });
    pass(20);
    expect(slow.share).toBeCloseTo(500 * KB, -3);
    expect(fast.share).toBeCloseTo(500 * KB, -3);
  });

  it('is never exceeded by all together, whatever they need', () => {
    for (const needs of [[1], [0, 0], [5, Infinity, 10], [Infinity, Infinity], [10, 1_000, 30, 2]]) {
      const given = sharesOf(100, needs);
      expect(given.reduce((a, b) => a + b)).toBeCloseTo(100);
      for (const share of given) expect(share).toBeGreaterThan(0);
    }
  });
});
