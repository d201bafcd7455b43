// Turn 8 of 8.
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { endWorkers } from '../../../src/base/end-workers.ts';

/** Works for a while without looking at its messages, then notes that it came to the end, and closes when asked to. */
const busy = `
  const { parentPort, workerData } = require('node:worker_threads');
  const state = new Int32Array(workerData);
  parentPort.on('message', (message) => {
    if (message === 'end') parentPort.close();
    else {
      Atomics.store(state, 0, 1);
      Atomics.notify(state, 0);
      const until = performance.now() + 300;
      while (performance.now() < until);
      Atomics.store(state, 1, 1);
    }
  });
`;

function startBusy(): { worker: Worker; state: Int32Array<SharedArrayBuffer> } {
  const state = new Int32Array(new SharedArrayBuffer(8));
  return { worker: new Worker(busy, { eval: true, workerData: state.buffer }), state };
}

test('lets a thread end what it is at', async () => {
  const { worker, state } = startBusy();
  worker.postMessage('work', []);
  await Atomics.waitAsync(state, 0, 0).value;
  await endWorkers([worker], (one) => one.postMessage('end', []));
  expect(Atomics.load(state, 1)).toBe(1);
  expect(worker.threadId).toBe(-1);
});

test('does not wait for a thread that has ended already', async () => {
  const { worker } = startBusy();
  await worker.terminate();
  const started = performance.now();
  await endWorkers([worker], (one) => one.postMessage('end', []));
  expect(performance.now() - started).toBeLessThan(2_000);
});

test('stops a thread that does not end when it is asked to', { timeout: 30_000 }, async () => {
  const worker = new Worker(`setInterval(() => {}, 1000)`, { eval: true });
  const ended = new Promise<number>((resolve) => {
    worker.once('exit', resolve);
  });
  await endWorkers([worker], (one) => one.postMessage('end', []));
  expect(await ended).toBe(1);
});
