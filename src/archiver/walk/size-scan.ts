/** Counts how much there is to back up while the backup runs, so that its progress can give a remaining time. */
import { Worker } from 'node:worker_threads';
import type { ExcludeOptions } from '../../exclude/excluder.ts';
import { hungMounts } from '../source/hung-mounts.ts';
import type { ByteString } from '../../base/byte-path.ts';
import { endWorkers } from '../../base/end-workers.ts';

/** The expected size of the sources. */
export interface ExpectedTotals {
  readonly files: number;
  readonly bytes: number;
}

export interface ScanRequest {
  readonly sources: readonly ByteString[];
  readonly exclude: ExcludeOptions;
}

/** Passed to the counting thread when it starts. */
export interface ScanSetup extends ScanRequest {
  readonly hung: readonly ByteString[];
  /** [0] becomes 1 when the count is no longer wanted. */
  readonly stop: SharedArrayBuffer;
}

export interface SizeScan {
  /** Undefined until everything is counted. */
  readonly totals: ExpectedTotals | undefined;
  stop(): Promise<void>;
}

/** Counts in a separate thread. Entries it cannot read are left to the backup, which reports them. */
export function startSizeScan(request: ScanRequest): SizeScan {
  const file = import.meta.url.endsWith('.ts') ? './size-scan-worker.ts' : './size-scan-worker.js';
  const stop = new SharedArrayBuffer(4);
  const setup: ScanSetup = { ...request, hung: hungMounts(), stop };
  const worker = new Worker(new URL(file, import.meta.url), { workerData: setup });
  let totals: ExpectedTotals | undefined;
  worker.once('message', (counted: ExpectedTotals) => {
    totals = counted;
  });
  // Without a count the progress simply has no percentage.
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
