import { describe, expect, it } from 'vitest';
import { withAdaptiveParallelism } from '../../../src/destination/open/adaptive.ts';
import { DestinationError } from '../../../src/base/errors.ts';
import { removeStale } from '../../../src/destination/leftovers.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { withRetry } from '../../../src/destination/retry.ts';

const { signal } = new AbortController();
const DAY_MS = 86_400_000;

function aged(name: string, modifiedMs: number) {
  return { name, size: 10, modifiedMs };
}

describe('what puts have left behind', () => {
  it('goes when it is a day old by the storage’s clock, and not a moment earlier', async () => {
    const now = 50 * DAY_MS;
    const found = [
      aged('old', now - DAY_MS),
      aged('young', now - DAY_MS + 1),
      aged('of tomorrow', now + DAY_MS),
    ];
    const removed: string[] = [];
    const result = await removeStale(
      found,
      now,
      async (name) => {
        removed.push(name);
        return await Promise.resolve(true);
      },
      signal,
    );
    expect(removed).toEqual(['old']);
    expect(result).toEqual({ files: 1, bytes: 10 });
  });

  it('stays where the storage does not say what time it is', async () => {
    const result = await removeStale(
      [aged('old', 0)],
      0,
      async () => {
        throw new Error('it was removed');
      },
      signal,
    );
    expect(result).toEqual({ files: 0, bytes: 0 });
  });

  it('is not counted when somebody else was faster', async () => {
    const result = await removeStale(
      [aged('old', 0)],
      DAY_MS,
      async () => await Promise.resolve(false),
      signal,
    );
    expect(result).toEqual({ files: 0, bytes: 0 });
  });

  it('is removed through what tries again and what holds back', async () => {
    let calls = 0;
    const inner = {
      ...createMemoryDestination(),
      removeLeftovers: async () => {
        calls += 1;
        if (calls === 1) throw new DestinationError('unreachable', 'no network');
        return await Promise.resolve({ files: 3, bytes: 30 });
      },
    };
    const wrapped = withRetry(withAdaptiveParallelism(inner), undefined, async () => {});
    expect(await wrapped.removeLeftovers?.(signal)).toEqual({ files: 3, bytes: 30 });
    expect(withRetry(createMemoryDestination()).removeLeftovers).toBeUndefined();
  });
});
