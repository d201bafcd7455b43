/** How far a job is whose upload is slower than its reading: packs wait in memory, which may be minutes of upload. */
import type { JobRepository } from './open-repository.ts';

export interface ReadAndHanded {
  /** Bytes that need no more work but to be sent. */
  readonly bytesDone: number;
  /** Of these, those that were read. */
  readonly bytesRead: number;
  /** Of packs that were sent or are on their way. */
  readonly bytesHanded: number;
}

/** Under a limit what was read is done when it was sent. What is given never goes back. */
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
