/** How much there is to back up, found out beside the backup itself so that its progress can name a time. */
import { Worker } from 'node:worker_threads';
import type { ExcludeOptions } from '../archiver/exclude.ts';
import type { ByteString } from '../base/byte-path.ts';
import type { ExpectedTotals } from './archive-progress.ts';

export interface ScanRequest {
  readonly sources: readonly ByteString[];
  readonly exclude: ExcludeOptions;
}

export interface SizeScan {
  /** Undefined until everything is counted. */
  readonly totals: ExpectedTotals | undefined;
  stop(): Promise<void>;
}

/** Counts in a thread of its own. What it cannot read is left to the backup, which reports it. */
export function startSizeScan(request: ScanRequest): SizeScan {
  const file = import.meta.url.endsWith('.ts') ? './size-scan-worker.ts' : './size-scan-worker.js';
  const worker = new Worker(new URL(file, import.meta.url), { workerData: request });
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
      await worker.terminate();
    },
  };
}
