/** How much a backup will have to do, as far as that is known while it runs. */
import {
  startSizeScan,
  type ExpectedTotals,
  type ScanRequest,
  type SizeScan,
} from '../archiver/walk/size-scan.ts';

/** When so much more than the last time was found, and so large a part of it, the last time says nothing any more. */
const GROWN_BYTES = 64 * 1024 * 1024;
const GROWN_SHARE = 0.1;

export interface ExpectedRequest extends ScanRequest {
  /** Given when only what changed is walked: the walk is soon over, and knows better than any count. */
  readonly changes?: unknown;
}

export interface Expectation extends AsyncDisposable {
  /** Undefined until known. `bytesFound`: of the files that the backup has come across so far. */
  now(bytesFound: number): ExpectedTotals | undefined;
}

/**
 * As much as the last time; when there is no last time, or the source has grown far beyond it, everything is counted
 * beside the backup.
 */
export function expectTotals(
  { sources, exclude, changes }: ExpectedRequest,
  last: ExpectedTotals | undefined,
  start: (request: ScanRequest) => SizeScan = startSizeScan,
): Expectation {
  let scan = last === undefined ? start({ sources, exclude }) : undefined;
  return {
    now(bytesFound) {
      if (last !== undefined) {
        const grown = bytesFound - last.bytes;
        if (changes === undefined && grown > Math.max(GROWN_BYTES, last.bytes * GROWN_SHARE))
          scan ??= start({ sources, exclude });
        if (scan === undefined) return { files: last.files, bytes: last.bytes + Math.max(0, grown) };
      }
      return scan?.totals;
    },
    [Symbol.asyncDispose]: async () => await scan?.stop(),
  };
}
