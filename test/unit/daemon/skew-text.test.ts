import { expect, test } from 'vitest';
import { skewText } from '../../../src/daemon/doctor/try-destination.ts';

test('a clock that is wrong by hours is not told in seconds', () => {
  expect(skewText(-17_998)).toBe('Its clock is 5h behind the one of this machine');
  expect(skewText(90.4)).toBe('Its clock is 1m30s ahead of the one of this machine');
});
