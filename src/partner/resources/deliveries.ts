/** Routes for deliveries to webhook endpoints: their state, tests, and retries. */
import { ApiError } from '../../api/wire/api-error.ts';
import { type ApiApp, ListQuery, page, PageOf } from '../../api/framework/route.ts';
import { type Static, Type } from '../../base/schema-type.ts';
import {
  Count,
  IdParams,
  MaybeText,
  MaybeTime,
  maybeTimestamp,
  PARTNER_PREFIX,
  Time,
  timestamp,
} from './values.ts';
import { actorOf, earlierEffect, partnerOf } from '../request/visit.ts';
import type { Delivery } from '../store/delivery-view.ts';
import { EVENT_KINDS } from '../store/events.ts';
import type { PartnerStores } from '../store/store.ts';
import { noEndpoint } from './webhooks.ts';

const Status = Type.Enum(['pending', 'succeeded', 'failed']);
const RetryParams = Type.Object(
  { id: Type.String(), delivery_id: Type.String() },
  { additionalProperties: false },
);
const DeliveryFilters = { status: Type.Optional(Status) };

const DeliveryData = Type.Object({
  id: Type.String(),
  webhook_id: Type.String(),
  event_id: Type.String(),
  event_type: Type.Enum([...EVENT_KINDS]),
  status: Status,
  attempts: Count,
  next_attempt_at: MaybeTime,
  last_attempt_at: MaybeTime,
  last_status: Type.Union([Type.Integer(), Type.Null()]),
  last_error: MaybeText,
  created_at: Time,
});

export function deliveryRoutes(
  app: ApiApp,
  { webhooks, deliveries }: Pick<PartnerStores, 'webhooks' | 'deliveries'>,
): void {
  app.post(
    '/webhooks/:id/test',
    {
      schema: { params: IdParams, response: { 202: DeliveryData } },
      config: { scope: 'api' },
    },
    async (request, reply) => {
      const earlier = earlierEffect(request);
      const delivery =
        earlier === undefined
          ? await webhooks.test(partnerOf(request), request.params.id, actorOf(request))
          : await deliveries.get(partnerOf(request), earlier);
      if (delivery === undefined) throw noEndpoint();
      return accepted(reply, delivery);
    },
  );

  app.get(
    '/webhooks/:id/deliveries',
    {
      schema: {
        params: IdParams,
        querystring: ListQuery(DeliveryFilters),
        response: { 200: PageOf(DeliveryData) },
      },
      config: { scope: 'api' },
    },
    async (request) => {
      const { id } = request.params;
      const { limit, cursor, ...filters } = request.query;
      const list = `deliveries ${id}`;
      const before = app.cursors.open(list, filters, cursor);
      if ((await webhooks.get(partnerOf(request), id)) === undefined) throw noEndpoint();
      const { items, next } = await deliveries.list(partnerOf(request), id, { limit, before, ...filters });
      return page(
        items.map(shownDelivery),
        next === undefined ? null : app.cursors.seal(list, filters, next),
      );
    },
  );

  app.post(
    '/webhooks/:id/deliveries/:delivery_id/retry',
    {
      schema: { params: RetryParams, response: { 202: DeliveryData } },
      config: { scope: 'api' },
    },
    async (request, reply) => {
      const { id, delivery_id: deliveryId } = request.params;
      if ((await webhooks.get(partnerOf(request), id)) === undefined) throw noEndpoint();
      const delivery =
        earlierEffect(request) === undefined
          ? await deliveries.retry(partnerOf(request), id, deliveryId, actorOf(request))
          : await deliveries.get(partnerOf(request), deliveryId);
      if (delivery !== undefined) return accepted(reply, delivery);
      throw new ApiError('DELIVERY_NOT_FOUND', 'There is no delivery with that id to this endpoint', {
        hint: 'GET /webhooks/{id}/deliveries lists them.',
      });
    },
  );
}

interface ReplyHead {
  code(status: number): unknown;
  header(name: string, value: string): unknown;
}

/** Makes the response a 202 whose `Location` is the list with the delivery. */
function accepted(reply: ReplyHead, delivery: Delivery): Static<typeof DeliveryData> {
  reply.code(202);
  reply.header('location', `${PARTNER_PREFIX}/webhooks/${delivery.endpointId}/deliveries`);
  return shownDelivery(delivery);
}

function shownDelivery(delivery: Delivery): Static<typeof DeliveryData> {
  return {
    id: delivery.id,
    webhook_id: delivery.endpointId,
    event_id: delivery.eventId,
    event_type: delivery.eventKind,
    status: delivery.status,
    attempts: delivery.attempts,
    next_attempt_at: maybeTimestamp(delivery.nextAttemptAt),
    last_attempt_at: maybeTimestamp(delivery.lastAttemptAt),
    last_status: delivery.lastStatus,
    last_error: delivery.lastError,
    created_at: timestamp(delivery.createdAt),
  };
}
