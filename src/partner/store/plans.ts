/** Stores plans, which say what a customer may use. They are the same for all partners, and created by migrations. */
import type { StoreDatabase, StoreReader } from './database.ts';
import type { PlanTable } from './schema.ts';

export interface Plan {
  readonly id: string;
  readonly slug: PlanTable['slug'];
  readonly name: string;
  readonly storageLimitBytes: number;
  readonly deviceLimit: number;
  readonly desktopRequestsPerHour: number;
  /** Null when the plan is not a trial. */
  readonly trialDays: number | null;
  /** Monthly price, in hundredths of the currency. */
  readonly price: { readonly cents: number; readonly currency: string };
  /** Whether customers may be given the plan. */
  readonly active: boolean;
}

export interface PlanStore {
  /** Cheapest first. */
  list(): Promise<readonly Plan[]>;
  get(id: string): Promise<Plan | undefined>;
  findBySlug(slug: string): Promise<Plan | undefined>;
}

export function createPlanStore(db: StoreDatabase): PlanStore {
  return {
    list: async () =>
      (await db.reader.selectFrom('plans').selectAll().orderBy('position').execute()).map(fromRow),
    get: async (id) => await planById(db.reader, id),
    async findBySlug(slug) {
      const row = await db.reader
        .selectFrom('plans')
        .selectAll()
        .where('slug', '=', slug as PlanTable['slug'])
        .executeTakeFirst();
      return row === undefined ? undefined : fromRow(row);
    },
  };
}

export async function planById(reader: StoreReader, id: string): Promise<Plan | undefined> {
  const row = await reader.selectFrom('plans').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : fromRow(row);
}

function fromRow(row: PlanTable): Plan {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    storageLimitBytes: row.storage_limit_bytes,
    deviceLimit: row.device_limit,
    desktopRequestsPerHour: row.desktop_requests_per_hour,
    trialDays: row.trial_days,
    price: { cents: row.price_cents, currency: row.currency },
    active: row.active === 1,
  };
}
