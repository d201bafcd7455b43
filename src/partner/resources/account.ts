/** `GET /account`: the account of the key, its limits, and this month's usage. */
import type { ApiApp } from '../../api/framework/route.ts';
import type { Clock } from '../../base/clock.ts';
import { BugError } from '../../base/errors.ts';
import { type Static, Type } from '../../base/schema-type.ts';
import type { PartnerLimits } from '../request/limits.ts';
import { keyOf } from '../request/visit.ts';
import { dayOf } from '../store/metering.ts';
import type { PartnerStores } from '../store/store.ts';
import { UsageFiguresData, shownFigures } from './usage-figures.ts';
import { Count, MaybeText, MaybeTime, Time, maybeTimestamp, timestamp } from './values.ts';

const AccountData = Type.Object({
  id: Type.String(),
  object: Type.Literal('account'),
  name: Type.String(),
  company: MaybeText,
  email: Type.String(),
  status: Type.Enum(['active', 'suspended']),
  created_at: Time,
  api_key: Type.Object({
    name: Type.String(),
    prefix: Type.String(),
    created_at: Time,
    last_used_at: MaybeTime,
  }),
  limits: Type.Object({ requests_per_minute: Count, active_api_keys: Type.Literal(1) }),
  customers_count: Count,
  usage: UsageFiguresData,
});

export interface AccountParts {
  readonly stores: Pick<PartnerStores, 'customers' | 'partners' | 'usage'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly limits: Pick<PartnerLimits, 'partner'>;
}

const MINUTE_MS = 60_000;

export function accountRoutes(app: ApiApp, { stores, clock, limits }: AccountParts): void {
  app.get(
    '/account',
    {
      schema: { response: { 200: AccountData } },
      config: { scope: 'api', suspended: 'allowed' },
    },
    async (request): Promise<Static<typeof AccountData>> => {
      const key = keyOf(request);
      const today = dayOf(clock.now());
      const [partner, customers, { totals }] = await Promise.all([
        stores.partners.get(key.partnerId),
        stores.customers.count(key.partnerId),
        stores.usage.usage(key.partnerId, {
          from: `${today.slice(0, 7)}-01`,
          to: today,
          granularity: 'month',
        }),
      ]);
      if (partner === undefined) throw new BugError('a key belongs to no partner');
      const { requests, windowMs } = limits.partner;
      return {
        id: partner.id,
        object: 'account',
        name: partner.name,
        company: partner.company,
        email: partner.email,
        status: partner.status,
        created_at: timestamp(partner.createdAt),
        api_key: {
          name: key.name,
          prefix: key.prefix,
          created_at: timestamp(key.createdAt),
          last_used_at: maybeTimestamp(key.lastUsedAt),
        },
        limits: {
          requests_per_minute: Math.floor((requests * MINUTE_MS) / windowMs),
          active_api_keys: 1,
        },
        customers_count: customers,
        usage: shownFigures(totals),
      };
    },
  );
}
