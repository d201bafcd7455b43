/** Bad networks and a store that does not do what it says: F13 to F19 of the fault catalogue, on a real S3 server. */
import { afterAll, expect, test } from 'vitest';
import { startMoto } from '../servers/moto.ts';
import { startOrSkip } from '../servers/unavailable.ts';
import type { Deed, Fault } from '../support/fault-proxy.ts';
import type { Trial } from '../support/fault-site.ts';
import { OPERATIONS, drawn, runTrials, survives, turn, type PlannedTrial } from '../support/fault-trials.ts';
import { makeBucket } from '../support/s3-bucket.ts';
import {
  answerWith,
  anything,
  below,
  cutList,
  cutShort,
  doubledList,
  drop,
  emptyList,
  endedList,
  errorInTheMiddle,
  firstPageOnly,
  isGet,
  isList,
  isPut,
  keepPart,
  lengthened,
  listOf,
  loseReply,
  otherPart,
  overlong,
  page,
  partialList,
  refusal,
  reordered,
  shortened,
  staleList,
  stopInBody,
  trickle,
  unsortedList,
  whole,
} from '../support/store-faults.ts';

const NEW_BYTES = 240_000;
/** Of all that a repository of ten trials has ever held. */
const EVERYTHING = NEW_BYTES * 24;

type Fits = Fault['fits'];

const found = await startOrSkip(startMoto);

if ('missing' in found) test.skip(`moto was not tested: ${found.missing}`, () => {});
else {
  const { server } = found;
  afterAll(async () => await server[Symbol.asyncDispose]());
  await makeBucket(server, 'faults');
  const site = { server, bucket: 'faults' };

  test('F13: of answers that are 500, 502, 503 or 429 half may be, and at nine of ten the end is clear', async () => {
    const refusals: readonly (readonly [string, Deed])[] = [
      ['500', answerWith(refusal(500, 'InternalError'))],
      ['502 with a page', page(502)],
      ['503', answerWith(refusal(503, 'SlowDown'))],
      ['429 with Retry-After', answerWith(refusal(429, 'TooManyRequests', { 'retry-after': '7' }))],
    ];
    // At one in a hundred half of the trials miss.
    const rates = [0.01, 0.1, 0.5, 0.01, 0.1, 0.5, 0.01, 0.9] as const;
    const judge =
      (rate: number) =>
      (trial: Trial): void => {
        expectWaits(trial);
        if (rate <= 0.5) survives(trial);
        else if (trial.error !== undefined) expect(trial.error).toMatchObject({ kind: 'unreachable' });
      };
    const plan = (number: number): PlannedTrial => {
      const rate = turn(rates, number);
      const [name, deed] = turn(refusals, number + Math.floor(number / 4));
      return {
        name: `${name} at ${rate * 100} %`,
        operation: turn(OPERATIONS, number + Math.floor(number / 8)),
        faults: [{ fits: anything, rate, deed }],
        judge: judge(rate),
        mayMiss: rate < 0.1,
        ...(rate === 0.5 ? { again: 5 } : {}),
      };
    };
    report('F13', await runTrials({ ...site, seed: 13 }, 50, plan));
  });

  test('F14: what hangs before an answer, in a body or goes on at a trickle is given up and done again', async () => {
    const hangs: readonly (readonly [string, Fits, Deed])[] = [
      ['no answer to a put', isPut, () => 'silence'],
      ['no answer to a list', isList, () => 'silence'],
      ['no answer to a get', isGet, () => 'silence'],
      ['no answer at all', anything, () => 'silence'],
      ['half a body', isGet, stopInBody],
      ['half a list', isList, stopInBody],
      ['a body at a trickle', isGet, trickle],
      ['a list at a trickle', isList, trickle],
    ];
    const plan = (number: number): PlannedTrial => {
      const [name, fits, deed] = turn(hangs, number);
      const most = 1 + drawn(number, 2);
      return {
        name,
        operation: fits === isPut ? 'backup' : turn(OPERATIONS, number + Math.floor(number / 8)),
        faults: [{ fits, after: drawn(number, 4), most, deed }],
        // The opening is not tried again where nobody answers: the job waits.
        again: most + 2,
        judge: (trial) => {
          survives(trial);
          const stalled = trial.waits.filter(({ error }) => error.details['stalled'] === true);
          expect(stalled.length + trial.runs - 1).toBeGreaterThanOrEqual(trial.fired);
        },
      };
    };
    report('F14', await runTrials({ ...site, seed: 14, stallMs: 600 }, 20, plan));
  });

  test('F15: a get that is cut, too long, another part, all in place of a part or a page is found out before it is used', async () => {
    const wrongs: readonly (readonly [string, Deed])[] = [
      ['cut', cutShort],
      ['shortened', shortened],
      ['lengthened', lengthened],
      ['over-long', overlong],
      ['all in place of a part', whole],
      ['another part', otherPart],
      ['a page', page(200)],
    ];
    const plan = (number: number): PlannedTrial => {
      const [name, deed] = turn(wrongs, number);
      return {
        name,
        operation: turn(['restore', 'check', 'prune', 'restore', 'backup'] as const, number),
        faults: [{ fits: isGet, after: drawn(number, 4), most: 1 + drawn(number, 3), deed }],
        judge: survives,
        // Where nothing is answered in full the opening is left to the job, which waits.
        again: 3,
        // A backup and a prune read few parts.
        mayMiss: true,
      };
    };
    report('F15', await runTrials({ ...site, seed: 15 }, 30, plan));
  });

  const FOLDERS = ['packs/', 'index/', 'snapshots/', 'heads/', 'leases/'] as const;

  test('F16: a put that is acknowledged and cut, empty or dropped is found out, and made good', async () => {
    const wrongs: readonly (readonly [string, Deed])[] = [
      ['half of it', keepPart(0.5)],
      ['nothing of it', keepPart(0)],
      ['no object', drop],
    ];
    const plan = (number: number): PlannedTrial => {
      const [name, deed] = turn(wrongs, number);
      const folder = turn(FOLDERS, number);
      return {
        name: `${name} below ${folder}`,
        operation: 'backup',
        faults: [{ fits: below(folder, isPut), most: 1 + drawn(number, 3), deed }],
        judge: survives,
      };
    };
    report('F16', await runTrials({ ...site, seed: 16 }, 30, plan));
  });

  test('F17: a put whose answer is lost counts once', async () => {
    const plan = (number: number): PlannedTrial => {
      const folder = number % 6 === 5 ? '' : turn(FOLDERS, number);
      return {
        name: `below ${folder}`,
        operation: 'backup',
        faults: [{ fits: below(folder, isPut), rate: 0.7, most: 4, deed: loseReply }],
        judge: (trial) => {
          survives(trial);
          expect(trial.uploaded).toBeLessThan(NEW_BYTES * 1.3);
        },
        // One object alone may be spared.
        mayMiss: true,
      };
    };
    report('F17', await runTrials({ ...site, seed: 17, newBytes: NEW_BYTES }, 30, plan));
  });

  test('F18: with a list that is partial, empty, unsorted, doubled, cut or breaks off nothing is lost', async () => {
    const wrongs: readonly (readonly [string, Deed])[] = [
      ['empty', emptyList],
      ['partial', partialList],
      ['ended early', endedList],
      ['unsorted', unsortedList],
      ['doubled', doubledList],
      ['cut', cutList],
      ['broken off', cutShort],
      ['stale', staleList()],
      ['a page', page(200)],
      ['ended with its first page', firstPageOnly(2)],
      ['an error in the middle', errorInTheMiddle(2)],
    ];
    const folders = ['packs/', 'snapshots/', 'index/', 'trash/', 'heads/', 'leases/'];
    const plan = (number: number): PlannedTrial => {
      const [name, deed] = turn(wrongs, number);
      const folder = turn(folders, number + Math.floor(number / 11));
      const lasting = number % 3 === 0;
      return {
        name: `${name} ${lasting ? 'always' : 'at first'} for ${folder}`,
        operation: number % 2 === 0 ? 'prune' : 'backup',
        faults: [{ fits: listOf(folder), ...(lasting ? {} : { most: 1 + drawn(number, 2) }), deed }],
        judge: ({ error, uploaded }) => {
          if (error === undefined && uploaded !== undefined) expect(uploaded).toBeLessThan(EVERYTHING);
        },
        // A folder that is empty has nothing that could be missing.
        mayMiss: true,
      };
    };
    report('F18', await runTrials({ ...site, seed: 18, newBytes: NEW_BYTES }, 44, plan));
  });

  test('F19: with objects that are seen late, or stay or come back when they were deleted, nothing is lost', async () => {
    const plan = (number: number): PlannedTrial => {
      const kind = turn(['late', 'stay', 'return'] as const, number);
      const operation =
        kind === 'late' ? turn(['backup', 'prune'] as const, Math.floor(number / 3)) : 'prune';
      const faults = reordered(kind, 1 + drawn(number, 12));
      return { name: kind, operation, faults, judge: () => {}, mayMiss: kind !== 'late' };
    };
    report('F19', await runTrials({ ...site, seed: 19 }, 20, plan));
  });
}

function report(name: string, figures: object): void {
  console.info(`${name}: ${JSON.stringify(figures)}`);
}

/** Never sooner than the store wants, and never for longer than a quarter of an hour. */
function expectWaits({ waits }: Trial): void {
  for (const { error, ms } of waits) {
    expect(ms).toBeGreaterThanOrEqual(Number(error.details['retryAfterMs'] ?? 0));
    expect(ms).toBeLessThanOrEqual(15 * 60_000);
  }
}
