/** Stores devices, which are agents enrolled for a customer. */
import { type Actor, recordChange } from './audit-log.ts';
import { forUpdate, type StoreDatabase, type StoreReader, type StoreTransaction } from './database.ts';
import { appendEvent } from './events.ts';
import type { KeyedHash } from './keyed-hash.ts';
import { writeRemoval } from './meter-rows.ts';
import { type Page, pageOf, type PageRequest } from './page.ts';
import { type Plan, planById } from './plans.ts';
import type { BackupOutcome } from './report.ts';
import type { CustomerTable, DeviceTable, PartnerTable } from './schema.ts';

export interface Device {
  readonly id: string;
  readonly customerId: string;
  readonly name: string;
  readonly platform: string;
  readonly agentVersion: string;
  readonly enrolledAt: number;
  readonly lastSeenAt: number | null;
  readonly lastBackup: BackupOutcome | null;
  readonly storageUsedBytes: number;
  readonly expectedEverySeconds: number | null;
  /** Time at which a backup was marked as missed; null when none is. */
  readonly missedSince: number | null;
  /** The highest sequence number of its reports. */
  readonly reportSeq: number;
}

/** A device found by its key, with everything that decides what it may do. */
export interface DeviceCaller {
  readonly partnerId: string;
  readonly partnerStatus: PartnerTable['status'];
  readonly device: Device;
  readonly customerStatus: CustomerTable['status'];
  readonly trialEndsAt: number | null;
  readonly plan: Plan;
}

export interface DeviceStore {
  get(partnerId: string, id: string): Promise<Device | undefined>;
  /** Newest first. */
  list(partnerId: string, customerId: string, request: PageRequest): Promise<Page<Device>>;
  /** False when there is no such device. */
  remove(partnerId: string, id: string, actor: Actor): Promise<boolean>;
  /** The device with that key; undefined when the key is unknown or the device was removed. */
  verify(key: string): Promise<DeviceCaller | undefined>;
  /**
   * Marks devices whose backup is late, and adds an event for each, once. Returns their number; call again when it
   * equals `limit`.
   */
  markMissed(limit: number): Promise<number>;
}

/** A backup is late when none ended within this multiple of the expected interval. */
const LATE_FACTOR = 1.5;
/**
 * Time that devices have, such as after an outage, to report what they could not report before: their longest pause
 * between two attempts, plus the reports that follow. Until then it is unknown whether a backup is late.
 */
export const HEARD_MS = 20 * 60_000;

export function createDeviceStore(db: StoreDatabase, hash: KeyedHash): DeviceStore {
  return {
    async get(partnerId, id) {
      const row = await present(db.reader, partnerId).where('id', '=', id).executeTakeFirst();
      return row === undefined ? undefined : deviceFromRow(row);
    },

    async list(partnerId, customerId, { limit, before }) {
      const rows = await present(db.reader, partnerId)
        .where('customer_id', '=', customerId)
        .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
        .orderBy('id', 'desc')
        .limit(limit + 1)
        .execute();
      return pageOf(rows, limit, deviceFromRow);
    },

    remove: async (partnerId, id, actor) =>
      await db.writeAlone(partnerId, async (trx) => {
        const [row] = await removeDevices(db, trx, partnerId, { deviceId: id }, db.now());
        if (row === undefined) return false;
        const data = deviceData(row);
        await recordChange(db, trx, partnerId, actor, {
          action: 'device.removed',
          target: id,
          before: data,
          after: null,
        });
        await appendEvent(db, trx, partnerId, {
          kind: 'device.removed',
          customerId: row.customer_id,
          deviceId: id,
          data,
        });
        return true;
      }),

    async verify(key) {
      const row = await db.reader
        .selectFrom('devices')
        .innerJoin('customers', 'customers.id', 'devices.customer_id')
        .innerJoin('partners', 'partners.id', 'devices.partner_id')
        .selectAll('devices')
        .select([
          'partners.status as partner_status',
          'customers.status as customer_status',
          'customers.trial_ends_at',
          'customers.plan_id',
        ])
        .where('devices.key_hash', '=', hash('device key', key))
        .where('devices.removed_at', 'is', null)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const plan = await planById(db.reader, row.plan_id);
      if (plan === undefined) return undefined;
      return {
        partnerId: row.partner_id,
        partnerStatus: row.partner_status,
        device: deviceFromRow(row),
        customerStatus: row.customer_status,
        trialEndsAt: row.trial_ends_at,
        plan,
      };
    },

    async markMissed(limit) {
      const now = db.now();
      const late = await db.reader
        .selectFrom('devices')
        .innerJoin('customers', 'customers.id', 'devices.customer_id')
        .innerJoin('partners', 'partners.id', 'devices.partner_id')
        .select(['devices.id', 'devices.partner_id', 'devices.last_backup_at', 'devices.expected_since'])
        .where('customers.status', '=', 'active')
        // A suspended partner's devices cannot report.
        .where('partners.status', '=', 'active')
        .where((is) => is(is.fn.coalesce('partners.resumed_at', is.lit(0)), '<=', now - HEARD_MS))
        .where('devices.removed_at', 'is', null)
        .where('devices.missed_since', 'is', null)
        .where('devices.expected_every_seconds', 'is not', null)
        .where((is) => {
          const lateAfter = is(
            is.cast<number>('devices.expected_every_seconds', 'bigint'),
            '*',
            LATE_FACTOR * 1000,
          );
          const [last, since] = [
            is.fn.coalesce('devices.last_backup_at', 'devices.enrolled_at'),
            is.fn.coalesce('devices.expected_since', is.lit(0)),
          ];
          return is.and([is(is(last, '+', lateAfter), '<', now), is(is(since, '+', lateAfter), '<', now)]);
        })
        .limit(limit)
        .execute();
      // Each device has its own transaction, so that nobody waits for all of them.
      for (const device of late) await markOne(db, device, now);
      return late.length;
    },
  };
}

type Late = Pick<DeviceTable, 'id' | 'partner_id' | 'last_backup_at' | 'expected_since'>;

async function markOne(
  db: StoreDatabase,
  { id, partner_id: partnerId, last_backup_at: last, expected_since: since }: Late,
  now: number,
): Promise<void> {
  await db.write(async (trx) => {
    const row = await trx
      .updateTable('devices')
      .set({ missed_since: now })
      .where('partner_id', '=', partnerId)
      .where('id', '=', id)
      // Another instance may have marked the device meanwhile.
      .where('missed_since', 'is', null)
      // The device may have reported a backup meanwhile, or another schedule.
      .where('last_backup_at', last === null ? 'is' : '=', last)
      .where('expected_since', since === null ? 'is' : '=', since)
      .where('removed_at', 'is', null)
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) return;
    const data = {
      ...deviceData(row),
      expected_every_seconds: row.expected_every_seconds,
      last_backup_at: row.last_backup_at === null ? null : new Date(row.last_backup_at).toISOString(),
    };
    await appendEvent(db, trx, partnerId, {
      kind: 'backup.missed',
      customerId: row.customer_id,
      deviceId: id,
      data,
    });
  });
}

function present(reader: StoreReader, partnerId: string) {
  return reader
    .selectFrom('devices')
    .selectAll()
    .where('partner_id', '=', partnerId)
    .where('removed_at', 'is', null);
}

/** The fields of a device in audit records and events. */
export function deviceData(
  row: Pick<DeviceTable, 'id' | 'customer_id' | 'name' | 'platform'>,
): Readonly<Record<string, unknown>> {
  return { device_id: row.id, customer_id: row.customer_id, name: row.name, platform: row.platform };
}

export function deviceFromRow(row: DeviceTable): Device {
  return {
    id: row.id,
    customerId: row.customer_id,
    name: row.name,
    platform: row.platform,
    agentVersion: row.agent_version,
    enrolledAt: row.enrolled_at,
    lastSeenAt: row.last_seen_at,
    lastBackup: row.last_backup === null ? null : (JSON.parse(row.last_backup) as BackupOutcome),
    storageUsedBytes: row.storage_used_bytes,
    expectedEverySeconds: row.expected_every_seconds,
    missedSince: row.missed_since,
    reportSeq: row.report_seq,
  };
}

/**
 * Removes devices. Their keys become invalid at once, and from that day on their storage is not billed. Removes all
 * devices of a customer, or a single one. Returns the rows as they were before.
 */
export async function removeDevices(
  db: StoreDatabase,
  trx: StoreTransaction,
  partnerId: string,
  which: { readonly customerId: string } | { readonly deviceId: string },
  removedAt: number,
): Promise<readonly DeviceTable[]> {
  const devices = trx
    .selectFrom('devices')
    .selectAll()
    .where('partner_id', '=', partnerId)
    .where('removed_at', 'is', null);
  const rows = await (
    'deviceId' in which
      ? devices.where('id', '=', which.deviceId)
      : devices.where('customer_id', '=', which.customerId)
  )
    .$call(forUpdate(db))
    .execute();
  for (const row of rows) {
    await trx
      .updateTable('devices')
      .set({ removed_at: removedAt })
      .where('partner_id', '=', partnerId)
      .where('id', '=', row.id)
      .execute();
    await writeRemoval(trx, row, removedAt);
  }
  return rows;
}
