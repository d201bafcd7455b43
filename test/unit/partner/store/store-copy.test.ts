/** Copies of the store for backups: whole, while the service goes on writing. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { copyStore, openPartnerStore } from '../../../../src/partner/store/store.ts';
import { someCustomer, somePartner, storeSite, type StoreSite } from '../../../support/partner-store-site.ts';

let site: StoreSite;
let directory: string;

beforeEach(async () => {
  site = await storeSite('sqlite');
  directory = mkdtempSync(join(tmpdir(), 'holdfast-copy-'));
});
afterEach(async () => {
  rmSync(directory, { recursive: true });
  await site.remove();
});

it('has everything that was there, though the store is in use, and takes the place of the copy before', async () => {
  const stores = await site.open();
  const partner = await somePartner(stores);
  const file = join(directory, 'copy.sqlite');
  copyStore(site.address, file);
  const customer = await someCustomer(stores, partner.id);
  copyStore(site.address, file);
  await stores.customers.remove(partner.id, customer.id, { name: 'test', keyId: null, ip: null });

  await using copy = await openPartnerStore(`sqlite:${file}`, site.clock, {
    pepper: site.pepper,
    chance: () => 0,
  });
  expect(await copy.partners.list()).toMatchObject([{ id: partner.id }]);
  expect(await copy.customers.get(partner.id, customer.id)).toMatchObject({ id: customer.id });
});

it('is for the program of PostgreSQL to make where the store is one', () => {
  expect(() => copyStore('postgres://holdfast@127.0.0.1/x', join(directory, 'copy'))).toThrow(
    expect.objectContaining({ hint: expect.stringContaining('pg_dump') }),
  );
});
