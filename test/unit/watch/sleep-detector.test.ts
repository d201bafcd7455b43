import { expect, test } from 'vitest';
import { sleepDetector } from '../../../src/watch/quiet-period.ts';
import { manualClock } from '../../support/manual-clock.ts';

test('a computer that slept is noticed once, one that was only busy or corrected its clock a little is not', async () => {
  const clock = manualClock();
  const hasSlept = sleepDetector(clock);
  await clock.advance(3_600_000);
  expect(hasSlept()).toBe(false);
  clock.jump(59_000);
  expect(hasSlept()).toBe(false);
  clock.jump(61_000);
  expect(hasSlept()).toBe(true);
  expect(hasSlept()).toBe(false);
  clock.jump(-61_000);
  expect(hasSlept()).toBe(true);
});
