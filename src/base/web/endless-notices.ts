/** Servers that announce an answer (1xx) again and again, in place of giving it. */
import type { ClientRequest } from 'node:http';

/**
 * To one request. Servers that work for long send one every few seconds. Each costs memory and the time of the whole
 * process, and none counts as an answer.
 */
const MOST_NOTICES = 1_000;

/** No answer of the server was used. */
export class EndlessNotices extends Error {
  override readonly name = 'EndlessNotices';
  /** For people. */
  readonly what = `announced more than ${MOST_NOTICES} times, and does not come`;

  constructor() {
    super(`the answer is announced more than ${MOST_NOTICES} times`);
  }
}

/**
 * Ends a request whose answer is announced without end, by an `EndlessNotices`.
 * @param giveUp learns of it first, as libraries change errors
 */
export function boundNotices(request: ClientRequest, giveUp: (error: Error) => void = () => {}): void {
  let notices = 0;
  request.on('information', () => {
    notices += 1;
    if (notices <= MOST_NOTICES) return;
    const error = new EndlessNotices();
    giveUp(error);
    request.destroy(error);
  });
}
