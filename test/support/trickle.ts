/** Answers that arrive slowly. */
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** Ends the answer with `text`, in pieces of so many bytes with a pause before each. */
export async function trickle(
  response: ServerResponse,
  text: string,
  pieceBytes: number,
  pauseMs: number,
): Promise<void> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length && !response.destroyed; at += pieceBytes) {
    await delay(pauseMs);
    response.write(bytes.subarray(at, at + pieceBytes));
  }
  response.end();
}
