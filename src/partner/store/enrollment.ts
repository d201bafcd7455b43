/** Enrolls devices. A token is valid once, within 15 minutes, and creates one device of one customer. */
import { ApiError } from '../../api/wire/api-error.ts';
import { newSecretText } from '../../api/access/secret-text.ts';
import { BugError } from '../../base/errors.ts';
import { recordChange, type Actor } from './audit-log.ts';
import { customerRow } from './customer-view.ts';
import { forUpdate, type StoreDatabase, type StoreTransaction } from './database.ts';
import { deviceData, deviceFromRow, type DeviceCaller } from './devices.ts';
import { appendEvent } from './events.ts';
import { noteEffect, type RunningKey } from './idempotency.ts';
import type { KeyedHash } from './keyed-hash.ts';
import { planById, type Plan } from './plans.ts';
import type { CustomerTable, DeviceTable, EnrollmentTokenTable } from './schema.ts';

const ENROLLMENT_MS = 15 * 60_000;

export interface NewEnrollmentToken {
  /** Shown once and not stored. */
  readonly token: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface NewDevice {
  readonly name: string;
  readonly platform: string;
  readonly agentVersion: string;
}

export interface EnrolledDevice extends DeviceCaller {
  /** The key of the device, which is returned once and not stored. */
  readonly key: string;
}

export interface EnrollmentStore {
  /**
   * Undefined when there is no such customer.
   * @throws {ApiError} FORBIDDEN while the customer is suspended, as no device could be enrolled with the token
   */
  createToken(partnerId: string, customerId: string, actor: Actor): Promise<NewEnrollmentToken | undefined>;
  /**
   * Creates a device of the token's customer. A token that is refused because of the plan, or because the customer or
   * the partner is suspended, is not used up.
   * @throws {ApiError} ENROLLMENT_TOKEN_INVALID, with the same text for a token that is unknown, used or too old, and
   * with a reason for one whose customer or partner is suspended; QUOTA_EXCEEDED when the plan has no device left
   * @param running the idempotency key of the request. If an earlier request with that key created a device, that
   * device gets a new key, since nobody received the first one.
   */
  enroll(token: string, device: NewDevice, ip: string | null, running?: RunningKey): Promise<EnrolledDevice>;
  /** Forgets tokens that are too old to be used. */
  prune(): Promise<void>;
}

export function createEnrollmentStore(db: StoreDatabase, hash: KeyedHash): EnrollmentStore {
  return {
    createToken: async (partnerId, customerId, actor) =>
      await db.writeAlone(partnerId, async (trx) => {
        const customer = await customerRow(trx, partnerId, customerId);
        if (customer === undefined) return undefined;
        if (customer.status === 'suspended')
          throw new ApiError('FORBIDDEN', 'The customer is suspended, so no device can be enrolled', {
            hint: 'Resume the customer first.',
            details: { reason: 'customer_suspended' },
          });
        const token = newSecretText('hfe_');
        const now = db.now();
        const expiresAt = now + ENROLLMENT_MS;
        await trx
          .insertInto('enrollment_tokens')
          .values({
            hash: hash('enrollment', token),
            partner_id: partnerId,
            customer_id: customerId,
            created_at: now,
            expires_at: expiresAt,
          })
          .execute();
        await recordChange(db, trx, partnerId, actor, {
          action: 'enrollment_token.created',
          target: customerId,
          before: null,
          after: { expires_at: new Date(expiresAt).toISOString() },
        });
        return { token, createdAt: now, expiresAt };
      }),

    enroll: async (token, facts, ip, running) =>
      await db.write(async (trx) => {
        const key = newSecretText('hfd_');
        if (running?.effect) {
          const known = { token: hash('enrollment', token), key: hash('device key', key) };
          return await enrolledBefore(db, trx, running.effect, known, key);
        }
        const deviceId = db.newId('dev');
        const used = await useToken(db, trx, hash('enrollment', token), deviceId);
        const customer = used === undefined ? undefined : await activeCustomer(db, trx, used);
        if (customer === undefined) throw invalidToken();
        const plan = await requireRoom(trx, customer);
        const row: DeviceTable = {
          id: deviceId,
          partner_id: customer.partner_id,
          customer_id: customer.id,
          name: facts.name,
          platform: facts.platform,
          agent_version: facts.agentVersion,
          key_hash: hash('device key', key),
          enrolled_at: db.now(),
          last_seen_at: null,
          removed_at: null,
          last_backup: null,
          last_backup_at: null,
          storage_used_bytes: 0,
          storage_at: 0,
          storage_seq: 0,
          expected_every_seconds: null,
          expected_since: null,
          missed_since: null,
          report_seq: 0,
        };
        await trx.insertInto('devices').values(row).execute();
        const data = deviceData(row);
        const actor: Actor = { name: 'device', keyId: null, ip };
        await recordChange(db, trx, row.partner_id, actor, {
          action: 'device.enrolled',
          target: deviceId,
          before: null,
          after: data,
        });
        await appendEvent(db, trx, row.partner_id, {
          kind: 'device.enrolled',
          customerId: row.customer_id,
          deviceId,
          data,
        });
        await noteEffect(trx, running, deviceId);
        return enrolled(row, customer, plan, key);
      }),

    prune: async () => {
      await db.write(async (trx) => {
        await trx.deleteFrom('enrollment_tokens').where('expires_at', '<=', db.now()).execute();
      });
    },
  };
}

function invalidToken(): ApiError {
  return new ApiError(
    'ENROLLMENT_TOKEN_INVALID',
    'The enrollment token is unknown, already used or expired',
    {
      hint: 'Ask for a new one: each works once, for 15 minutes.',
    },
  );
}

/** Only somebody who has a valid token learns this. */
function suspendedToken(what: 'customer' | 'partner'): ApiError {
  return new ApiError('ENROLLMENT_TOKEN_INVALID', `The ${what} of this enrollment token is suspended`, {
    hint: 'The token can be used once that has ended, within its 15 minutes.',
    details: { reason: `${what}_suspended` },
  });
}

function enrolled(row: DeviceTable, customer: CustomerTable, plan: Plan, key: string): EnrolledDevice {
  return {
    partnerId: row.partner_id,
    partnerStatus: 'active',
    device: deviceFromRow(row),
    customerStatus: customer.status,
    trialEndsAt: customer.trial_ends_at,
    plan,
    key,
  };
}

/**
 * Returns the device that an earlier request created, with a new key, because the first key was lost with its response.
 * @throws {ApiError} ENROLLMENT_TOKEN_INVALID when the device or the token no longer exists
 */
async function enrolledBefore(
  db: StoreDatabase,
  trx: StoreTransaction,
  deviceId: string,
  hashes: { readonly token: string; readonly key: string },
  key: string,
): Promise<EnrolledDevice> {
  const used = await trx
    .selectFrom('enrollment_tokens')
    .selectAll()
    .where('hash', '=', hashes.token)
    .where('device_id', '=', deviceId)
    .executeTakeFirst();
  if (used === undefined) throw invalidToken();
  const row = await trx
    .updateTable('devices')
    .set({ key_hash: hashes.key })
    .where('partner_id', '=', used.partner_id)
    .where('id', '=', deviceId)
    .where('removed_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
  const customer = row === undefined ? undefined : await activeCustomer(db, trx, used);
  const plan = customer === undefined ? undefined : await planById(trx, customer.plan_id);
  if (row === undefined || customer === undefined || plan === undefined) throw invalidToken();
  return enrolled(row, customer, plan, key);
}

/** Marks the token as used in a single statement, so that only one of two concurrent requests succeeds. */
async function useToken(
  db: StoreDatabase,
  trx: StoreTransaction,
  hash: string,
  deviceId: string,
): Promise<EnrollmentTokenTable | undefined> {
  return await trx
    .updateTable('enrollment_tokens')
    .set({ used_at: db.now(), device_id: deviceId })
    .where('hash', '=', hash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', db.now())
    .returningAll()
    .executeTakeFirst();
}

/**
 * The active customer of the token; undefined when it was deleted. The customer's row stays locked until the transaction ends, so that two devices cannot both take the last place of a
 * plan.
 * @throws {ApiError} ENROLLMENT_TOKEN_INVALID while the customer or the partner is suspended
 */
async function activeCustomer(
  db: StoreDatabase,
  trx: StoreTransaction,
  { partner_id, customer_id }: EnrollmentTokenTable,
): Promise<CustomerTable | undefined> {
  const partner = await trx
    .selectFrom('partners')
    .select('status')
    .where('id', '=', partner_id)
    .executeTakeFirst();
  if (partner?.status === 'suspended') throw suspendedToken('partner');
  const customer = await trx
    .selectFrom('customers')
    .selectAll()
    .where('partner_id', '=', partner_id)
    .where('id', '=', customer_id)
    .where('deleted_at', 'is', null)
    .$call(forUpdate(db))
    .executeTakeFirst();
  if (customer?.status === 'suspended') throw suspendedToken('customer');
  return customer;
}

/**
 * The plan of the customer, which must have a device left.
 * @throws {ApiError} QUOTA_EXCEEDED
 */
async function requireRoom(trx: StoreTransaction, customer: CustomerTable): Promise<Plan> {
  const plan = await planById(trx, customer.plan_id);
  const { count } = await trx
    .selectFrom('devices')
    .select((is) => is.fn.countAll<number>().as('count'))
    .where('partner_id', '=', customer.partner_id)
    .where('customer_id', '=', customer.id)
    .where('removed_at', 'is', null)
    .executeTakeFirstOrThrow();
  if (plan === undefined) throw new BugError('a customer has no plan');
  const limit = plan.deviceLimit;
  if (count < limit) return plan;
  throw new ApiError('QUOTA_EXCEEDED', 'The plan of the customer does not allow another device', {
    hint: 'Remove a device, or give the customer a larger plan.',
    details: { device_limit: limit },
  });
}
