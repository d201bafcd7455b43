import { expect, it } from 'vitest';
import { doChores } from '../../../src/partner/start.ts';
import { HEARD_MS } from '../../../src/partner/store/devices.ts';
import { manualClock } from '../../support/manual-clock.ts';

it('nobody is told of late backups before devices had the time to tell of them, as after an outage', async () => {
  const clock = manualClock();
  const ended = new AbortController();
  const troubles: unknown[] = [];
  let [looks, isAway] = [0, false];
  const markMissed = async (): Promise<number> => {
    if (isAway) throw new Error('away');
    looks += 1;
    return 0;
  };
  const stores = { devices: { markMissed }, prune: async () => undefined };
  const chores = doChores({
    stores: stores as unknown as Parameters<typeof doChores>[0]['stores'],
    clock,
    signal: ended.signal,
    trouble: (error) => troubles.push(error),
  });
  await clock.advance(HEARD_MS - 1);
  expect(looks).toBe(0);
  await clock.advance(60_000);
  expect(looks).toBe(1);

  isAway = true;
  await clock.advance(60_000);
  isAway = false;
  expect([looks, troubles.length]).toEqual([1, 1]);
  await clock.advance(HEARD_MS - 60_000);
  expect(looks).toBe(1);
  await clock.advance(2 * 60_000);
  expect(looks).toBeGreaterThan(1);
  ended.abort();
  await chores;
});
