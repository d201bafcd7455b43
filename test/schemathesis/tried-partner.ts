/** The Partner service with an account, customers, devices that have reported, and webhooks that were sent and taken. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PASSPHRASE } from '../support/cli.ts';
import { generateKey } from '../support/console-html.ts';
import { openPartnerPlace } from '../support/partner-program.ts';
import { makeCertificates } from '../support/test-certificates.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';
import { startProgram } from './program.ts';
import { dataOf, idOf, type TriedService } from './tried-service.ts';

/** So many times as fast as it does, its time goes by: 120 requests a minute would take hours. */
const FAST_CLOCK = new URL('fast-clock.ts', import.meta.url).href;
const REPOSITORY = '7f0c4a52d1e84b6f9a3c5d7e80912b4c';

export async function startTriedPartner(): Promise<TriedService> {
  await using opened = new AsyncDisposableStack();
  const place = opened.use(await openPartnerPlace('sqlite'));
  const { good, authority } = await makeCertificates();
  const receiver = opened.use(await startWebhookReceiver(good));
  const caFile = join(place.directory, 'ca.pem');
  const password = join(place.directory, 'password');
  writeFileSync(caFile, authority);
  writeFileSync(password, PASSPHRASE, { mode: 0o600 });
  const target = `localhost:${receiver.port}`;
  await place.configure({ metrics: true, webhooks: { testTargets: [{ target, caFile }] } });
  const email = 'ana@example.org';
  const account = { name: 'Ana Sousa', email, 'password-file': password };
  const words = Object.entries(account).flatMap(([option, value]) => [`--${option}`, value]);
  await place.expectRun(['partner', 'init', ...words]);
  const { address } = opened.use(
    await startProgram(place, ['partner'], { NODE_OPTIONS: `--import=${FAST_CLOCK}` }),
  );
  const key = await generateKey(address, { email, password: PASSPHRASE, name: 'schemathesis' });
  const api = `${address}/api/partner/v1`;
  const headers = { authorization: `Bearer ${key}` };
  const make = async (path: string, body: object): Promise<string> =>
    await idOf(`${api}${path}`, { headers, body });

  const webhooks: string[] = [];
  for (const name of ['events', 'alarms', 'spare'])
    webhooks.push(await make('/webhooks', { url: `https://${target}/${name}` }));
  const plans = await dataOf(`${api}/plans`, { headers });
  const plan_id = (plans['items'] as readonly Record<string, string>[]).find(
    ({ slug }) => slug === 'business',
  )?.['id'];
  const customers: string[] = [];
  for (const name of ['Bakery Moreau', 'Lima IT', 'Old Mill', 'Nobody'])
    customers.push(
      await make('/customers', { name, plan_id, external_id: name.toLowerCase().replace(' ', '-') }),
    );
  const [bakery = '', lima = '', ...others] = customers;
  const enrolled: { readonly id: string; readonly key: string }[] = [];
  for (const customer of [bakery, bakery, lima, lima]) {
    const { secret } = await dataOf(`${api}/customers/${customer}/enrollment-tokens`, { headers, body: {} });
    const machine = { token: secret, name: 'front-desk', platform: 'linux-x64', agent_version: '1.0.0' };
    const { device_id: id, secret: deviceKey } = await dataOf(`${api}/enroll`, {
      headers: {},
      body: machine,
    });
    enrolled.push({ id: String(id), key: String(deviceKey) });
  }
  const [device = { id: '', key: '' }, ...moreDevices] = enrolled;
  await dataOf(`${api}/devices/self/reports`, {
    headers: { authorization: `Bearer ${device.key}` },
    body: report(),
  });
  await make(`/webhooks/${webhooks[0]}/test`, {});
  const deliveries = await dataOf(`${api}/webhooks/${webhooks[0]}/deliveries?limit=100`, { headers });
  const owned = opened.move();
  return {
    name: 'partner',
    address,
    access: { apiKey: { bearer: key }, apiKeyHeader: { api_key: key }, deviceKey: { bearer: device.key } },
    known: {
      customers: [bakery, lima],
      spareCustomers: others,
      devices: [device.id],
      spareDevices: moreDevices.map(({ id }) => id),
      webhooks: webhooks.slice(0, 2),
      firstWebhook: webhooks.slice(0, 1),
      spareWebhooks: webhooks.slice(2),
      deliveries: idsOf(deliveries),
      plans: idsOf(plans),
      repositories: [REPOSITORY],
      urls: ['events', 'alarms'].map((name) => `https://${target}/${name}`),
      days: [new Date().toISOString().slice(0, 10)],
    },
    places: PLACES,
    [Symbol.asyncDispose]: async () => await owned.disposeAsync(),
  };
}

function idsOf({ items }: Readonly<Record<string, unknown>>): readonly string[] {
  return (items as readonly { readonly id: string }[]).map(({ id }) => id);
}

function report(): object {
  const now = new Date(Date.now() - 1_000).toISOString();
  return {
    seq: 1,
    agent_version: '1.0.0',
    expected_every_seconds: 86_400,
    storage: { bytes: 226_300_000, at: now },
    results: [
      {
        kind: 'backup',
        status: 'completed',
        finished_at: now,
        duration_seconds: 73,
        files_backed_up: 12,
        size_bytes: 301_200_000,
        uploaded_bytes: 184_000,
        error_code: null,
      },
    ],
    heads: [
      {
        repository_id: REPOSITORY,
        writer: '4334173f2b4c400f709da261c1c2d9af',
        seq: 812,
        hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      },
    ],
  };
}

const PLACES: TriedService['places'] = {
  getCustomer: { 'path.id': 'customers' },
  updateCustomer: { 'path.id': 'customers', 'body.plan_id': 'plans' },
  createCustomer: { 'body.plan_id': 'plans' },
  listCustomers: { 'query.plan_id': 'plans' },
  deleteCustomer: { 'path.id': 'spareCustomers' },
  suspendCustomer: { 'path.id': 'spareCustomers' },
  resumeCustomer: { 'path.id': 'spareCustomers' },
  createEnrollmentToken: { 'path.id': 'customers' },
  listDevices: { 'path.id': 'customers' },
  getCustomerUsage: { 'path.id': 'customers', 'query.from': 'days', 'query.to': 'days' },
  getUsage: { 'query.customer_id': 'customers', 'query.from': 'days', 'query.to': 'days' },
  getDevice: { 'path.id': 'devices' },
  removeDevice: { 'path.id': 'spareDevices' },
  createOrder: { 'path.id': 'devices' },
  getPlan: { 'path.id': 'plans' },
  createWebhook: { 'body.url': 'urls' },
  getWebhook: { 'path.id': 'webhooks' },
  updateWebhook: { 'path.id': 'webhooks', 'body.url': 'urls' },
  deleteWebhook: { 'path.id': 'spareWebhooks' },
  rotateWebhookSecret: { 'path.id': 'webhooks' },
  testWebhook: { 'path.id': 'webhooks' },
  listDeliveries: { 'path.id': 'webhooks' },
  retryDelivery: { 'path.id': 'firstWebhook', 'path.delivery_id': 'deliveries' },
  listEvents: { 'query.customer_id': 'customers' },
  listSnapshotHeads: { 'query.repository_id': 'repositories' },
};
