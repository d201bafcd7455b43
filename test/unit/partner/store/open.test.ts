import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from 'kysely';
import { parseStoreAddress } from '../../../../src/partner/store/address.ts';
import { MIGRATIONS, migrate } from '../../../../src/partner/store/migrate.ts';
import type { MigrationDialect } from '../../../../src/partner/store/migrations/dialect.ts';
import {
  OWNER,
  STORE_KINDS,
  somePartner,
  storeSite,
  type StoreSite,
} from '../../../support/partner-store-site.ts';

describe('the address of a store', () => {
  it('names a file or a PostgreSQL database', () => {
    expect(parseStoreAddress('sqlite:/var/lib/x.db')).toEqual({ kind: 'sqlite', path: '/var/lib/x.db' });
    const url = 'postgres://me:secret@db.example.com/partner?sslmode=verify-full';
    expect(parseStoreAddress(url)).toEqual({ kind: 'postgres', url });
  });

  it.each([
    '',
    'sqlite:',
    '/var/lib/x.db',
    'mysql://me:secret@db/x',
    'postgres:secret',
    'postgres://secret:99999',
  ])('is refused without being repeated: %j', (text) => {
    expect(() => parseStoreAddress(text)).toThrow(
      expect.objectContaining({ code: 'INVALID_URL', message: expect.not.stringContaining('secret') }),
    );
  });
});

describe.each(STORE_KINDS)('a store on %s', (kind) => {
  let site: StoreSite;

  beforeEach(async () => {
    site = await storeSite(kind);
  });
  afterEach(async () => await site.remove());

  it('is made by the first that opens it, and found by those after', async () => {
    const first = await site.open();
    const partner = await somePartner(first);
    const second = await site.open();
    expect(await second.partners.get(partner.id)).toEqual(partner);
    expect((await second.plans.list()).map(({ slug }) => slug)).toEqual(['free_trial', 'pro', 'business']);
    expect((await second.plans.list()).map((plan) => plan.desktopRequestsPerHour)).toEqual([
      100, 1_000, 10_000,
    ]);
    await second.ping();
  });

  it('is brought up to date once when several instances start together', async () => {
    let statements = 0;
    const counted = [
      ...MIGRATIONS,
      ({ text }: MigrationDialect) => {
        statements += 1;
        return [`CREATE TABLE later (id ${text} PRIMARY KEY)`, "INSERT INTO later VALUES ('once')"];
      },
    ];
    await Promise.all(Array.from({ length: 5 }, async () => await site.open({ migrations: counted })));
    expect(statements).toBe(1);
    const { rows } = await sql`SELECT id FROM later`.execute(site.database().reader);
    expect(rows).toEqual([{ id: 'once' }]);
  });

  it('is refused when a newer program wrote it, which is told apart from damage', async () => {
    await site.open({ migrations: [...MIGRATIONS, () => ['CREATE TABLE later (id text)']] });
    await expect(site.open()).rejects.toMatchObject({
      code: 'NEWER_STATE',
      details: { version: MIGRATIONS.length + 1, known: MIGRATIONS.length },
    });
  });

  it('is refused with another key than its own, which changes nothing', async () => {
    const store = await site.open();
    const { id } = await somePartner(store);
    const { secret } = await store.apiKeys.generate(id, 'billing', OWNER);
    await expect(site.open({ pepper: randomBytes(32) })).rejects.toMatchObject({
      code: 'WRONG_SERVICE_KEY',
      hint: expect.stringContaining('partner.key'),
    });
    const again = await site.open();
    expect(await again.apiKeys.verify(secret)).toMatchObject({ key: { partnerId: id } });
  });

  it('is as it was when a step fails', async () => {
    await site.open();
    const broken = [...MIGRATIONS, () => ['CREATE TABLE later (id text)', 'INSERT INTO nowhere VALUES (1)']];
    await expect(site.open({ migrations: broken })).rejects.toThrow(/nowhere/);
    const db = site.database();
    await expect(sql`SELECT * FROM later`.execute(db.reader)).rejects.toThrow(/later/);
    await migrate(db);
    await db.reader.selectFrom('plans').selectAll().execute();
  });

  it('waits for another instance that writes, without failing', async () => {
    const [first, second] = [await site.open(), await site.open()];
    const made = await Promise.all(
      Array.from(
        { length: 40 },
        async (_, index) => await somePartner(index % 2 === 0 ? first : second, `p${index}`),
      ),
    );
    expect(new Set(made.map(({ id }) => id)).size).toBe(40);
    expect(await first.partners.list()).toHaveLength(40);
  });

  it('gives integers as numbers, and refuses one that is not exact', async () => {
    const store = await site.open();
    const { id } = await somePartner(store);
    const { reader } = site.database();
    await reader
      .updateTable('partners')
      .set({ totp_step: Number.MAX_SAFE_INTEGER })
      .where('id', '=', id)
      .execute();
    const row = await reader.selectFrom('partners').select('totp_step').executeTakeFirstOrThrow();
    expect(row.totp_step).toBe(Number.MAX_SAFE_INTEGER);
    if (kind === 'sqlite') return;
    await sql`UPDATE partners SET totp_step = 9007199254740993`.execute(reader);
    await expect(reader.selectFrom('partners').select('totp_step').execute()).rejects.toMatchObject({
      code: 'STATE_DAMAGED',
    });
  });

  it('keeps every audit record as it was written', async () => {
    await somePartner(await site.open());
    const { reader } = site.database();
    await expect(reader.updateTable('audit_log').set({ actor: 'nobody' }).execute()).rejects.toThrow(
      /append-only/,
    );
    await expect(reader.deleteFrom('audit_log').execute()).rejects.toThrow(/append-only/);
    expect(await reader.selectFrom('audit_log').select('actor').execute()).toEqual([{ actor: 'owner' }]);
  });

  it.runIf(kind === 'postgres')('ends statements and transactions that are stuck', async () => {
    const { reader } = site.database();
    const setting = async (name: string): Promise<unknown> =>
      (await sql<{ value: string }>`SELECT current_setting(${name}) AS value`.execute(reader)).rows[0]?.value;
    expect(await setting('statement_timeout')).toBe('30s');
    expect(await setting('idle_in_transaction_session_timeout')).toBe('1min');
  });

  it('undoes a change as a whole when a part of it fails', async () => {
    const store = await site.open();
    const db = site.database();
    const failing = db.writeAlone('acct_x', async (trx) => {
      await trx.updateTable('plans').set({ name: 'changed' }).execute();
      throw new Error('stop');
    });
    await expect(failing).rejects.toThrow('stop');
    expect((await store.plans.list()).map(({ name }) => name)).not.toContain('changed');
  });

  it('does not wait for the disk where a power cut may undo it, and does everywhere else', async () => {
    const db = site.database();
    const asked = kind === 'sqlite' ? sql`PRAGMA synchronous` : sql`SHOW synchronous_commit`;
    const answer = async (run: typeof db.write): Promise<unknown> =>
      await run(async (trx) => Object.values((await asked.execute(trx)).rows[0] ?? {})[0]);
    const [always, relaxed] = kind === 'sqlite' ? [2, 1] : ['on', 'off'];
    for (let round = 0; round < 3; round += 1) {
      expect(await answer(db.relaxed)).toBe(relaxed);
      expect(await answer(db.write)).toBe(always);
    }
  });
});

describe('a store in a file', () => {
  it('is for its user alone', async () => {
    const site = await storeSite('sqlite');
    try {
      await somePartner(await site.open());
      const path = site.address.slice('sqlite:'.length);
      for (const end of ['', '-wal', '-shm']) expect(statSync(`${path}${end}`).mode & 0o777).toBe(0o600);
    } finally {
      await site.remove();
    }
  });
});

describe.each(STORE_KINDS)('partners on %s', (kind) => {
  let site: StoreSite;

  beforeEach(async () => {
    site = await storeSite(kind);
  });
  afterEach(async () => await site.remove());

  it('are found by their address in either case, which is one account alone', async () => {
    const store = await site.open();
    const made = await somePartner(store, 'Acme');
    expect(await store.partners.findLogin('ACME@Example.com')).toMatchObject({
      ...made,
      passwordHash: 'argon2id',
    });
    await expect(somePartner(store, 'ACME')).rejects.toMatchObject({ code: 'PARTNER_EXISTS' });
  });

  it('take a code once, also when two instances are given it at once', async () => {
    const [first, second] = [await site.open(), await site.open()];
    const { id } = await somePartner(first);
    await first.partners.setTotp(id, 'sealed', OWNER);
    const taken = await Promise.all(
      [first, second, first].map(async ({ partners }) => await partners.takeTotpStep(id, 7)),
    );
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(await first.partners.takeTotpStep(id, 6)).toBe(false);
    expect(await first.partners.takeTotpStep(id, 8)).toBe(true);
  });
});
