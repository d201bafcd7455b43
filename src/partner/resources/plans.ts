/** Routes for plans, which say what a customer may use. */
import { ApiError } from '../../api/wire/api-error.ts';
import { type ApiApp, ListQuery, PageOf, page } from '../../api/framework/route.ts';
import { type Static, Type } from '../../base/schema-type.ts';
import type { Plan } from '../store/plans.ts';
import type { PartnerStores } from '../store/store.ts';
import { Bytes, Count, IdParams } from './values.ts';

const PlanData = Type.Object({
  id: Type.String(),
  slug: Type.Enum(['free_trial', 'pro', 'business']),
  name: Type.String(),
  storage_limit_bytes: Bytes,
  device_limit: Count,
  /** The values of the three plans. */
  desktop_requests_per_hour: Type.Unsafe<number>({ enum: [100, 1_000, 10_000] }),
  trial_days: Type.Union([Type.Integer(), Type.Null()]),
  price: Type.Object({ cents: Count, currency: Type.String() }),
  active: Type.Boolean(),
});

/** The cursor contains the id of the last plan, and the list continues after that plan. */
export function planRoutes(app: ApiApp, { plans }: Pick<PartnerStores, 'plans'>): void {
  app.get(
    '/plans',
    {
      schema: { querystring: ListQuery({}), response: { 200: PageOf(PlanData) } },
      config: { scope: 'api' },
    },
    async ({ query: { limit, cursor } }) => {
      const after = app.cursors.open('plans', {}, cursor);
      const all = await plans.list();
      const start = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
      const items = all.slice(start, start + limit);
      const last = start + limit < all.length ? items.at(-1) : undefined;
      return page(items.map(shownPlan), last === undefined ? null : app.cursors.seal('plans', {}, last.id));
    },
  );
  app.get(
    '/plans/:id',
    {
      schema: { params: IdParams, response: { 200: PlanData } },
      config: { scope: 'api' },
    },
    async ({ params: { id } }) => {
      const plan = await plans.get(id);
      if (plan !== undefined) return shownPlan(plan);
      throw new ApiError('PLAN_NOT_FOUND', 'There is no plan with that id', {
        hint: 'GET /plans lists them.',
      });
    },
  );
}

function shownPlan(plan: Plan): Static<typeof PlanData> {
  return {
    id: plan.id,
    slug: plan.slug,
    name: plan.name,
    storage_limit_bytes: plan.storageLimitBytes,
    device_limit: plan.deviceLimit,
    desktop_requests_per_hour: plan.desktopRequestsPerHour,
    trial_days: plan.trialDays,
    price: plan.price,
    active: plan.active,
  };
}
