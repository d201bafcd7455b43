/** How far a backup is whose upload is slower than its reading. */
import { expect, test } from 'vitest';
import { doneUnderLimit, type ReadAndHanded } from '../../../src/engine/job-progress.ts';

const counters = (bytesDone: number, bytesRead: number, bytesHanded: number): ReadAndHanded => ({
  bytesDone,
  bytesRead,
  bytesHanded,
});

test('what was read is done when it was sent, and what needed no reading at once', () => {
  const upload = { limited: true, passed: 500 };
  const done = doneUnderLimit(upload);
  expect(done(counters(1_000, 400, 0))).toBe(600);
  // Half the size when packed.
  expect(done(counters(1_000, 400, 200))).toBe(600);
  upload.passed = 600;
  expect(done(counters(1_000, 400, 200))).toBe(800);
  // More was packed meanwhile: it never goes back.
  expect(done(counters(1_000, 400, 400))).toBe(800);
  upload.passed = 2_000;
  expect(done(counters(1_000, 400, 400))).toBe(1_000);
});

test('without a limit what was read is done', () => {
  expect(doneUnderLimit({ limited: false, passed: 0 })(counters(1_000, 400, 0))).toBe(1_000);
});
