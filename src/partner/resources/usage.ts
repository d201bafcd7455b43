/** Routes for usage by day or month, of the partner or of one of its customers, and of each customer in a range of days. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ApiApp, ListQuery, page } from '../../api/framework/route.ts';
import type { Clock } from '../../base/clock.ts';
import { NO_NUL } from '../../base/one-line.ts';
import { type Static, Type } from '../../base/schema-type.ts';
import { partnerOf } from '../request/visit.ts';
import { dayOf } from '../store/metering.ts';
import type { CustomerUsage, DayRange } from '../store/usage-by-customer.ts';
import type { PartnerStores } from '../store/store.ts';
import {
  CSV_TYPE,
  csvOf,
  customersCsv,
  CustomerUsageData,
  shownCustomerUsage,
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

const CustomersQuery = ListQuery(
  { from: range.from, to: range.to, format: range.format },
  { default: 100, maximum: 100 },
);
const CustomersData = Type.Object({
  period: Type.Object({ from: Type.String(), to: Type.String() }),
  items: Type.Array(CustomerUsageData),
  has_more: Type.Boolean(),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
});
const CustomersReply = Type.Unsafe<Static<typeof CustomersData> | string>(CustomersData);

type Stores = Pick<PartnerStores, 'customers' | 'usage'>;

export function usageRoutes(app: ApiApp, stores: Stores, clock: Pick<Clock, 'now'>): void {
  const usage = async (
    request: FastifyRequest,
    query: Static<typeof RangeQuery>,
    customerId: string | undefined,
  ): Promise<Static<typeof UsageData>> => {
    const partnerId = partnerOf(request);
    if (customerId !== undefined && !(await stores.customers.isKnown(partnerId, customerId)))
      throw noCustomer();
    const { from, to } = rangeOf(query, clock);
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

/** The routes for what each customer used. Deleted ones are included until the days after their deletion. */
export function customerUsageRoutes(
  app: ApiApp,
  { usage }: Pick<Stores, 'usage'>,
  clock: Pick<Clock, 'now'>,
): void {
  app.get(
    '/usage/customers',
    {
      schema: { querystring: CustomersQuery, response: { 200: CustomersReply } },
      config: { scope: 'api' },
    },
    async (request, reply) => {
      const { limit, cursor, format, ...days } = request.query;
      const range = rangeOf(days, clock);
      const before = app.cursors.open('usage of customers', { ...range }, cursor);
      const partnerId = partnerOf(request);
      if (format === 'csv') return customersAsCsv(reply, range, await everyCustomer(usage, partnerId, range));
      const { items, next } = await usage.byCustomer(partnerId, { ...range, limit, before });
      return {
        period: range,
        ...page(
          items.map(shownCustomerUsage),
          next === undefined ? null : app.cursors.seal('usage of customers', { ...range }, next),
        ),
      };
    },
  );
}

/** The usage of all customers, for a table. */
export async function everyCustomer(
  usage: Pick<Stores['usage'], 'byCustomer'>,
  partnerId: string,
  range: DayRange,
): Promise<readonly CustomerUsage[]> {
  const all: CustomerUsage[] = [];
  let before: string | undefined;
  do {
    const { items, next } = await usage.byCustomer(partnerId, { ...range, limit: 100, before });
    all.push(...items);
    before = next;
  } while (before !== undefined);
  return all;
}

/** From the first of the month up to today, where nothing is said. */
function rangeOf(
  query: { readonly from?: string; readonly to?: string },
  clock: Pick<Clock, 'now'>,
): DayRange {
  const to = query.to ?? dayOf(clock.now());
  return { from: query.from ?? `${to.slice(0, 7)}-01`, to };
}

function customersAsCsv(
  reply: Pick<FastifyReply, 'header'>,
  { from, to }: DayRange,
  customers: readonly CustomerUsage[],
): string {
  reply.header('content-type', CSV_TYPE);
  reply.header('content-disposition', `attachment; filename="customers-${from}-${to}.csv"`);
  return customersCsv(customers);
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
