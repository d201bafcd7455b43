import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { PackBuffers, PoolClosed } from '../../../src/archiver/read/pack-buffers.ts';

test('gives every buffer to one taker at a time', () => {
  const buffers = PackBuffers.create(2, 100);
  const [first, second] = [buffers.take(), buffers.take()];
  expect(first.number).not.toBe(second.number);
  buffers.giveBack(first.number);
  expect(buffers.take().number).toBe(first.number);
});

test('gives nothing once it is closed', () => {
  const buffers = PackBuffers.create(1, 100);
  buffers.close();
  expect(buffers.closed).toBe(true);
  expect(() => buffers.take()).toThrow(PoolClosed);
});

/** Takes a buffer from an empty pool, and reports what became of it. */
const taker = `
  import { parentPort, workerData } from 'node:worker_threads';
  import { PackBuffers } from ${JSON.stringify(new URL('../../../src/archiver/read/pack-buffers.ts', import.meta.url).href)};
  const buffers = new PackBuffers(workerData);
  parentPort.postMessage('waiting');
  try {
    buffers.take();
    parentPort.postMessage('taken');
  } catch (error) {
    parentPort.postMessage(error.name);
  }
`;

test('wakes a thread that waits for a buffer when it is closed', async () => {
  const buffers = PackBuffers.create(1, 100);
  buffers.take();
  const url = new URL(`data:text/javascript,${encodeURIComponent(taker)}`);
  const worker = new Worker(url, { workerData: buffers.memory });
  const messages: unknown[] = [];
  const ended = new Promise((resolve) => {
    worker.once('exit', resolve);
  });
  await new Promise<void>((resolve) => {
    worker.on('message', (message) => {
      messages.push(message);
      resolve();
    });
  });
  buffers.close();
  await ended;
  expect(messages).toEqual(['waiting', 'PoolClosed']);
});
