import { describe, expect, test } from 'vitest';
import { QuietPeriod } from '../../../src/watch/quiet-period.ts';
import { manualClock, settle } from '../../support/manual-clock.ts';

function start(): { clock: ReturnType<typeof manualClock>; quiet: QuietPeriod; times: number[] } {
  const clock = manualClock();
  const times: number[] = [];
  const quiet = new QuietPeriod({ quietMs: 2_000, patienceMs: 60_000, clock }, () =>
    times.push(clock.monotonic()),
  );
  return { clock, quiet, times };
}

describe('a backup is due', () => {
  test('two seconds after the last of some changes, once', async () => {
    const { clock, quiet, times } = start();
    quiet.touch();
    await clock.advance(1_500);
    quiet.touch();
    await clock.advance(1_999);
    expect(times).toEqual([]);
    await clock.advance(10_000);
    expect(times).toEqual([3_500]);
  });

  test('a minute after the first of changes that do not end', async () => {
    const { clock, quiet, times } = start();
    for (let at = 0; at < 70_000; at += 1_000) {
      quiet.touch();
      await clock.advance(1_000);
    }
    expect(times).toEqual([60_000]);
    await clock.advance(5_000);
    expect(times).toEqual([60_000, 71_000]);
  });

  test('not any more once it has ended', async () => {
    const { clock, quiet, times } = start();
    quiet.touch();
    quiet.close();
    await settle();
    await clock.advance(10_000);
    quiet.touch();
    await clock.advance(10_000);
    expect(times).toEqual([]);
  });
});
