/**
 * Stores the customers of partners. Deleted customers are hidden and kept for 30 days; then their personal data is
 * removed.
 */
import { ApiError } from '../../api/wire/api-error.ts';
import { recordChange, type Actor } from './audit-log.ts';
import {
  countCustomers,
  type Customer,
  type CustomerFilter,
  customerNames,
  customerRow,
  selectCustomers,
} from './customer-view.ts';
import { isTaken, type StoreDatabase, type StoreTransaction } from './database.ts';
import { removeDevices } from './devices.ts';
import { appendEvent, type EventKind } from './events.ts';
import { noteEffect } from './idempotency.ts';
import { pageOf, type Page, type PageRequest } from './page.ts';
import { planById, type Plan } from './plans.ts';
import type { CustomerTable } from './schema.ts';

export interface NewCustomer {
  readonly name: string;
  readonly email: string | null;
  readonly externalId: string | null;
  readonly planId: string;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface CustomerStore {
  /** @throws {ApiError} CUSTOMER_EXISTS, PLAN_NOT_FOUND */
  create(partnerId: string, customer: NewCustomer, actor: Actor): Promise<Customer>;
  /** Undefined for a deleted customer, here and below. */
  get(partnerId: string, id: string): Promise<Customer | undefined>;
  /** Newest first. */
  list(partnerId: string, request: PageRequest & CustomerFilter): Promise<Page<Customer>>;
  /** Does not count deleted customers. */
  count(partnerId: string, filter?: CustomerFilter): Promise<number>;
  /** Whether there is such a customer, or was. Its usage stays after it is deleted. */
  isKnown(partnerId: string, id: string): Promise<boolean>;
  /** The names of customers by their ids, also of deleted ones until their names are removed. */
  names(partnerId: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /**
   * Sets the given fields. When nothing changes, no event is written.
   * @throws {ApiError} as `create`, and QUOTA_EXCEEDED when the new plan has too few devices
   */
  patch(
    partnerId: string,
    id: string,
    fields: Partial<NewCustomer>,
    actor: Actor,
  ): Promise<Customer | undefined>;
  /** Succeeds for a customer that is suspended already, without a change. */
  suspend(partnerId: string, id: string, actor: Actor): Promise<Customer | undefined>;
  resume(partnerId: string, id: string, actor: Actor): Promise<Customer | undefined>;
  /** Removes the customer and its devices, and makes its tokens invalid. False when there is no such customer. */
  remove(partnerId: string, id: string, actor: Actor): Promise<boolean>;
  /**
   * Removes names and addresses from some of the customers that were deleted 30 days ago; usage stays. Returns their
   * number: 0 when all are done.
   */
  purge(): Promise<number>;
}

/** How long a deleted customer can be restored by hand. */
const DELETED_KEPT_MS = 30 * 86_400_000;
const DAY_MS = 86_400_000;
const PURGED_AT_ONCE = 100;

export function createCustomerStore(db: StoreDatabase): CustomerStore {
  const tell = async (
    trx: StoreTransaction,
    actor: Actor,
    kind: EventKind,
    before: CustomerTable | null,
    after: CustomerTable,
  ): Promise<void> => {
    const { partner_id: partnerId, id: customerId } = after;
    const record = { before: before === null ? null : shown(before), after: shown(after) };
    await recordChange(db, trx, partnerId, actor, { action: kind, target: customerId, ...record });
    await appendEvent(db, trx, partnerId, { kind, customerId, data: shown(after) });
  };

  /** Applies a change to an existing customer. */
  const change = async (
    partnerId: string,
    id: string,
    work: (trx: StoreTransaction, row: CustomerTable) => Promise<void>,
  ): Promise<boolean> =>
    await db.writeAlone(partnerId, async (trx) => {
      const row = await customerRow(trx, partnerId, id);
      if (row === undefined) return false;
      await work(trx, row);
      return true;
    });

  const get = async (partnerId: string, id: string): Promise<Customer | undefined> => {
    const [customer] = await selectCustomers(db.reader, partnerId, { id });
    return customer;
  };

  const setStatus = async (
    partnerId: string,
    id: string,
    [status, kind]: readonly ['active' | 'suspended', EventKind],
    actor: Actor,
  ): Promise<Customer | undefined> => {
    await change(partnerId, id, async (trx, row) => {
      await noteEffect(trx, actor.running, id);
      if (row.status === status) return;
      const values = { status, updated_at: db.now() };
      await update(trx, row, values);
      await tell(trx, actor, kind, row, { ...row, ...values });
    });
    return await get(partnerId, id);
  };

  return {
    async create(partnerId, { name, email, externalId, planId, metadata }, actor) {
      const now = db.now();
      const row: Omit<CustomerTable, keyof Trial> = {
        id: db.newId('cus'),
        partner_id: partnerId,
        name,
        email,
        external_id: externalId,
        plan_id: planId,
        metadata: JSON.stringify(metadata),
        status: 'active',
        usage_told: 0,
        created_at: now,
        updated_at: now,
        deleted_at: null,
        purged_at: null,
      };
      await unlessTaken(
        async () =>
          await db.writeAlone(partnerId, async (trx) => {
            const plan = await requirePlan(trx, planId);
            const made: CustomerTable = { ...row, ...trialOf(plan, null, now) };
            await trx.insertInto('customers').values(made).execute();
            await tell(trx, actor, 'customer.created', null, made);
            await noteEffect(trx, actor.running, made.id);
          }),
      );
      const made = await get(partnerId, row.id);
      // Another request may have deleted the customer already.
      if (made === undefined)
        throw new ApiError('CUSTOMER_NOT_FOUND', 'The customer was deleted in the meantime');
      return made;
    },

    get,

    async list(partnerId, { limit, before, ...filter }) {
      const rows = await selectCustomers(db.reader, partnerId, { ...filter, before, limit: limit + 1 });
      return pageOf(rows, limit, (customer) => customer);
    },

    count: async (partnerId, filter) => await countCustomers(db.reader, partnerId, filter),

    async isKnown(partnerId, id) {
      const row = await db.reader
        .selectFrom('customers')
        .select('id')
        .where('partner_id', '=', partnerId)
        .where('id', '=', id)
        .executeTakeFirst();
      return row !== undefined;
    },

    names: async (partnerId, ids) => await customerNames(db.reader, partnerId, ids),

    async patch(partnerId, id, fields, actor) {
      await unlessTaken(
        async () =>
          await change(partnerId, id, async (trx, row) => {
            const values = changed(row, fields);
            if (Object.keys(values).length === 0) return;
            const now = db.now();
            const plan = values.plan_id === undefined ? undefined : await requirePlan(trx, values.plan_id);
            if (plan !== undefined) await requirePlaces(trx, row, plan);
            const trial = plan === undefined ? {} : trialOf(plan, row.first_trial_ends_at, now);
            const after = { ...values, ...trial, updated_at: now };
            await update(trx, row, after);
            const kind = plan === undefined ? 'customer.updated' : 'customer.plan_changed';
            await tell(trx, actor, kind, row, { ...row, ...after });
          }),
      );
      return await get(partnerId, id);
    },

    suspend: async (partnerId, id, actor) =>
      await setStatus(partnerId, id, ['suspended', 'customer.suspended'], actor),
    resume: async (partnerId, id, actor) =>
      await setStatus(partnerId, id, ['active', 'customer.resumed'], actor),

    remove: async (partnerId, id, actor) =>
      await change(partnerId, id, async (trx, row) => {
        const now = db.now();
        const values = { status: 'deleted' as const, deleted_at: now, updated_at: now };
        await update(trx, row, values);
        await removeDevices(db, trx, partnerId, { customerId: id }, now);
        await tell(trx, actor, 'customer.deleted', row, { ...row, ...values });
      }),

    purge: async () =>
      await db.write(async (trx) => {
        const now = db.now();
        const purged = await trx
          .updateTable('customers')
          .set({ name: '', email: null, external_id: null, metadata: '{}', purged_at: now })
          .where('id', 'in', (old) =>
            old
              .selectFrom('customers as old')
              .select('old.id')
              .where('old.deleted_at', '<=', now - DELETED_KEPT_MS)
              .where('old.purged_at', 'is', null)
              .limit(PURGED_AT_ONCE),
          )
          .returning('id')
          .execute();
        if (purged.length === 0) return 0;
        const ids = purged.map(({ id }) => id);
        await trx.updateTable('devices').set({ name: '' }).where('customer_id', 'in', ids).execute();
        await trx.deleteFrom('enrollment_tokens').where('customer_id', 'in', ids).execute();
        await trx.deleteFrom('snapshot_heads').where('customer_id', 'in', ids).execute();
        return ids.length;
      }),
  };
}

async function update(
  trx: StoreTransaction,
  { partner_id, id }: CustomerTable,
  values: Partial<CustomerTable>,
): Promise<void> {
  await trx
    .updateTable('customers')
    .set(values)
    .where('partner_id', '=', partner_id)
    .where('id', '=', id)
    .execute();
}

/** The columns that the fields would change. */
function changed(row: CustomerTable, fields: Partial<NewCustomer>): Partial<CustomerTable> {
  const wanted: Partial<CustomerTable> = {
    ...(fields.name === undefined ? {} : { name: fields.name }),
    ...(fields.email === undefined ? {} : { email: fields.email }),
    ...(fields.externalId === undefined ? {} : { external_id: fields.externalId }),
    ...(fields.planId === undefined ? {} : { plan_id: fields.planId }),
    ...(fields.metadata === undefined ? {} : { metadata: JSON.stringify(fields.metadata) }),
  };
  const entries = Object.entries(wanted).filter(
    ([name, value]) => row[name as keyof CustomerTable] !== value,
  );
  return Object.fromEntries(entries);
}

type Trial = Pick<CustomerTable, 'trial_ends_at' | 'first_trial_ends_at'>;

/** The trial of a plan. Each customer has one trial: a customer who returns to a trial plan keeps the original end. */
function trialOf({ trialDays }: Plan, first: number | null, now: number): Trial {
  if (trialDays === null) return { trial_ends_at: null, first_trial_ends_at: first };
  const end = first ?? now + trialDays * DAY_MS;
  return { trial_ends_at: end, first_trial_ends_at: end };
}

/**
 * Checks that the plan has a place for each existing device.
 * @throws {ApiError} QUOTA_EXCEEDED
 */
async function requirePlaces(trx: StoreTransaction, row: CustomerTable, plan: Plan): Promise<void> {
  const { count } = await trx
    .selectFrom('devices')
    .select((is) => is.fn.countAll<number>().as('count'))
    .where('partner_id', '=', row.partner_id)
    .where('customer_id', '=', row.id)
    .where('removed_at', 'is', null)
    .executeTakeFirstOrThrow();
  if (count <= plan.deviceLimit) return;
  const places = plan.deviceLimit === 1 ? 'a place for one' : `places for ${plan.deviceLimit}`;
  throw new ApiError('QUOTA_EXCEEDED', `The customer has ${count} devices, and that plan has ${places}`, {
    hint: 'Remove devices first, or choose a larger plan.',
    details: { device_limit: plan.deviceLimit, devices_count: count },
  });
}

async function requirePlan(trx: StoreTransaction, planId: string): Promise<Plan> {
  const plan = await planById(trx, planId);
  if (plan?.active === true) return plan;
  throw new ApiError('PLAN_NOT_FOUND', 'There is no plan with that id', {
    hint: 'GET /plans lists them.',
    details: { plan_id: planId },
  });
}

async function unlessTaken<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isTaken(error)) throw error;
    throw new ApiError('CUSTOMER_EXISTS', 'Another customer has that external_id', {
      hint: 'GET /customers?external_id= finds it.',
      cause: error,
    });
  }
}

/** The fields of a customer in audit records and events. */
function shown(row: CustomerTable): Readonly<Record<string, unknown>> {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    external_id: row.external_id,
    plan_id: row.plan_id,
    metadata: JSON.parse(row.metadata) as unknown,
    status: row.status,
  };
}
