/** How much there is to back up, found out beside the backup itself so that its progress can name a time. */
import { Worker } from 'node:worker_threads';
import type { ExcludeOptions } from '../../exclude/excluder.ts';
import { hungMounts } from '../source/hung-mounts.ts';
import type { ByteString } from '../../base/byte-path.ts';
import { endWorkers } from '../../base/end-workers.ts';

/** What is known beforehand of the size of the sources. */
export interface ExpectedTotals {
  readonly files: number;
  readonly bytes: number;
}

export interface ScanRequest {
  readonly sources: readonly ByteString[];
  readonly exclude: ExcludeOptions;
}

/** What its thread is started with. */
export interface ScanSetup extends ScanRequest {
  readonly hung: readonly ByteString[];
  /** [0] becomes 1 when nobody wants to know any more. */
  readonly stop: SharedArrayBuffer;
}

export interface SizeScan {
  /** Undefined until everything is counted. */
  readonly totals: ExpectedTotals | undefined;
  stop(): Promise<void>;
}

/** Counts in a thread of its own. What it cannot read is left to the backup, which reports it. */
export function startSizeScan(request: ScanRequest): SizeScan {
  const file = import.meta.url.endsWith('.ts') ? './size-scan-worker.ts' : './size-scan-worker.js';
  const stop = new SharedArrayBuffer(4);
  const setup: ScanSetup = { ...request, hung: hungMounts(), stop };
  const worker = new Worker(new URL(file, import.meta.url), { workerData: setup });
  let totals: ExpectedTotals | undefined;
  worker.once('message', (counted: ExpectedTotals) => {
    totals = counted;
  });
  // Without a count the progress goes without percentage.
  worker.on('error', () => {});
  worker.unref();
  return {
    get totals() {
      return totals;
    },
    async stop() {
      Atomics.store(new Int32Array(stop), 0, 1);
      await endWorkers([worker], () => {});
    },
  };
}
