/** `GET /events`, and the event stream of one job. */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../wire/api-error.ts';
import { closingSignal, untilClosedOr } from '../connections/closing.ts';
import { type StreamOptions, eventStream } from './event-stream.ts';
import { arrivalOf } from '../framework/plugin-order.ts';
import type { ResourceParts } from './resource-parts.ts';
import type { ApiApp } from '../framework/route.ts';

/** Facts of a route that answers with an event stream. */
export const EVENT_STREAM = { duration: 'waits', produces: 'text/event-stream' } as const;

export function eventRoutes(app: ApiApp, { agent, clock }: ResourceParts): void {
  const closing = closingSignal(app);
  app.get(
    '/events',
    { config: { scope: 'api', ...EVENT_STREAM } },
    async (request, reply) => await sendEvents(request, reply, { agent, clock, jobId: undefined }, closing),
  );
}

/**
 * Answers with the stream. It ends with the connection, when the server closes, or when the token or session of the
 * request is no longer valid.
 */
export async function sendEvents(
  request: FastifyRequest,
  reply: Pick<FastifyReply, 'raw' | 'header' | 'send'>,
  subject: Omit<StreamOptions, 'after' | 'admits'>,
  closing: AbortSignal,
): Promise<void> {
  const { caller } = arrivalOf(request);
  const admits = (): boolean => caller.kind !== 'anonymous' && caller.holds();
  const options = { ...subject, after: lastEventId(request), admits };
  reply.header('content-type', 'text/event-stream; charset=utf-8');
  reply.header('cache-control', 'no-store');
  // Proxies that buffer a response would hold events back.
  reply.header('x-accel-buffering', 'no');
  await reply.send(Readable.from(eventStream(options, untilClosedOr(closing, reply))));
}

/**
 * Id of the last event that the client received; undefined when it names none.
 * @throws {ApiError} INVALID_REQUEST
 */
function lastEventId(request: Pick<FastifyRequest, 'headers'>): number | undefined {
  const given = request.headers['last-event-id'];
  // A client that has received no event yet sends the header empty.
  if (given === undefined || given === '') return undefined;
  if (typeof given === 'string' && /^\d{1,15}$/.test(given)) return Number(given);
  throw new ApiError('INVALID_REQUEST', 'Last-Event-ID is not the id of an event', {
    hint: 'Send the id of the last event as it was received, or leave the header out.',
    details: { field: 'Last-Event-ID' },
  });
}
