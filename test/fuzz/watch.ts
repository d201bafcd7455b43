/** Sees from another thread when an input takes too long or too much memory, and ends the process. */
import { openSync, readSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

export interface WatchOptions {
  /** Where the input at work is kept: whatever ends the process, it can be read afterwards. */
  readonly inputFile: string;
  /** Where a failure is told by the other thread, which has nobody to tell. */
  readonly failureFile: string;
  /** Bytes by which one input may make the process grow. */
  readonly mostMemory: number;
}

export interface Watch {
  /** An input is about to be parsed. */
  begin(): void;
  /** It has been. Undefined, or how many bytes the process had grown by. */
  end(): number | undefined;
  /** What the process takes without an input at work counts from now on. */
  settle(): void;
  close(): Promise<void>;
}

/** Of the memory that the two threads share: the number of the input at work, and the size that is the limit, in KiB. */
export const CELLS = { input: 0, limit: 1 } as const;

/**
 * Bytes of memory that this process has taken at most. What Linux tells of its resources begins with what the process
 * had that started it, however small the one that is started.
 *
 * @see proc_pid_status(5), VmHWM; getrusage(2), ru_maxrss
 */
function peakMemory(): () => number {
  if (process.platform !== 'linux') return () => process.resourceUsage().maxRSS * 1024;
  const status = openSync('/proc/self/status', 'r');
  const bytes = Buffer.alloc(4_096);
  return () => {
    const text = bytes.toString('latin1', 0, readSync(status, bytes, 0, bytes.length, 0));
    return Number(/^VmHWM:\s*(\d+) kB$/m.exec(text)?.[1]) * 1024;
  };
}

export async function startWatch(options: WatchOptions): Promise<Watch> {
  const cells = new Int32Array(new SharedArrayBuffer(8));
  const peak = peakMemory();
  let number = 0;
  let baseline = 0;
  const worker = new Worker(new URL('watch.worker.ts', import.meta.url), {
    workerData: { cells, ...options },
  });
  await new Promise((resolve, reject) => {
    worker.once('online', resolve);
    worker.once('error', reject);
  });
  worker.unref();
  return {
    begin() {
      number = (number % 0x3fff_ffff) + 1;
      Atomics.store(cells, CELLS.input, number);
    },
    end() {
      Atomics.store(cells, CELLS.input, 0);
      // The highest it has ever been: what is freed again counts as well.
      const grownBy = peak() - baseline;
      return grownBy > options.mostMemory ? grownBy : undefined;
    },
    settle() {
      globalThis.gc?.();
      baseline = peak();
      Atomics.store(cells, CELLS.limit, Math.ceil((baseline + options.mostMemory) / 1024));
    },
    async close() {
      await worker.terminate();
    },
  };
}
