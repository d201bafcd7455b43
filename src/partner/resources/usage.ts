/** Routes for usage by day or month, of the partner or of one of its customers. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiApp } from '../../api/framework/route.ts';
import type { Clock } from '../../base/clock.ts';
import { NO_NUL } from '../../base/one-line.ts';
import { type Static, Type } from '../../base/schema-type.ts';
import { partnerOf } from '../request/visit.ts';
import { dayOf } from '../store/metering.ts';
import type { PartnerStores } from '../store/store.ts';
import {
  CSV_TYPE,
  csvOf,
  shownFigures,
  USAGE_COLUMNS,
  UsageFiguresData,
  UsageItemData,
} from './usage-figures.ts';
import { noCustomer } from './customers.ts';
import { IdParams } from './values.ts';

const Granularity = Type.Enum(['day', 'month']);

const UsageData = Type.Object({
  period: Type.Object({ from: Type.String(), to: Type.String(), granularity: Granularity }),
  totals: UsageFiguresData,
  items: Type.Array(UsageItemData),
});
/** Text for `format=csv`, which has no envelope. */
const UsageReply = Type.Unsafe<Static<typeof UsageData> | string>(UsageData);

const range = {
  from: Type.Optional(Type.String({ format: 'date' })),
  to: Type.Optional(Type.String({ format: 'date' })),
  granularity: Type.Enum(['day', 'month'], { default: 'day' }),
  format: Type.Enum(['json', 'csv'], { default: 'json' }),
};
const RangeQuery = Type.Object(range, { additionalProperties: false });
const UsageQuery = Type.Object(
  { ...range, customer_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128, pattern: NO_NUL })) },
  { additionalProperties: false },
);

type Stores = Pick<PartnerStores, 'customers' | 'usage'>;

export function usageRoutes(app: ApiApp, stores: Stores, clock: Pick<Clock, 'now'>): void {
  const usage = async (
    request: FastifyRequest,
    query: Static<typeof RangeQuery>,
    customerId: string | undefined,
  ): Promise<Static<typeof UsageData>> => {
    const partnerId = partnerOf(request);
    if (customerId !== undefined && (await stores.customers.get(partnerId, customerId)) === undefined)
      throw noCustomer();
    const to = query.to ?? dayOf(clock.now());
    const from = query.from ?? `${to.slice(0, 7)}-01`;
    const { granularity } = query;
    const report = await stores.usage.usage(partnerId, { from, to, granularity, customerId });
    return {
      period: { from, to, granularity },
      totals: shownFigures(report.totals),
      items: report.items.map((item) => ({ period: item.period, ...shownFigures(item) })),
    };
  };

  app.get(
    '/usage',
    {
      schema: { querystring: UsageQuery, response: { 200: UsageReply } },
      config: { scope: 'api' },
    },
    async (request, reply) => {
      const data = await usage(request, request.query, request.query.customer_id);
      return request.query.format === 'csv' ? asCsv(reply, data) : data;
    },
  );
  app.get(
    '/customers/:id/usage',
    {
      schema: { params: IdParams, querystring: RangeQuery, response: { 200: UsageReply } },
      config: { scope: 'api' },
    },
    async (request, reply) => {
      const data = await usage(request, request.query, request.params.id);
      return request.query.format === 'csv' ? asCsv(reply, data) : data;
    },
  );
}

/** One line for each item, without a line for the totals. */
function asCsv(reply: Pick<FastifyReply, 'header'>, { period, items }: Static<typeof UsageData>): string {
  reply.header('content-type', CSV_TYPE);
  reply.header('content-disposition', `attachment; filename="usage-${period.from}-${period.to}.csv"`);
  return csvOf(
    USAGE_COLUMNS,
    items.map((item) => USAGE_COLUMNS.map((name) => item[name])),
  );
}
