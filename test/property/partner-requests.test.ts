/**
 * Requests made from the document of the Partner API, right and wrong ones, one after the other on the same store:
 * whatever is asked, the reply is one that the document describes, and never a fault of the service. 20,000 of them with
 * HOLDFAST_LONG=1.
 */
// Turn 8 of 8.
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listenAt } from '../../src/api/connections/listening.ts';
import { createPartnerApp, type PartnerApp } from '../../src/partner/http/app.ts';
import { keysFrom } from '../../src/partner/secrets/keys.ts';
import type { PartnerStores } from '../../src/partner/store/store.ts';
import { anyRequestTo } from '../support/arbitrary-requests.ts';
import { arbitraryValues, known } from '../support/arbitrary-values.ts';
import { socketAsker } from '../support/ask-over-socket.ts';
import { dereference, judgePartner, partnerRoutes } from '../support/partner-judge.ts';
import {
  OWNER,
  PLAN,
  backup,
  report,
  someCustomer,
  someDevice,
  someEndpoint,
  somePartner,
  storeSite,
  type StoreSite,
} from '../support/partner-store-site.ts';

const LONG = process.env['HOLDFAST_LONG'] === '1';
const REQUESTS = LONG ? 20_000 : 1_000;
const CUSTOMERS = 60;
const ENDPOINTS = 5;

let site: StoreSite;
let stores: PartnerStores;
let api: PartnerApp;
let key: string;
let deviceKey: string;
const ids: Record<string, string[]> = {
  customers: [],
  devices: [],
  plans: Object.values(PLAN),
  webhooks: [],
  deliveries: [],
};

beforeAll(async () => {
  site = await storeSite();
  stores = await site.open();
  const requests = { requests: 1_000_000, windowMs: 1_000 };
  api = await createPartnerApp({
    stores,
    clock: site.clock,
    keys: keysFrom(randomBytes(32)),
    version: '1.0.0',
    limits: { partner: requests, device: requests, anonymous: requests },
  });
  await listenAt(api.server, '127.0.0.1', 0);
  const { id } = await somePartner(stores);
  key = (await stores.apiKeys.generate(id, 'fuzz', OWNER)).secret;
  // Not among those that are deleted below.
  deviceKey = (await someDevice(stores, id, (await someCustomer(stores, id)).id)).key;
  for (let count = 0; count < ENDPOINTS; count += 1) {
    const endpoint = await someEndpoint(stores, id);
    ids['webhooks']?.push(endpoint.id);
    ids['deliveries']?.push((await stores.webhooks.test(id, endpoint.id, OWNER))?.id ?? '');
  }
  for (let count = 0; count < CUSTOMERS; count += 1) {
    const customer = await someCustomer(stores, id, { externalId: `crm-${count}` });
    ids['customers']?.push(customer.id);
    const { device } = await someDevice(stores, id, customer.id);
    ids['devices']?.push(device.id);
    await stores.reports.accept(id, device.id, report(1, { results: [backup(site.clock.now())] }));
    site.clock.jump(60_000);
  }
});

afterAll(async () => {
  api.server.close();
  api.server.closeAllConnections();
  await api.close();
  await site.remove();
});

const values = arbitraryValues({
  dereference,
  texts: fc.oneof(
    known('customers'),
    known('devices'),
    known('plans'),
    fc.constantFrom(
      'Bakery Moreau',
      'office@moreau.test',
      'crm-7',
      'https://hooks.example.org/holdfast',
      'customer.created',
      'backup.failed',
      '2026-11-21',
      '2026-11',
      'day',
      'active',
      '1.0.0',
      'linux-x64',
    ),
  ),
});

const FOR_AGENTS = partnerRoutes.filter(({ operation }) =>
  JSON.stringify(operation.security ?? []).includes('deviceKey'),
);

function anyRequest(routes: typeof partnerRoutes) {
  return anyRequestTo({
    routes,
    values,
    prefixes: {
      right: ['/api/partner/v1'],
      wrong: ['', '/api/partner', '/api/partner/v2', '/v1', '/API/partner/v1', '//api/partner/v1'],
    },
    ids: ({ path }, parameter) =>
      known(parameter === 'delivery_id' ? 'deliveries' : (path.split('/')[1] ?? '')),
  });
}

test.each([
  { whose: 'a partner', routes: partnerRoutes, token: () => key, expected: [201, 401, 404, 405] },
  { whose: 'a device', routes: FOR_AGENTS, token: () => deviceKey, expected: [401, 404, 405] },
])(
  `every reply to ${REQUESTS.toLocaleString('en')} requests of $whose is one that the document describes, and none is a fault of the service`,
  async ({ routes, token, expected }) => {
    const { port } = api.server.address() as AddressInfo;
    using asker = socketAsker({ port, token, known: (kind) => ids[kind] ?? [] });
    const seen = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(anyRequest(routes), async (asked) => {
        const { target, reply } = await asker.ask(asked);
        seen.set(reply.status, (seen.get(reply.status) ?? 0) + 1);
        expect(reply.status, reply.text.slice(0, 500)).toBeLessThan(500);
        judgePartner(asked.method, target, reply);
      }),
      { numRuns: REQUESTS },
    );
    if (LONG) process.stdout.write(`${JSON.stringify(Object.fromEntries(seen))}\n`);
    // Not everything is refused at the door.
    expect(seen.get(200)).toBeGreaterThan(REQUESTS / 20);
    expect(seen.get(400)).toBeGreaterThan(REQUESTS / 20);
    for (const status of expected) expect(seen.get(status), String(status)).toBeGreaterThan(0);
  },
  LONG ? 3_600_000 : 120_000,
);
