/** An upload to an S3 store that is given up while its pace makes it wait. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { paceOf, UploadLimit, type UploadPace } from '../../../../src/destination/limited.ts';
import { openS3Destination } from '../../../../src/destination/s3/s3.ts';
import { startS3Store } from '../../../support/s3-store.ts';

const uncaught: unknown[] = [];
const note = (error: unknown): void => void uncaught.push(error);

beforeEach(() => {
  uncaught.length = 0;
  process.on('uncaughtException', note);
});

afterEach(() => {
  process.off('uncaughtException', note);
});

test('an upload with a limit that is given up fails, and nothing else does', async () => {
  await using store = await startS3Store();
  const slow = paceOf(new UploadLimit(systemClock, 20_000), (key) => key === 'packs/a');
  let pieces = 0;
  const pace: UploadPace = {
    limited: true,
    next: async (...wanted) => {
      pieces += 1;
      return await slow.next(...wanted);
    },
  };
  const destination = await openS3Destination(
    {
      kind: 's3',
      bucket: 'bucket',
      prefix: 'pre',
      endpoint: store.endpoint,
      region: undefined,
      pathStyle: true,
    },
    { accessKeyId: 'AKTEST', secretAccessKey: 'canary-of-the-secret' },
    { pace, create: true },
  );
  const controller = new AbortController();
  const reason = new Error('enough');
  const before = pieces;
  const putting = destination.put('packs/a', Buffer.alloc(500_000), controller.signal);
  putting.catch(() => {});
  // The second piece is waited for.
  await expect.poll(() => pieces).toBe(before + 2);
  controller.abort(reason);
  await expect(putting).rejects.toBe(reason);
  // What is thrown where nobody listens comes a few turns later.
  for (let turn = 0; turn < 20; turn += 1) await new Promise((done) => setImmediate(done));
  expect(uncaught).toEqual([]);
  await destination.close();
});
