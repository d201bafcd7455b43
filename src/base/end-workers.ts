import { setTimeout } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';

/** Milliseconds that a thread has to end by itself before it is terminated. */
const END_WITHIN = 5_000;

/**
 * Asks threads to end and waits until they have. Those that do not are terminated, which is a last resort: it
 * interrupts any call, and interrupted native code aborts the whole process.
 */
export async function endWorkers(workers: readonly Worker[], ask: (worker: Worker) => void): Promise<void> {
  const ended = Promise.all(workers.map(async (worker) => await exit(worker)));
  for (const worker of workers) ask(worker);
  const patience = new AbortController();
  await Promise.race([ended, setTimeout(END_WITHIN, undefined, { signal: patience.signal })]);
  patience.abort();
  await Promise.all(workers.map(async (worker) => await worker.terminate()));
}

async function exit(worker: Worker): Promise<void> {
  // -1 once it has ended
  if (worker.threadId === -1) return;
  await new Promise<void>((resolve) => {
    worker.once('exit', () => resolve());
  });
}
