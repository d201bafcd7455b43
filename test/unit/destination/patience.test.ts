/** However long each try takes, a call comes to its end within the time that is promised. */
import { afterEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { DestinationError } from '../../../src/base/errors.ts';
import { orderedPages } from '../../../src/destination/ordered-pages.ts';
import { defaultRetryPolicy, persist } from '../../../src/destination/retry.ts';

afterEach(() => void vi.restoreAllMocks());

/** Tries that each take so long and fail so; the time that all of them took, and how many there were. */
async function gone(tryMs: number, details: object, kind: 'unreachable' | 'corrupt-reply' = 'unreachable') {
  let now = 0;
  let tries = 0;
  vi.spyOn(systemClock, 'monotonic').mockImplementation(() => now);
  const call = async (): Promise<never> => {
    tries += 1;
    now += tryMs;
    throw await Promise.resolve(new DestinationError(kind, 'no', { retry: 'now', details: { ...details } }));
  };
  const sleep = async (ms: number): Promise<void> => {
    now += ms;
    await Promise.resolve();
  };
  const policy = { ...defaultRetryPolicy, random: () => 1 };
  await expect(persist(call, { policy, sleep }, new AbortController().signal)).rejects.toThrow('no');
  return { seconds: now / 1000, tries };
}

test.each([
  ['nothing moves for a minute each time', 60_000, { stalled: true }],
  ['no connection comes about', 15_000, { code: 'ETIMEDOUT' }],
  ['each is refused at once', 0, { code: 'ECONNREFUSED' }],
])('some four minutes where %s', async (_, tryMs, details) => {
  const { seconds, tries } = await gone(tryMs, details);
  expect(seconds).toBeLessThan(260);
  expect(tries).toBeGreaterThan(3);
});

test('a second try there is in any case', async () => {
  expect(await gone(300_000, { stalled: true })).toMatchObject({ tries: 2 });
});

test.each([{ status: 200 }, { whole: true }])(
  'an answer that came whole and makes no sense is soon believed to be one (%j)',
  async (details) => {
    expect(await gone(0, details, 'corrupt-reply')).toEqual({ seconds: 7, tries: 4 });
  },
);

test('a list that cannot be right came whole', async () => {
  const pages = orderedPages('s3://b/p', 'p/', '', async (_, take) => {
    for (const name of ['p/b', 'p/a']) take({ name, size: 1, modifiedMs: 0 });
    return await Promise.resolve(undefined);
  });
  await expect(pages.next()).rejects.toMatchObject({ kind: 'corrupt-reply', details: { whole: true } });
});
