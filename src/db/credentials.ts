/** Credentials of the Desktop API. Of a secret only a keyed hash is stored. */
import { isDamage, isFailedQuery, type Database } from './database.ts';

export interface Credential {
  /** `hfk_…`; not a secret. */
  readonly apiKey: string;
  readonly name: string;
  readonly secretHash: Buffer;
  /** Rises when the secret is replaced: tokens of an earlier generation are invalid. */
  readonly generation: number;
  /** Milliseconds since 1970, as are all times here. */
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

export interface CredentialStore {
  /** The key must be new. */
  add(credential: Pick<Credential, 'apiKey' | 'name' | 'secretHash' | 'createdAt'>): Credential;
  /** Finds revoked credentials, too. */
  find(apiKey: string): Credential | undefined;
  /** Newest first, including revoked ones. */
  list(): readonly Credential[];
  /** Notes the last use. A failed write is ignored: a full disk must not keep anybody out. */
  used(apiKey: string, at: number): void;
  /** Replaces the secret; undefined when there is no such key, or it is revoked. */
  rotate(apiKey: string, secretHash: Buffer): Credential | undefined;
  /** False when there is no such key, or it is revoked already. */
  revoke(apiKey: string, at: number): boolean;
  /** Replaces the stored credential by one from a copy of the table. */
  restore(credential: Credential): void;
}

interface Row {
  readonly api_key: string;
  readonly name: string;
  readonly secret_hash: Buffer;
  readonly generation: number;
  readonly created_at: number;
  readonly last_used_at: number | null;
  readonly revoked_at: number | null;
}

/** @param changed called with every credential that is added, replaced or revoked, before the change takes effect */
export function createCredentialStore(
  db: Database,
  changed: (credential: Credential) => void,
): CredentialStore {
  const put = db.prepare<[string, string, Buffer, number, number, number | null, number | null]>(
    'INSERT INTO credentials VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const replace = db.prepare<[string, string, Buffer, number, number, number | null, number | null]>(
    'INSERT OR REPLACE INTO credentials VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const select = db.prepare<[string], Row>('SELECT * FROM credentials WHERE api_key = ?');
  const all = db.prepare<[], Row>('SELECT * FROM credentials ORDER BY created_at DESC, api_key');
  const touch = db.prepare<[number, string]>('UPDATE credentials SET last_used_at = ? WHERE api_key = ?');

  const find = (apiKey: string): Credential | undefined => {
    const row = select.get(apiKey);
    return row === undefined ? undefined : fromRow(row);
  };
  const change = db.transaction((credential: Credential): Credential => {
    replace.run(...toRow(credential));
    changed(credential);
    return credential;
  });
  const active = (apiKey: string): Credential | undefined => {
    const credential = find(apiKey);
    return credential?.revokedAt === null ? credential : undefined;
  };

  return {
    add: db.transaction(({ apiKey, name, secretHash, createdAt }): Credential => {
      const base = { apiKey, name, secretHash, createdAt };
      const credential: Credential = { ...base, generation: 1, lastUsedAt: null, revokedAt: null };
      put.run(...toRow(credential));
      changed(credential);
      return credential;
    }),
    find,
    list: () => all.all().map(fromRow),
    used: (apiKey, at) => {
      try {
        touch.run(at, apiKey);
      } catch (error) {
        if (!isFailedQuery(error) || isDamage(error)) throw error;
      }
    },
    rotate(apiKey, secretHash) {
      const credential = active(apiKey);
      if (credential === undefined) return undefined;
      return change({ ...credential, secretHash, generation: credential.generation + 1 });
    },
    revoke(apiKey, at) {
      const credential = active(apiKey);
      if (credential === undefined) return false;
      change({ ...credential, revokedAt: at });
      return true;
    },
    restore(credential) {
      replace.run(...toRow(credential));
    },
  };
}

function toRow(
  credential: Credential,
): [string, string, Buffer, number, number, number | null, number | null] {
  const { apiKey, name, secretHash, generation, createdAt, lastUsedAt, revokedAt } = credential;
  return [apiKey, name, secretHash, generation, createdAt, lastUsedAt, revokedAt];
}

function fromRow(row: Row): Credential {
  return {
    apiKey: row.api_key,
    name: row.name,
    secretHash: row.secret_hash,
    generation: row.generation,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  };
}
