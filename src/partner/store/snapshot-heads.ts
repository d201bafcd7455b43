/**
 * The witness of snapshot heads: stores how far each writer of a repository had come, as reported by devices. A
 * repository that was rolled back does not know what it lost, and neither does an agent without its state, but this
 * store does. It contains only numbers and hashes.
 */
import { recordChange, type Actor } from './audit-log.ts';
import { forUpdate, type StoreDatabase, type StoreTransaction } from './database.ts';
import type { SnapshotHeadTable } from './schema.ts';

/** The newest record of a writer's chain. */
export interface SnapshotHead {
  readonly repositoryId: string;
  readonly writer: string;
  readonly seq: number;
  /** SHA-256 of the record, in hex. */
  readonly hash: string;
}

/** The device that reports heads, and in which report. */
export interface HeadTeller {
  readonly partnerId: string;
  readonly customerId: string;
  readonly deviceId: string;
  readonly reportSeq: number;
  readonly ip: string | null;
}

/**
 * `rolled_back`: its number is lower than one that the device reported before. `forked`: a different record had that
 * number. `too_many`: the device reports more writers than are stored.
 */
export type HeadRefusal = 'rolled_back' | 'forked' | 'too_many';

export interface RefusedHead extends SnapshotHead {
  readonly reason: HeadRefusal;
  /** The number that stays stored; null when there is none. */
  readonly rememberedSeq: number | null;
}

export interface RememberedHead extends SnapshotHead {
  readonly deviceId: string;
  readonly toldAt: number;
}

export interface HeadQuery {
  readonly partnerId: string;
  readonly customerId: string;
  readonly repositoryId: string;
  readonly limit: number;
  /** `next` of the previous page. */
  readonly after?: string | undefined;
}

export interface SnapshotHeadStore {
  /**
   * Stores the highest head of each writer, separately for each device that reports it. Returns the heads that it
   * refuses, which change nothing. The first refusal for a writer within a day is recorded in the audit log.
   */
  remember(teller: HeadTeller, heads: readonly SnapshotHead[]): Promise<readonly RefusedHead[]>;
  /**
   * The heads that all devices of a customer reported for a repository, including removed devices, ordered by writer
   * and device.
   */
  list(
    query: HeadQuery,
  ): Promise<{ readonly items: readonly RememberedHead[]; readonly next: string | undefined }>;
}

/** Writers of a device, in all its repositories: one for each machine that ever wrote there. */
export const MOST_WRITERS = 256;
/**
 * Interval between recorded refusals: a device that keeps reporting the same wrong head must not fill the audit log,
 * from which nothing is ever removed.
 */
const REFUSAL_RECORDED_MS = 86_400_000;

export function createSnapshotHeadStore(db: StoreDatabase): SnapshotHeadStore {
  return {
    remember: async (teller, heads) => {
      if (heads.length === 0) return [];
      return await db.write(async (trx) => {
        await lockDevice(db, trx, teller);
        const refused: RefusedHead[] = [];
        for (const head of heads) {
          const refusal = await rememberOne(db, trx, teller, head);
          if (refusal !== undefined) refused.push(refusal);
        }
        return refused;
      });
    },

    async list({ partnerId, customerId, repositoryId, limit, after }) {
      const [writer = '', deviceId = ''] = (after ?? '').split(' ');
      const rows = await db.reader
        .selectFrom('snapshot_heads')
        .selectAll()
        .where('partner_id', '=', partnerId)
        .where('customer_id', '=', customerId)
        .where('repository_id', '=', repositoryId)
        .where((is) =>
          is.or([
            is('writer', '>', writer),
            is.and([is('writer', '=', writer), is('device_id', '>', deviceId)]),
          ]),
        )
        .orderBy('writer')
        .orderBy('device_id')
        .limit(limit + 1)
        .execute();
      const shown = rows.slice(0, limit);
      const last = shown.at(-1);
      return {
        items: shown.map(fromRow),
        next: rows.length > limit && last !== undefined ? `${last.writer} ${last.device_id}` : undefined,
      };
    },
  };
}

/** Locks the device, so that its reports are handled one after the other. */
async function lockDevice(
  db: StoreDatabase,
  trx: StoreTransaction,
  { partnerId, deviceId }: HeadTeller,
): Promise<void> {
  await trx
    .selectFrom('devices')
    .select('id')
    .where('partner_id', '=', partnerId)
    .where('id', '=', deviceId)
    .$call(forUpdate(db))
    .execute();
}

async function rememberOne(
  db: StoreDatabase,
  trx: StoreTransaction,
  teller: HeadTeller,
  head: SnapshotHead,
): Promise<RefusedHead | undefined> {
  const known = await knownHead(trx, teller, head);
  if (known === undefined) {
    if (await insert(db, trx, teller, head)) return undefined;
    return { ...head, reason: 'too_many', rememberedSeq: null };
  }
  if (head.seq > known.seq) {
    await update(trx, known, {
      seq: head.seq,
      hash: head.hash,
      report_seq: Math.max(known.report_seq, teller.reportSeq),
      told_at: db.now(),
    });
    return undefined;
  }
  const reason = refusalOf(known, teller, head);
  if (reason === undefined) {
    if (head.seq === known.seq && teller.reportSeq > known.report_seq)
      await update(trx, known, { report_seq: teller.reportSeq });
    return undefined;
  }
  await recordRefusal(db, trx, teller, known, { head, reason });
  return { ...head, reason, rememberedSeq: known.seq };
}

/** Undefined for a head that is not news: the same head, or an older one in a report that is older as well. */
function refusalOf(
  known: SnapshotHeadTable,
  { reportSeq }: HeadTeller,
  { seq, hash }: SnapshotHead,
): HeadRefusal | undefined {
  if (seq === known.seq) return hash === known.hash ? undefined : 'forked';
  return reportSeq > known.report_seq ? 'rolled_back' : undefined;
}

async function knownHead(
  trx: StoreTransaction,
  { partnerId, deviceId }: HeadTeller,
  { repositoryId, writer }: SnapshotHead,
): Promise<SnapshotHeadTable | undefined> {
  return await trx
    .selectFrom('snapshot_heads')
    .selectAll()
    .where('partner_id', '=', partnerId)
    .where('device_id', '=', deviceId)
    .where('repository_id', '=', repositoryId)
    .where('writer', '=', writer)
    .executeTakeFirst();
}

/** Stores a new head; false when the device has as many as allowed. */
async function insert(
  db: StoreDatabase,
  trx: StoreTransaction,
  { partnerId, customerId, deviceId, reportSeq }: HeadTeller,
  { repositoryId, writer, seq, hash }: SnapshotHead,
): Promise<boolean> {
  const { count } = await trx
    .selectFrom('snapshot_heads')
    .select((is) => is.fn.countAll<number>().as('count'))
    .where('partner_id', '=', partnerId)
    .where('device_id', '=', deviceId)
    .executeTakeFirstOrThrow();
  if (count >= MOST_WRITERS) return false;
  await trx
    .insertInto('snapshot_heads')
    .values({
      partner_id: partnerId,
      customer_id: customerId,
      device_id: deviceId,
      repository_id: repositoryId,
      writer,
      seq,
      hash,
      report_seq: reportSeq,
      told_at: db.now(),
      refused_at: null,
    })
    .execute();
  return true;
}

async function update(
  trx: StoreTransaction,
  known: SnapshotHeadTable,
  values: Partial<SnapshotHeadTable>,
): Promise<void> {
  await trx
    .updateTable('snapshot_heads')
    .set(values)
    .where('partner_id', '=', known.partner_id)
    .where('device_id', '=', known.device_id)
    .where('repository_id', '=', known.repository_id)
    .where('writer', '=', known.writer)
    .execute();
}

async function recordRefusal(
  db: StoreDatabase,
  trx: StoreTransaction,
  { partnerId, deviceId, ip }: HeadTeller,
  known: SnapshotHeadTable,
  { head, reason }: { readonly head: SnapshotHead; readonly reason: HeadRefusal },
): Promise<void> {
  const now = db.now();
  if (known.refused_at !== null && known.refused_at > now - REFUSAL_RECORDED_MS) return;
  await update(trx, known, { refused_at: now });
  const actor: Actor = { name: 'device', keyId: null, ip };
  const stays = { seq: known.seq, hash: known.hash };
  await recordChange(db, trx, partnerId, actor, {
    action: 'snapshot_head.refused',
    target: deviceId,
    before: stays,
    after: {
      ...stays,
      reason,
      repository_id: head.repositoryId,
      writer: head.writer,
      refused: { seq: head.seq, hash: head.hash },
    },
  });
}

function fromRow(row: SnapshotHeadTable): RememberedHead {
  return {
    repositoryId: row.repository_id,
    writer: row.writer,
    seq: row.seq,
    hash: row.hash,
    deviceId: row.device_id,
    toldAt: row.told_at,
  };
}
