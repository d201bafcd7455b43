/** Finds out who listens on a port. */

/** Milliseconds. */
const ANSWER_WITHIN = 2_000;

/** Whether a Holdfast agent answers there. */
export async function isHoldfast(port: number): Promise<boolean> {
  try {
    const reply = await fetch(`http://127.0.0.1:${port}/healthz`, {
      signal: AbortSignal.timeout(ANSWER_WITHIN),
    });
    const answer: unknown = await reply.json();
    return typeof answer === 'object' && answer !== null && Reflect.get(answer, 'status') === 'ok';
  } catch {
    return false;
  }
}
