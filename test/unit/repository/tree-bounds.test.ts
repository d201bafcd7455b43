import { describe, expect, it } from 'vitest';
import { ContentBudget, mostChunks } from '../../../src/repository/contents/tree-bounds.ts';

const list = (n: number): Buffer => Buffer.alloc(24, n);

describe('the chunks of one file', () => {
  it('are as many as its bytes make in the smallest ones, and some for small files', () => {
    expect(mostChunks(0, 0)).toBe(65_536);
    expect(mostChunks(4_096 * 1_000_000, 0)).toBe(1_065_536);
    const budget = new ContentBudget({ size: 4_096 * 10 });
    expect(budget.has(list(1), 65_546)).toBe(true);
    expect(budget.has(list(2), 1)).toBe(false);
  });

  it('are one more for each hole, which ends one: a file of many small runs can be restored', () => {
    const count = 200_000;
    const holes = Array.from({ length: count }, (_, i) => ({ offset: i * 1_024, length: 512 }));
    const budget = new ContentBudget({ size: count * 1_024, holes });
    expect(budget.has(list(1), count)).toBe(true);
    expect(mostChunks(count * 512, count)).toBeGreaterThanOrEqual(count);
  });
});
