/** What is given up while bytes are on their way, to an S3 store or from it. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { paceOf, UploadLimit, type UploadPace } from '../../../../src/destination/limited.ts';
import type { Destination } from '../../../../src/destination/destination.ts';
import { openS3Destination, type S3Options } from '../../../../src/destination/s3/s3.ts';
import { startS3Store, type S3Store, type StoreRequest } from '../../../support/s3-store.ts';

const live = new AbortController().signal;
const uncaught: unknown[] = [];
const note = (error: unknown): void => void uncaught.push(error);

async function open({ endpoint }: S3Store, options: S3Options = {}): Promise<Destination> {
  return await openS3Destination(
    { kind: 's3', bucket: 'bucket', prefix: 'pre', endpoint, region: undefined, pathStyle: true },
    { accessKeyId: 'AKTEST', secretAccessKey: 'canary-of-the-secret' },
    options,
  );
}

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
  const destination = await open(store, { pace, create: true });
  const controller = new AbortController();
  const reason = new Error('enough');
  const before = pieces;
  const putting = destination.put('packs/a', Buffer.alloc(500_000), controller.signal);
  putting.catch(() => {});
  // The second piece is waited for.
  await expect.poll(() => pieces).toBe(before + 2);
  controller.abort(reason);
  await expect(putting).rejects.toBe(reason);
  await expectQuiet();
  await destination.close();
});

test('a list that is given up, or whose connection breaks, fails, and nothing else does', async () => {
  await using store = await startS3Store();
  const destination = await open(store);
  for (let at = 100; at < 200; at += 1)
    store.objects.set(`pre/packs/${at}`, { body: Buffer.from('a'), ms: 0 });
  const list = async (signal: AbortSignal): Promise<void> => {
    for await (const page of destination.list('', signal)) expect(page).toHaveLength(100);
  };
  const lists = ({ method, key }: StoreRequest): boolean => method === 'GET' && key === '';
  const controller = new AbortController();
  const reason = new Error('enough');
  store.plan(lists, { pieceBytes: 1000, pauseMs: 20 });
  store.requests.length = 0;
  const listing = list(controller.signal);
  listing.catch(() => {});
  await expect.poll(() => store.requests.some(lists)).toBe(true);
  setTimeout(() => controller.abort(reason), 50);
  await expect(listing).rejects.toBe(reason);
  await expectQuiet();
  store.plan(lists, 'cut-short');
  await expect(list(live)).rejects.toMatchObject({ kind: 'unreachable' });
  await expectQuiet();
  await list(live);
  await destination.close();
});

/** What is thrown where nobody listens comes a few turns later. */
async function expectQuiet(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((done) => setImmediate(done));
  expect(uncaught).toEqual([]);
}
