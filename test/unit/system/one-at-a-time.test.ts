/** Work that takes much memory: threads and processes take turns. */
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { libc } from '../../../src/system/libc.ts';
import { oneAtATime } from '../../../src/system/one-at-a-time.ts';
import { moduleUrl } from '../../support/run-script.ts';

test.skipIf(libc === null)(
  'goes on one after the other, also in another thread, and whatever fails',
  async () => {
    const order: string[] = [];
    const slow = oneAtATime(async () => {
      order.push('begin');
      await delay(150);
      order.push('end');
      throw new Error('it failed');
    });
    const other = new Worker(
      `const { parentPort } = require('node:worker_threads');
     import('${moduleUrl('src/system/one-at-a-time.ts')}')
       .then(({ oneAtATime }) => oneAtATime(async () => parentPort.postMessage('other')));`,
      { eval: true },
    );
    const answered = new Promise<void>((resolve) => {
      other.once('message', (text: string) => {
        order.push(text);
        resolve();
      });
    });
    const next = oneAtATime(async () => await Promise.resolve(order.push('next')));
    await expect(slow).rejects.toThrow('it failed');
    await Promise.all([next, answered]);
    await other.terminate();
    expect(order.slice(0, 2)).toEqual(['begin', 'end']);
    expect(order.slice(2).sort()).toEqual(['next', 'other']);
  },
);

test.skipIf(libc === null)('does not wait for ever for somebody who holds the turn', async () => {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const holder = oneAtATime(async () => await promise);
  expect(await oneAtATime(async () => await Promise.resolve('done'), 100)).toBe('done');
  resolve(undefined);
  await holder;
});
