/** What is asked about a schedule again and again is worked out once, and says the same as when it is worked out. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseCron } from '../../../src/schedule/cron.ts';
import { nextOccurrence } from '../../../src/schedule/occurrences.ts';
import { parseSchedule } from '../../../src/schedule/schedule.ts';
import { openZone } from '../../../src/schedule/zone.ts';

test('a schedule is parsed once', () => {
  expect(parseSchedule('30 4 * * 2')).toBe(parseSchedule('30 4 * * 2'));
});

test('the next run is the same in whichever order it is asked for', () => {
  const day = 86_400_000;
  const around = Date.UTC(2026, 9, 25);
  const texts = ['0 3 * * *', '30 2 * * *', '*/15 * * * *', '0 */6 * * 1-5', '59 23 31 12 *'];
  fc.assert(
    fc.property(
      fc.constantFrom(...texts),
      fc.constantFrom('Europe/Berlin', 'UTC', 'Australia/Lord_Howe'),
      fc.array(fc.integer({ min: around - 3 * day, max: around + 3 * day }), { minLength: 2, maxLength: 12 }),
      (text, zone, times) => {
        const schedule = parseSchedule(text);
        for (const after of times)
          expect(schedule.next(after, zone)).toBe(nextOccurrence(parseCron(text), after, openZone(zone)));
      },
    ),
    { numRuns: 150 },
  );
});
