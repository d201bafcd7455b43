/** Stores partners, who have accounts with the service. */
import { RequestError } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { recordChange, type Actor } from './audit-log.ts';
import { isTaken, type StoreDatabase } from './database.ts';
import type { PartnerTable } from './schema.ts';

export interface Partner {
  readonly id: string;
  readonly name: string;
  readonly company: string | null;
  readonly email: string;
  readonly status: PartnerTable['status'];
  /** Whether signing in needs a code in addition to the password. */
  readonly hasTotp: boolean;
  readonly createdAt: number;
}

/** A partner with what is needed to sign in. */
export interface PartnerLogin extends Partner {
  readonly passwordHash: string;
  /** Encrypted (sealing.ts); null without a second factor. */
  readonly totpSecret: string | null;
}

export interface NewPartner {
  readonly name: string;
  readonly company: string | null;
  readonly email: string;
  readonly passwordHash: string;
}

export interface PartnerStore {
  /** @throws {RequestError} PARTNER_EXISTS when there is one with that address */
  create(partner: NewPartner, actor: Actor): Promise<Partner>;
  get(partnerId: string): Promise<Partner | undefined>;
  /** Upper and lower case are equal. */
  findLogin(email: string): Promise<PartnerLogin | undefined>;
  list(): Promise<readonly Partner[]>;
  /** False when the partner has that status already, or does not exist. */
  setStatus(partnerId: string, status: Partner['status'], actor: Actor): Promise<boolean>;
  setPassword(partnerId: string, passwordHash: string, actor: Actor): Promise<void>;
  /**
   * For somebody who has lost the password or the second factor: sets a password, turns the second factor off and ends
   * all sessions.
   */
  resetAccess(partnerId: string, passwordHash: string, actor: Actor): Promise<void>;
  /** Sets the secret of the second factor; null turns it off. */
  setTotp(partnerId: string, sealedSecret: string | null, actor: Actor): Promise<void>;
  /** Uses up the code of a time step. True only once for a step, and never for an earlier step than the last one used. */
  takeTotpStep(partnerId: string, step: number): Promise<boolean>;
}

export function createPartnerStore(db: StoreDatabase): PartnerStore {
  /** Changes a secret. The audit record says only that it was changed. */
  const setSecret = async (
    partnerId: string,
    values: Partial<Pick<PartnerTable, 'password_hash' | 'totp_secret' | 'totp_step'>>,
    action: string,
    actor: Actor,
  ): Promise<void> => {
    await db.writeAlone(partnerId, async (trx) => {
      await trx.updateTable('partners').set(values).where('id', '=', partnerId).executeTakeFirst();
      await recordChange(db, trx, partnerId, actor, { action, target: partnerId, before: null, after: null });
    });
  };

  return {
    async create({ name, company, email, passwordHash }, actor) {
      const row: PartnerTable = {
        id: db.newId('acct'),
        name,
        company,
        email: email.toLowerCase(),
        password_hash: passwordHash,
        totp_secret: null,
        totp_step: null,
        status: 'active',
        created_at: db.now(),
        events_seq: 0,
        resumed_at: null,
      };
      try {
        await db.write(async (trx) => {
          await trx.insertInto('partners').values(row).execute();
          const after = { name, company, email: row.email };
          await recordChange(db, trx, row.id, actor, {
            action: 'partner.created',
            target: row.id,
            before: null,
            after,
          });
        });
      } catch (error) {
        if (!isTaken(error)) throw error;
        throw new RequestError('PARTNER_EXISTS', 'There is already an account with that e-mail address', {
          hint: `Sign in with it at /settings, or use another address. A lost password is replaced with: ${holdfast`partner reset EMAIL`}`,
        });
      }
      return fromRow(row);
    },

    async get(partnerId) {
      const row = await db.reader
        .selectFrom('partners')
        .selectAll()
        .where('id', '=', partnerId)
        .executeTakeFirst();
      return row === undefined ? undefined : fromRow(row);
    },

    async findLogin(email) {
      const row = await db.reader
        .selectFrom('partners')
        .selectAll()
        .where('email', '=', email.toLowerCase())
        .executeTakeFirst();
      if (row === undefined) return undefined;
      return { ...fromRow(row), passwordHash: row.password_hash, totpSecret: row.totp_secret };
    },

    list: async () =>
      (await db.reader.selectFrom('partners').selectAll().orderBy('id').execute()).map(fromRow),

    setStatus: async (partnerId, status, actor) =>
      await db.writeAlone(partnerId, async (trx) => {
        const { numUpdatedRows } = await trx
          .updateTable('partners')
          .set(status === 'active' ? { status, resumed_at: db.now() } : { status })
          .where('id', '=', partnerId)
          .where('status', '!=', status)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        await recordChange(db, trx, partnerId, actor, {
          action: status === 'active' ? 'partner.resumed' : 'partner.suspended',
          target: partnerId,
          before: null,
          after: { status },
        });
        return true;
      }),

    setPassword: async (partnerId, passwordHash, actor) => {
      await setSecret(partnerId, { password_hash: passwordHash }, 'partner.password_changed', actor);
    },

    resetAccess: async (partnerId, passwordHash, actor) => {
      await db.writeAlone(partnerId, async (trx) => {
        await trx
          .updateTable('partners')
          .set({ password_hash: passwordHash, totp_secret: null, totp_step: null })
          .where('id', '=', partnerId)
          .executeTakeFirst();
        await trx.deleteFrom('sessions').where('partner_id', '=', partnerId).execute();
        await recordChange(db, trx, partnerId, actor, {
          action: 'partner.access_reset',
          target: partnerId,
          before: null,
          after: null,
        });
      });
    },

    setTotp: async (partnerId, sealedSecret, actor) => {
      const action = sealedSecret === null ? 'partner.totp_removed' : 'partner.totp_set';
      await setSecret(partnerId, { totp_secret: sealedSecret, totp_step: null }, action, actor);
    },

    takeTotpStep: async (partnerId, step) =>
      await db.write(async (trx) => {
        const { numUpdatedRows } = await trx
          .updateTable('partners')
          .set({ totp_step: step })
          .where('id', '=', partnerId)
          .where((is) => is.or([is('totp_step', 'is', null), is('totp_step', '<', step)]))
          .executeTakeFirst();
        return numUpdatedRows > 0n;
      }),
  };
}

function fromRow(row: PartnerTable): Partner {
  return {
    id: row.id,
    name: row.name,
    company: row.company,
    email: row.email,
    status: row.status,
    hasTotp: row.totp_secret !== null,
    createdAt: row.created_at,
  };
}
