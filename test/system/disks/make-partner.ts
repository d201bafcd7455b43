/** Makes the store of a Partner service on its disk, and devices that are enrolled there. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { PARTNER_PLACE, openPartnerDisk } from './partner-disk.ts';

export interface MadePartner {
  readonly partnerId: string;
  /** The keys of the devices. */
  readonly devices: readonly string[];
}

export async function makePartner(port: number, count: number): Promise<MadePartner> {
  mkdirSync(PARTNER_PLACE, { recursive: true, mode: 0o700 });
  writeFileSync(`${PARTNER_PLACE}/partner.json`, JSON.stringify({ listen: { port } }), { mode: 0o600 });
  const owner = { name: 'system test', keyId: null, ip: null };
  await using stores = await openPartnerDisk();
  const plan = await stores.plans.findBySlug('business');
  const partner = await stores.partners.create(
    { name: 'Partner', company: null, email: 'partner@example.org', passwordHash: '-' },
    owner,
  );
  const about = { name: 'Customer', email: null, externalId: null, planId: plan?.id ?? '', metadata: {} };
  const customer = await stores.customers.create(partner.id, about, owner);
  const devices: string[] = [];
  for (let number = 0; number < count; number += 1) {
    const token = await stores.enrollment.createToken(partner.id, customer.id, owner);
    const device = { name: `device ${number}`, platform: 'linux-x64', agentVersion: '1.0.0' };
    devices.push((await stores.enrollment.enroll(token?.token ?? '', device, null)).key);
  }
  return { partnerId: partner.id, devices };
}
