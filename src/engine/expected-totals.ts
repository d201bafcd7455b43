/** Estimates the total work of a running backup, as far as it is known. */
import {
  startSizeScan,
  type ExpectedTotals,
  type ScanRequest,
  type SizeScan,
} from '../archiver/walk/size-scan.ts';

/** When at least this much more than last time was found, as bytes and as a share, the last total is no longer used. */
const GROWN_BYTES = 64 * 1024 * 1024;
const GROWN_SHARE = 0.1;

export interface ExpectedRequest extends ScanRequest {
  /** Given when only changes are walked: such a walk ends before a count would. */
  readonly changes?: unknown;
}

export interface Expectation extends AsyncDisposable {
  /** Undefined until known. `bytesFound`: bytes of the files that the backup has found so far. */
  now(bytesFound: number): ExpectedTotals | undefined;
}

/**
 * Expects the totals of the last time. When there are none, or the source has grown far beyond them, everything is
 * counted while the backup runs.
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
