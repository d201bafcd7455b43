/** The progress of a job that reads faster than it uploads: packs in memory may take minutes to send. */
import type { JobRepository } from './open-repository.ts';

export interface ReadAndHanded {
  /** Bytes that only have to be sent. */
  readonly bytesDone: number;
  /** Of these, the bytes that were read. */
  readonly bytesRead: number;
  /** Bytes of packs that were sent or are being sent. */
  readonly bytesHanded: number;
}

/**
 * Returns a function for the bytes that are done. Under an upload limit, bytes that were read count once they are sent.
 * The result never decreases.
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
