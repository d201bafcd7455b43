/**
 * A store and a network that do wrong, in a few trials: real backups, restores, checks and prunes over the real client.
 * The full counts are run against a real server by `npm run test:destinations`.
 */
// Turn 4 of 8.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Deed, Fault } from '../support/fault-proxy.ts';
import { openFaultSite, type FaultSite, type Operation, type Trial } from '../support/fault-site.ts';
import { survives } from '../support/fault-trials.ts';
import { startS3Store, type S3Store } from '../support/s3-store.ts';
import {
  answerWith,
  anything,
  below,
  cutShort,
  drop,
  errorInTheMiddle,
  firstPageOnly,
  isGet,
  isList,
  isPut,
  keepPart,
  listOf,
  loseReply,
  page,
  partialList,
  refusal,
  reordered,
  shortened,
  trickle,
} from '../support/store-faults.ts';

type Fits = Fault['fits'];

let store: S3Store;
let site: FaultSite;

beforeAll(async () => {
  store = await startS3Store();
  const server = { endpoint: store.endpoint, accessKeyId: 'AKTEST', secretAccessKey: 'secret' };
  site = await openFaultSite({ server, bucket: 'bucket', seed: 1, stallMs: 500, newBytes: 40_000 });
});
afterAll(async () => {
  await site.expectSound(true);
  await site[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
});

async function attempt(operation: Operation, faults: readonly Fault[], again = 0): Promise<Trial> {
  const trial = await site.attempt(operation, faults, 7, again);
  expect(trial.fired).toBeGreaterThan(0);
  if (trial.error === undefined) expect(trial.added).toBe(operation === 'backup' ? 1 : 0);
  return trial;
}

const busy = answerWith(refusal(503, 'SlowDown', { 'retry-after': '7' }));

describe('with a store that does wrong', () => {
  test.each<[string, Operation, Fits, Deed, Partial<Fault>]>([
    [
      'every other answer is a failure',
      'backup',
      anything,
      answerWith(refusal(500, 'InternalError')),
      { rate: 0.5 },
    ],
    ['a put is not answered', 'backup', isPut, () => 'silence', { most: 1, after: 3 }],
    ['an answer comes at a trickle', 'restore', isGet, trickle, { most: 1, after: 3 }],
    ['a body is cut', 'restore', isGet, cutShort, { most: 2, after: 3 }],
    ['a body is shortened with its length', 'check', isGet, shortened, { most: 2, after: 3 }],
    ['a page comes in place of an object', 'restore', isGet, page(200), { most: 2, after: 3 }],
    ['a put is kept by half', 'backup', isPut, keepPart(0.5), { most: 2 }],
    ['a put is dropped', 'backup', below('packs/', isPut), drop, { most: 1 }],
    ['the answer to a put is lost', 'backup', isPut, loseReply, { rate: 0.5 }],
    ['a list breaks off between its pages', 'prune', isList, errorInTheMiddle(2), { most: 4 }],
  ])('%s, and that is survived', async (_, operation, fits, deed, more) => {
    survives(await attempt(operation, [{ fits, deed, ...more }], 3));
  });

  test.each<[string, readonly Fault[]]>([
    ['packs are missing in lists', [{ fits: listOf('packs/'), deed: partialList, most: 1 }]],
    ['lists of snapshots end early', [{ fits: listOf('snapshots/'), deed: firstPageOnly(1) }]],
    ['what is deleted comes back', reordered('return', 3)],
  ])('%s, and prune takes nothing that is needed', async (_, faults) => {
    await attempt('prune', faults);
    await site.expectSound();
  });

  test('it is left alone for as long as it says', async () => {
    const { error, waits } = await attempt('backup', [{ fits: anything, after: 4, most: 3, deed: busy }]);
    expect(error).toBeUndefined();
    expect(waits.filter(({ ms }) => ms < 7_000)).toEqual([]);
    expect(waits.length).toBeGreaterThan(0);
  });

  test('credentials that are taken away end what is under way at once, with the reason', async () => {
    const revoked = answerWith(refusal(403, 'InvalidAccessKeyId'));
    const { error, waits } = await attempt('backup', [{ fits: anything, after: 9, deed: revoked }]);
    expect(error).toMatchObject({
      kind: 'denied',
      message: expect.stringContaining('credentials are wrong'),
    });
    expect(waits).toEqual([]);
    await site.expectSound();
  });

  test('a call that hangs holds up no other', async () => {
    const destination = await site.open(600_000);
    const { signal } = new AbortController();
    const enough = new AbortController();
    const hangs: Fault = { fits: below('hang/', isPut), most: 1, deed: () => 'silence' };
    site.proxy.inject([hangs]);
    const hanging = destination.put('hang/a', Buffer.from('a'), enough.signal);
    const outcome = hanging.catch((error: unknown) => error);
    await expect.poll(() => site.proxy.fired, { timeout: 30_000 }).toBe(1);
    for (let index = 0; index < 10; index += 1)
      await destination.put(`hang/other-${index}`, Buffer.from('b'), signal);
    const reason = new Error('enough');
    enough.abort(reason);
    expect(await outcome).toBe(reason);
    for await (const listed of destination.list('hang/', signal))
      for (const { key } of listed) await destination.delete(key, signal);
    await destination.close();
  });
});
