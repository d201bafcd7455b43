/** The contract of destination.ts as tests, sentence by sentence, for every kind of destination alike. */
import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DestinationError } from '../../src/base/errors.ts';
import type { DestinationKind } from '../../src/base/errors.ts';
import type { Destination, ListedObject } from '../../src/destination/destination.ts';
import { withRetry } from '../../src/destination/retry.ts';

/** One empty place to store things, which may be opened more than once. */
export interface TestStorage {
  open(): Promise<Destination>;
  remove(): Promise<void>;
}

const live = new AbortController().signal;

const malformedKeys = [
  '',
  '/',
  '/a',
  'a/',
  'a//b',
  '.',
  '..',
  'a/.',
  'a/../b',
  '../a',
  './a',
  'A',
  'a b',
  'a\\b',
  'a\0',
  'a\n',
  'ä',
  'a+b',
  'a~',
  'a:b',
];

/** Valid, though a careless implementation would take them for something else. */
const unusualKeys = ['.a', '..a', '...', 'a..b', '-', '_', '-rf', '.tmp-0', 'a/.tmp-0', '0/1/2/3/4/5/6/7'];

const keyPart = fc.stringMatching(/^[a-z0-9._-]{1,20}$/).filter((part) => part !== '.' && part !== '..');

/** What a store cannot be brought to, and says so in its properties. */
export interface Shortcomings {
  /** Of several racing writers more than one may be told that it won. */
  readonly racingWriters?: boolean;
}

export function destinationContract(
  name: string,
  make: () => Promise<TestStorage>,
  { racingWriters = false }: Shortcomings = {},
): void {
  describe(`${name} keeps the contract of a destination`, () => {
    let storage: TestStorage;
    let destination: Destination;

    beforeEach(async () => {
      storage = await make();
      destination = await storage.open();
    });

    afterEach(async () => {
      await destination.close();
      await storage.remove();
    });

    test('has no user info, query or fragment in its URL', () => {
      const url = new URL(destination.properties.url);
      expect([url.username, url.password, url.search, url.hash]).toEqual(['', '', '', '']);
      expect(destination.properties.maxParallel).toBeGreaterThanOrEqual(1);
    });

    describe('keys', () => {
      test.each(malformedKeys)('refuses the malformed key %j in every method', async (key) => {
        await expectKind(destination.put(key, Buffer.from('x'), live), 'unsupported');
        await expectKind(destination.get(key, undefined, live), 'unsupported');
        await expectKind(destination.stat(key, live), 'unsupported');
        await expectKind(destination.delete(key, live), 'unsupported');
        expect(await listAll(destination, '')).toEqual([]);
      });

      test.each(['/', 'a//', './', '../', 'a/../', 'A', 'a b', 'a\0'])(
        'refuses the prefix %j, with which no key can begin',
        async (prefix) => {
          await expectKind(listAll(destination, prefix), 'unsupported');
        },
      );

      test.each(unusualKeys)('stores, lists and deletes under the unusual key %j', async (key) => {
        await destination.put(key, Buffer.from(key), live);
        expect((await destination.get(key, undefined, live)).toString()).toBe(key);
        expect(keysOf(await listAll(destination, ''))).toEqual([key]);
        await destination.delete(key, live);
        expect(await listAll(destination, '')).toEqual([]);
      });

      test('keeps apart any keys of valid parts', async () => {
        // One depth, so that no key is a directory of another.
        const key = fc.tuple(keyPart, keyPart).map((parts) => parts.join('/'));
        const cases = fc.uniqueArray(key, { minLength: 1, maxLength: 12 });
        let round = 0;
        const property = fc.asyncProperty(cases, async (keys) => {
          round += 1;
          const own = keys.map((key) => `round-${round}/${key}`);
          for (const key of own) await destination.put(key, Buffer.from(key), live);
          expect(keysOf(await listAll(destination, `round-${round}/`))).toEqual(own.toSorted());
          for (const key of own) expect((await destination.get(key, undefined, live)).toString()).toBe(key);
        });
        await fc.assert(property, { numRuns: 20 });
      });
    });

    describe('put', () => {
      test('stores the object whole and says its size', async () => {
        const body = randomBytes(3_000_001);
        const stored = await destination.put('packs/00/a', body, live);
        expect(stored.size).toBe(body.byteLength);
        expect(body.equals(await destination.get('packs/00/a', undefined, live))).toBe(true);
      });

      test('stores an object of no bytes', async () => {
        expect((await destination.put('empty', new Uint8Array(0), live)).size).toBe(0);
        expect((await destination.get('empty', undefined, live)).byteLength).toBe(0);
        expect((await destination.get('empty', { offset: 0, length: 0 }, live)).byteLength).toBe(0);
        expect((await destination.stat('empty', live)).size).toBe(0);
        expect((await listAll(destination, 'empty')).map(({ size }) => size)).toEqual([0]);
      });

      test('stores only the part of its memory that a view shows', async () => {
        const view = new Uint8Array(Buffer.from('xxbodyxx')).subarray(2, 6);
        await destination.put('view', view, live);
        expect((await destination.get('view', undefined, live)).toString()).toBe('body');
      });

      test('is not affected by what becomes of the body afterwards', async () => {
        const body = Buffer.from('before');
        await destination.put('copy', body, live);
        body.fill(0);
        expect((await destination.get('copy', undefined, live)).toString()).toBe('before');
      });

      test.each([
        ['other', Buffer.from('second')],
        ['equal', Buffer.from('first')],
        ['empty', Buffer.alloc(0)],
      ])('never replaces: %s content under a taken key rejects with exists', async (_, body) => {
        const first = await destination.put('a', Buffer.from('first'), live);
        await expectKind(destination.put('a', body, live), 'exists');
        expect((await destination.get('a', undefined, live)).toString()).toBe('first');
        expect(await destination.stat('a', live)).toEqual(first);
        expect(keysOf(await listAll(destination, ''))).toEqual(['a']);
      });

      test.runIf(racingWriters)('says that several racing writers may win', async () => {
        // Some destinations find it out with the first put.
        await destination.put('first', Buffer.from('first'), live);
        expect(destination.properties.conditionalCreate).toBe(false);
      });

      test.skipIf(racingWriters)('lets exactly one of several racing writers win', async () => {
        await destination.put('first', Buffer.from('first'), live);
        expect(destination.properties.conditionalCreate).toBe(true);
        const other = await storage.open();
        try {
          for (let round = 0; round < 10; round += 1) {
            const key = `leases/prune/${round}`;
            const bodies = Array.from({ length: 8 }, (_, writer) =>
              Buffer.alloc(20_000, `writer ${writer} `),
            );
            const outcomes = await Promise.allSettled(
              bodies.map((body, writer) => (writer % 2 === 0 ? destination : other).put(key, body, live)),
            );
            const winners = outcomes.flatMap(({ status }, writer) =>
              status === 'fulfilled' ? [writer] : [],
            );
            expect(winners).toHaveLength(1);
            for (const outcome of outcomes) {
              if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ kind: 'exists' });
            }
            const stored = await destination.get(key, undefined, live);
            expect(bodies.findIndex((body) => body.equals(stored))).toBe(winners[0]);
          }
        } finally {
          await other.close();
        }
      });

      test('shows nothing partial while it is under way', async () => {
        const body = randomBytes(8_000_000);
        const outcome = { ended: false };
        // A busy server may reset a connection, of which nothing follows for what is stored.
        const seen = withRetry(destination);
        const putting = destination.put('packs/00/a', body, live).finally(() => {
          outcome.ended = true;
        });
        const look = async (): Promise<void> => {
          while (!outcome.ended) {
            for (const { key, size } of await listAll(seen, '')) {
              expect([key, size]).toEqual(['packs/00/a', body.byteLength]);
            }
            const size = await seen.stat('packs/00/a', live).then((stat) => stat.size, kindOf);
            expect([body.byteLength, 'not-found']).toContain(size);
            const bytes = await seen.get('packs/00/a', undefined, live).catch(kindOf);
            expect(typeof bytes === 'string' ? bytes : body.equals(bytes)).toBeOneOf(['not-found', true]);
            await nextTurn();
          }
        };
        await Promise.all([putting, look()]);
      });

      test('works as often at once as the properties say', async () => {
        const { maxParallel } = destination.properties;
        const keys = Array.from({ length: maxParallel * 3 }, (_, number) => `packs/${number % 4}/${number}`);
        await Promise.all(keys.map((key) => destination.put(key, Buffer.from(key), live)));
        const bodies = await Promise.all(keys.map((key) => destination.get(key, undefined, live)));
        expect(bodies.map(String)).toEqual(keys);
      });
    });

    describe('read after write', () => {
      test('get, stat and list see an object as soon as it is stored, with one size and one time', async () => {
        for (let number = 0; number < 20; number += 1) {
          const key = `snapshots/${number}`;
          const stored = await destination.put(key, Buffer.alloc(number), live);
          expect((await destination.get(key, undefined, live)).byteLength).toBe(number);
          expect(await destination.stat(key, live)).toEqual(stored);
          expect(await listAll(destination, key)).toContainEqual({ key, ...stored });
        }
      });

      test('what one opening stores, another one sees', async () => {
        const other = await storage.open();
        try {
          await destination.put('a', Buffer.from('one'), live);
          expect((await other.get('a', undefined, live)).toString()).toBe('one');
          expect(keysOf(await listAll(other, ''))).toEqual(['a']);
          await other.delete('a', live);
          await expectKind(destination.stat('a', live), 'not-found');
        } finally {
          await other.close();
        }
      });

      test('times are milliseconds since 1970 that do not run backwards', async () => {
        const { modifiedMs: first } = await destination.put('a', Buffer.from('a'), live);
        const { modifiedMs: second } = await destination.put('b', Buffer.from('b'), live);
        expect(Number.isInteger(first)).toBe(true);
        expect(first).toBeGreaterThan(Date.UTC(2000, 0));
        expect(second).toBeGreaterThanOrEqual(first);
      });
    });

    describe('get', () => {
      test('returns exactly the bytes of a range, or rejects with corrupt-reply beyond the ends', async () => {
        const body = randomBytes(1000);
        await destination.put('a', body, live);
        const range = fc.record({
          offset: fc.integer({ min: -1100, max: 1100 }),
          length: fc.integer({ min: 0, max: 1100 }),
        });
        const property = fc.asyncProperty(range, async ({ offset, length }) => {
          const start = offset < 0 ? 1000 + offset : offset;
          const reading = destination.get('a', { offset, length }, live);
          if (start < 0 || start + length > 1000) await expectKind(reading, 'corrupt-reply');
          else expect(body.subarray(start, start + length).equals(await reading)).toBe(true);
        });
        await fc.assert(property, { numRuns: 100 });
      });

      test.each([
        [{ offset: 0, length: 10 }, '0123456789'],
        [{ offset: 9, length: 1 }, '9'],
        [{ offset: 10, length: 0 }, ''],
        [{ offset: -1, length: 1 }, '9'],
        [{ offset: -10, length: 10 }, '0123456789'],
        [{ offset: -4, length: 2 }, '67'],
      ])('reads %j up to the very edge', async (range, expected) => {
        await destination.put('a', Buffer.from('0123456789'), live);
        expect((await destination.get('a', range, live)).toString()).toBe(expected);
      });

      test.each([
        { offset: 0, length: 11 },
        { offset: 10, length: 1 },
        { offset: 11, length: 0 },
        { offset: -11, length: 1 },
        { offset: -11, length: 11 },
        { offset: -1, length: 2 },
      ])('rejects %j, which reaches beyond the object, with corrupt-reply', async (range) => {
        await destination.put('a', Buffer.from('0123456789'), live);
        await expectKind(destination.get('a', range, live), 'corrupt-reply');
      });

      test.each([
        { offset: 0.5, length: 1 },
        { offset: 0, length: -1 },
        { offset: 0, length: 1.5 },
        { offset: Number.NaN, length: 1 },
        { offset: 0, length: Number.POSITIVE_INFINITY },
      ])('refuses %j, which is no range', async (range) => {
        await destination.put('a', Buffer.from('0123456789'), live);
        await expectKind(destination.get('a', range, live), 'unsupported');
      });

      test('gives bytes that are the caller’s own', async () => {
        await destination.put('a', Buffer.from('own'), live);
        (await destination.get('a', undefined, live)).fill(0);
        const again = await destination.get('a', undefined, live);
        expect(again.toString()).toBe('own');
        expect(again.buffer.byteLength).toBe(3);
      });

      test('rejects with not-found when the key is missing, as stat does', async () => {
        await destination.put('a/b', Buffer.from('x'), live);
        for (const key of ['missing', 'missing/too', 'a', 'a/b/c', 'a/b2', 'x'.repeat(200)]) {
          await expectKind(destination.get(key, undefined, live), 'not-found');
          await expectKind(destination.get(key, { offset: 0, length: 0 }, live), 'not-found');
          await expectKind(destination.stat(key, live), 'not-found');
        }
      });
    });

    describe('list', () => {
      test('yields every object once, in pages of at most 1,000', async () => {
        const keys = Array.from(
          { length: 2_345 },
          (_, number) => `packs/${(number % 3).toString(16)}/${number}`,
        );
        for (let from = 0; from < keys.length; from += 100) {
          const some = keys.slice(from, from + 100);
          await Promise.all(some.map((key) => destination.put(key, Buffer.from(key), live)));
        }
        await destination.put('index/a', Buffer.from('not asked for'), live);
        const pages: (readonly ListedObject[])[] = [];
        for await (const page of destination.list('packs/', live)) pages.push(page);
        expect(pages.every((page) => page.length > 0 && page.length <= 1000)).toBe(true);
        expect(keysOf(pages.flat())).toEqual(keys.toSorted());
        expect(pages.flat().every(({ key, size }) => size === key.length)).toBe(true);
      });

      test.each([
        ['', ['a', 'ab/c', 'ab/cd/e', 'abc', 'b/a']],
        ['a', ['a', 'ab/c', 'ab/cd/e', 'abc']],
        ['ab', ['ab/c', 'ab/cd/e', 'abc']],
        ['ab/', ['ab/c', 'ab/cd/e']],
        ['ab/c', ['ab/c', 'ab/cd/e']],
        ['ab/cd/', ['ab/cd/e']],
        ['abc', ['abc']],
        ['abc/', []],
        ['ab/x', []],
        ['missing/', []],
        ['missing/too/', []],
        ['z', []],
        ['.', []],
        ['a'.repeat(300), []],
        [`${'a'.repeat(300)}/`, []],
      ])('takes %j as the beginning of the key, not as a directory', async (prefix, expected) => {
        for (const key of ['a', 'ab/c', 'ab/cd/e', 'abc', 'b/a']) {
          await destination.put(key, Buffer.from(key), live);
        }
        expect(keysOf(await listAll(destination, prefix))).toEqual(expected);
      });

      test('yields nothing from an empty destination', async () => {
        expect(await listAll(destination, '')).toEqual([]);
      });

      test('still yields the others when its objects are deleted as they come', async () => {
        const keys = Array.from({ length: 1_100 }, (_, number) => `trash/${number}`);
        await Promise.all(keys.map((key) => destination.put(key, Buffer.from(key), live)));
        const seen: string[] = [];
        for await (const page of destination.list('trash/', live)) {
          seen.push(...page.map(({ key }) => key));
          await Promise.all(page.map(({ key }) => destination.delete(key, live)));
        }
        expect(seen.toSorted()).toEqual(keys.toSorted());
        expect(await listAll(destination, '')).toEqual([]);
      });

      test('can be left early', async () => {
        await Promise.all(['a', 'b'].map((key) => destination.put(key, Buffer.from(key), live)));
        for await (const page of destination.list('', live)) {
          expect(page.length).toBeGreaterThan(0);
          break;
        }
        expect(await listAll(destination, '')).toHaveLength(2);
      });
    });

    describe('delete', () => {
      test('removes the object for get, stat and list at once, and no other', async () => {
        for (const key of ['a/b', 'a/c']) await destination.put(key, Buffer.from(key), live);
        await destination.delete('a/b', live);
        await expectKind(destination.get('a/b', undefined, live), 'not-found');
        await expectKind(destination.stat('a/b', live), 'not-found');
        expect(keysOf(await listAll(destination, ''))).toEqual(['a/c']);
      });

      test('resolves when the key is missing', async () => {
        await destination.put('a/b', Buffer.from('x'), live);
        for (const key of ['missing', 'a/missing', 'missing/too', 'a/b/c']) {
          await expect(destination.delete(key, live)).resolves.toBeUndefined();
        }
        expect(keysOf(await listAll(destination, ''))).toEqual(['a/b']);
      });

      test('frees the key for another object', async () => {
        await destination.put('a', Buffer.from('one'), live);
        await destination.delete('a', live);
        await destination.put('a', Buffer.from('two'), live);
        expect((await destination.get('a', undefined, live)).toString()).toBe('two');
      });
    });

    describe('abort', () => {
      test('an aborted signal rejects every method with the very reason and changes nothing', async () => {
        await destination.put('a', Buffer.from('a'), live);
        const reason = new Error('stopped by the test');
        const signal = AbortSignal.abort(reason);
        await expect(destination.put('b', Buffer.from('b'), signal)).rejects.toBe(reason);
        await expect(destination.get('a', undefined, signal)).rejects.toBe(reason);
        await expect(destination.stat('a', signal)).rejects.toBe(reason);
        await expect(listAll(destination, '', signal)).rejects.toBe(reason);
        await expect(destination.delete('a', signal)).rejects.toBe(reason);
        expect(keysOf(await listAll(destination, ''))).toEqual(['a']);
      });

      test('an abort without a reason of its own arrives as an AbortError', async () => {
        await expect(destination.stat('a', AbortSignal.abort())).rejects.toMatchObject({
          name: 'AbortError',
        });
      });

      test('an abort during a put leaves the whole object or none', async () => {
        const body = randomBytes(6_000_000);
        for (let turns = 0; turns < 12; turns += 1) {
          const controller = new AbortController();
          const reason = new Error('stopped by the test');
          const putting = destination.put(`packs/00/${turns}`, body, controller.signal);
          const outcome = putting.then(
            () => 'stored',
            (error: unknown) => error,
          );
          for (let turn = 0; turn < turns; turn += 1) await nextTurn();
          controller.abort(reason);
          expect(['stored', reason]).toContain(await outcome);
        }
        for (const { key, size } of await listAll(destination, '')) {
          expect(size).toBe(body.byteLength);
          expect(body.equals(await destination.get(key, undefined, live))).toBe(true);
        }
      });

      test('an abort between two pages ends a list with the reason', async () => {
        const keys = Array.from({ length: 1_001 }, (_, number) => `packs/${number}`);
        await Promise.all(keys.map((key) => destination.put(key, Buffer.from('x'), live)));
        const controller = new AbortController();
        const reason = new Error('stopped by the test');
        let pages = 0;
        const listing = (async () => {
          for await (const page of destination.list('packs/', controller.signal)) {
            pages += page.length > 0 ? 1 : 0;
            controller.abort(reason);
          }
        })();
        await expect(listing).rejects.toBe(reason);
        expect(pages).toBe(1);
      });
    });

    test('every failure is a DestinationError that says what happened and what to do', async () => {
      await destination.put('a', Buffer.from('a'), live);
      const failures = await Promise.allSettled([
        destination.put('a', Buffer.from('b'), live),
        destination.put('A', Buffer.from('b'), live),
        destination.get('b', undefined, live),
        destination.get('a', { offset: 0, length: 2 }, live),
        destination.stat('b', live),
      ]);
      for (const failure of failures) {
        expect(failure.status).toBe('rejected');
        if (failure.status !== 'rejected') continue;
        expect(failure.reason).toBeInstanceOf(DestinationError);
        expect(failure.reason).toMatchObject({ side: 'destination', hint: expect.stringMatching(/\w\.$/) });
      }
    });
  });
}

async function listAll(destination: Destination, prefix: string, signal = live): Promise<ListedObject[]> {
  const objects: ListedObject[] = [];
  for await (const page of destination.list(prefix, signal)) objects.push(...page);
  return objects;
}

function keysOf(objects: readonly ListedObject[]): string[] {
  return objects.map(({ key }) => key).toSorted();
}

function kindOf(error: unknown): DestinationKind {
  if (error instanceof DestinationError) return error.kind;
  throw error;
}

async function expectKind(call: Promise<unknown>, kind: DestinationKind): Promise<void> {
  const outcome = await call.then(
    () => 'resolved',
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(DestinationError);
  expect(outcome).toMatchObject({ kind });
}
