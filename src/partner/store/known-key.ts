/** A store and the key of its service belong together: with another key every API key, token and device is unknown. */
import { StateError } from '../../base/errors.ts';
import type { StoreDatabase } from './database.ts';
import type { KeyedHash } from './keyed-hash.ts';

/**
 * The first key that a store is opened with is its own.
 * @throws {StateError} WRONG_SERVICE_KEY for any other
 */
export async function requireServiceKey(db: StoreDatabase, hash: KeyedHash): Promise<void> {
  const own = hash('service key', '');
  const known = await db.write(async (trx) => {
    await trx
      .insertInto('service_key')
      .values({ place: 1, hash: own })
      .onConflict((conflict) => conflict.column('place').doNothing())
      .execute();
    return await trx.selectFrom('service_key').select('hash').executeTakeFirstOrThrow();
  });
  if (known.hash === own) return;
  throw new StateError('WRONG_SERVICE_KEY', 'The database of the service belongs to another key', {
    hint: 'Put back the key file that belongs to it (keyFile in partner.json, partner.key unless it names another).',
  });
}
