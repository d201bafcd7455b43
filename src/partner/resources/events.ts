/** Routes for events, newest first. They include events that no webhook endpoint asked for. */
import { type ApiApp, ListQuery, PageOf, page } from '../../api/framework/route.ts';
import { NO_NUL } from '../../base/one-line.ts';
import { type Static, Type } from '../../base/schema-type.ts';
import { partnerOf } from '../request/visit.ts';
import { EVENT_KINDS, type PartnerEvent } from '../store/events.ts';
import type { PartnerStores } from '../store/store.ts';
import { MaybeText, Time, timestamp } from './values.ts';

const EventKindName = Type.Enum([...EVENT_KINDS]);

const EventData = Type.Object({
  id: Type.String(),
  seq: Type.Integer({ minimum: 1 }),
  type: EventKindName,
  timestamp: Time,
  customer_id: MaybeText,
  device_id: MaybeText,
  data: Type.Record(Type.String(), Type.Unknown()),
});

const EventFilters = {
  type: Type.Optional(EventKindName),
  customer_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128, pattern: NO_NUL })),
};

export function eventRoutes(app: ApiApp, { events }: Pick<PartnerStores, 'events'>): void {
  app.get(
    '/events',
    {
      schema: { querystring: ListQuery(EventFilters), response: { 200: PageOf(EventData) } },
      config: { scope: 'api' },
    },
    async (request) => {
      const { limit, cursor, ...filters } = request.query;
      const before = app.cursors.open('events', filters, cursor);
      const { items, next } = await events.list(partnerOf(request), {
        limit,
        before,
        kind: filters.type,
        customerId: filters.customer_id,
      });
      return page(
        items.map(shownEvent),
        next === undefined ? null : app.cursors.seal('events', filters, next),
      );
    },
  );
}

function shownEvent(event: PartnerEvent): Static<typeof EventData> {
  return {
    id: event.id,
    seq: event.seq,
    type: event.kind,
    timestamp: timestamp(event.createdAt),
    customer_id: event.customerId,
    device_id: event.deviceId,
    data: { ...event.data },
  };
}
