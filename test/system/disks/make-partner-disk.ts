/** Makes a disk with the store of a Partner service and devices that are enrolled there. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { given, mountDisk, run, unmountDisk, type DiskFacts } from './mounted-disk.ts';
import { openPartnerDisk } from './partner-disk.ts';

export interface MadePartnerDisk {
  readonly partnerId: string;
  /** The keys of the devices. */
  readonly devices: readonly string[];
}

interface Given extends DiskFacts {
  readonly port: number;
  readonly devices: number;
}

const facts = given() as Given;
run(`mkfs.${facts.kind}`, ['-q', facts.image]);
const mount = mountDisk(facts);
mkdirSync(path.join(mount, 'state', 'partner'), { recursive: true, mode: 0o700 });
writeFileSync(
  path.join(mount, 'state', 'partner', 'partner.json'),
  JSON.stringify({ listen: { port: facts.port } }),
  { mode: 0o600 },
);
const owner = { name: 'system test', keyId: null, ip: null };
const devices: string[] = [];
let partnerId = '';
{
  await using stores = await openPartnerDisk(mount);
  const plan = await stores.plans.findBySlug('business');
  const partner = await stores.partners.create(
    { name: 'Partner', company: null, email: 'partner@example.org', passwordHash: '-' },
    owner,
  );
  partnerId = partner.id;
  const about = { name: 'Customer', email: null, externalId: null, planId: plan?.id ?? '', metadata: {} };
  const customer = await stores.customers.create(partner.id, about, owner);
  for (let number = 0; number < facts.devices; number += 1) {
    const token = await stores.enrollment.createToken(partner.id, customer.id, owner);
    const device = { name: `device ${number}`, platform: 'linux-x64', agentVersion: '1.0.0' };
    devices.push((await stores.enrollment.enroll(token?.token ?? '', device, null)).key);
  }
}
unmountDisk(mount);
process.stdout.write(JSON.stringify({ partnerId, devices } satisfies MadePartnerDisk));
