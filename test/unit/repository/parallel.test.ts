import { describe, expect, it } from 'vitest';
import { ByteBudget } from '../../../src/repository/check/check-packs.ts';
import { inTurn, mapParallel } from '../../../src/repository/objects/parallel.ts';

async function pause(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe('work in parallel', () => {
  it('gives results in the order of the items, with no more at once than allowed', async () => {
    let running = 0;
    let most = 0;
    const results = await mapParallel([5, 1, 4, 2, 3, 0], 3, async (item) => {
      running += 1;
      most = Math.max(most, running);
      for (let i = 0; i < item; i += 1) await pause();
      running -= 1;
      return item * 2;
    });
    expect(results).toEqual([10, 2, 8, 4, 6, 0]);
    expect(most).toBe(3);
  });

  it('begins nothing more after a failure, and ends what it had begun', async () => {
    const begun: number[] = [];
    const ended: number[] = [];
    const work = mapParallel([1, 2, 3, 4, 5], 2, async (item) => {
      begun.push(item);
      if (item === 1) throw new Error('one');
      for (let i = 0; i < 3; i += 1) await pause();
      ended.push(item);
    });
    await expect(work).rejects.toThrow('one');
    expect(begun).toEqual([1, 2]);
    expect(ended).toEqual([2]);
  });
});

describe('a budget of bytes', () => {
  it('lets work run while it fits, and work larger than itself alone', async () => {
    const budget = new ByteBudget(100);
    let used = 0;
    const peaks: number[] = [];
    const sizes = [40, 40, 40, 250, 10, 90, 5];
    await Promise.all(
      sizes.map(async (size) => {
        await budget.run(size, async () => {
          used += size;
          peaks.push(used);
          await pause();
          used -= size;
        });
      }),
    );
    expect(peaks).toHaveLength(sizes.length);
    expect(Math.max(...peaks.filter((peak) => peak !== 250))).toBeLessThanOrEqual(100);
    expect(peaks).toContain(250);
  });

  it('gives back what failed work held', async () => {
    const budget = new ByteBudget(10);
    await expect(budget.run(10, async () => await Promise.reject(new Error('failed')))).rejects.toThrow(
      'failed',
    );
    expect(await budget.run(10, async () => await Promise.resolve('done'))).toBe('done');
  });
});

describe('what is looked at in turn', () => {
  it('is the first alone, and after it some at a time, in their order', async () => {
    const looked: number[] = [];
    let most = 0;
    let atWork = 0;
    const look = async (n: number): Promise<number> => {
      looked.push(n);
      most = Math.max(most, (atWork += 1));
      await Promise.resolve();
      atWork -= 1;
      if (n === 7) throw new Error('seven');
      return n;
    };
    for await (const n of inTurn([1, 2, 3, 4, 5], 3, look)) if (n === 1) break;
    expect(looked).toEqual([1]);
    const seen: number[] = [];
    const all = async (): Promise<void> => {
      for await (const n of inTurn([1, 2, 3, 4, 5, 6, 7, 8], 3, look)) seen.push(n);
    };
    await expect(all()).rejects.toThrow('seven');
    expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
    expect(most).toBe(3);
  });
});
