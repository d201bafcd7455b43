/** Signals that end streams and long waits when the server closes. */
import type { ServerResponse } from 'node:http';

interface Closable {
  addHook(name: 'preClose', hook: () => Promise<void>): unknown;
}

/** Aborts when the server begins to close. */
export function closingSignal(app: Closable): AbortSignal {
  const controller = new AbortController();
  app.addHook('preClose', async () => {
    controller.abort();
  });
  return controller.signal;
}

/** Aborts when the response has ended, its connection is gone, or the server closes. */
export function untilClosedOr(closing: AbortSignal, reply: { readonly raw: ServerResponse }): AbortSignal {
  const controller = new AbortController();
  const end = (): void => {
    closing.removeEventListener('abort', end);
    controller.abort();
  };
  if (closing.aborted || reply.raw.destroyed || reply.raw.writableEnded) controller.abort();
  else {
    closing.addEventListener('abort', end, { once: true });
    reply.raw.once('close', end);
  }
  return controller.signal;
}
