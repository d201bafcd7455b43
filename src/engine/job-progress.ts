/** The progress of a job: its expected totals, and what is done while it reads faster than it uploads. */
import {
  type ExpectedTotals,
  type ScanRequest,
  type SizeScan,
  startSizeScan,
} from '../archiver/walk/size-scan.ts';
import type { JobRepository } from './open-repository.ts';

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
 * Estimates the total work of a running backup, as far as it is known. Expects the totals of the last time. When there
 * are none, or the source has grown far beyond them, everything is counted while the backup runs.
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

export interface ReadAndHanded {
  /** Bytes that only have to be sent. */
  readonly bytesDone: number;
  /** Of these, the bytes that were read. */
  readonly bytesRead: number;
  /** Bytes of packs that were sent or are being sent. */
  readonly bytesHanded: number;
}

/**
 * The progress of a job that reads faster than it uploads: packs in memory may take minutes to send. Returns a function
 * for the bytes that are done. Under an upload limit, bytes that were read count once they are sent. The result never
 * decreases.
 */
export function doneUnderLimit(upload: JobRepository['upload']): (now: ReadAndHanded) => number {
  const sentBefore = upload.passed;
  let most = 0;
  return ({ bytesDone, bytesRead, bytesHanded }) => {
    const share = bytesHanded === 0 ? 0 : Math.min(1, (upload.passed - sentBefore) / bytesHanded);
    const underWay = upload.limited ? bytesRead * (1 - share) : 0;
    most = Math.max(most, bytesDone - underWay);
    return most;
  };
}
