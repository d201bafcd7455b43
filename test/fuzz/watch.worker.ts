/** The other thread of watch.ts: its clock goes on while a parser does not come back. */
import { tell } from './failure.ts';
import { published } from './published.ts';
import { workerData } from 'node:worker_threads';
import { MOST_MS } from './target.ts';
import { CELLS, type WatchOptions } from './watch.ts';

const EVERY_MS = 20;
/** Of the clock on the wall: a parser that waits takes no processor time. */
const MOST_WAITING_MS = 20_000;

const { cells, inputFile, failureFile }: WatchOptions & { readonly cells: Int32Array } = workerData;
const pause = new Int32Array(new SharedArrayBuffer(4));

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function end(kind: 'hang' | 'memory', message: string): void {
  tell(failureFile, { kind, message, input: published(inputFile).toString('base64') });
  process.kill(process.pid, 'SIGKILL');
}

let last = 0;
let startedMs = 0;
let startedAt = 0;
for (;;) {
  Atomics.wait(pause, 0, 0, EVERY_MS);
  const input = Atomics.load(cells, CELLS.input);
  const limit = Atomics.load(cells, CELLS.limit) * 1024;
  // First: what takes much memory takes its time as well.
  if (input !== 0 && limit !== 0 && process.memoryUsage.rss() > limit)
    end('memory', `the process takes more than ${Math.round(limit / 1_048_576)} MiB`);
  if (input === 0) last = 0;
  else if (input !== last) [last, startedMs, startedAt] = [input, processorMs(), performance.now()];
  else if (processorMs() - startedMs > MOST_MS || performance.now() - startedAt > MOST_WAITING_MS)
    end('hang', `one input took more than ${MOST_MS} ms`);
}
