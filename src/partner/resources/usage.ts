/** What was stored and done on each day or in each month, of the partner or of one of its customers. */
import type { ApiApp } from '../../api/route.ts';
import type { Clock } from '../../base/clock.ts';
import { type Static, Type } from '../../base/schema-type.ts';
import { partnerOf } from '../http/visit.ts';
import { dayOf } from '../store/metering.ts';
import type { PartnerStores } from '../store/store.ts';
import { noCustomer } from './customers.ts';
import { UsageFiguresData, UsageItemData, shownFigures } from './usage-figures.ts';
import { IdParams } from './values.ts';

const Granularity = Type.Enum(['day', 'month']);

const UsageData = Type.Object({
  period: Type.Object({ from: Type.String(), to: Type.String(), granularity: Granularity }),
  totals: UsageFiguresData,
  items: Type.Array(UsageItemData),
});

const range = {
  from: Type.Optional(Type.String({ format: 'date' })),
  to: Type.Optional(Type.String({ format: 'date' })),
  granularity: Type.Optional(Granularity),
};
const RangeQuery = Type.Object(range, { additionalProperties: false });
const UsageQuery = Type.Object(
  { ...range, customer_id: Type.Optional(Type.String({ minLength: 1 })) },
  { additionalProperties: false },
);

type Stores = Pick<PartnerStores, 'customers' | 'usage'>;

export function usageRoutes(app: ApiApp, stores: Stores, clock: Pick<Clock, 'now'>): void {
  const usage = async (
    partnerId: string,
    query: Static<typeof RangeQuery>,
    customerId: string | undefined,
  ): Promise<Static<typeof UsageData>> => {
    if (customerId !== undefined && (await stores.customers.get(partnerId, customerId)) === undefined)
      throw noCustomer();
    const to = query.to ?? dayOf(clock.now());
    const from = query.from ?? `${to.slice(0, 7)}-01`;
    const granularity = query.granularity ?? 'day';
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
      schema: { querystring: UsageQuery, response: { 200: UsageData } },
      config: { scope: 'api', tag: 'Usage', summary: 'Read usage' },
    },
    async (request) => await usage(partnerOf(request), request.query, request.query.customer_id),
  );
  app.get(
    '/customers/:id/usage',
    {
      schema: { params: IdParams, querystring: RangeQuery, response: { 200: UsageData } },
      config: { scope: 'api', tag: 'Usage', summary: 'Read the usage of a customer' },
    },
    async (request) => await usage(partnerOf(request), request.query, request.params.id),
  );
}
