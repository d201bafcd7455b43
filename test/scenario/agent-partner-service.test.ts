/** The real agent and the real Partner service, each with a state of its own, on one clock. */
// Turn 5 of 8.
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLog } from '../../src/base/log.ts';
import { keysFrom } from '../../src/partner/secrets/keys.ts';
import { readPartnerSettings } from '../../src/partner/settings.ts';
import { startPartnerService, type PartnerService } from '../../src/partner/start.ts';
import { eventually, openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';
import { OWNER, PLAN, storePlace, type StorePlace } from '../support/partner-store-site.ts';

const MAINTENANCE = { prune: 'off', check: 'off', drill: 'off' };
const CANARY = 'canary-5e1d';

let site: DaemonSite;
let service: PartnerService;
let directory: string;
let place: StorePlace;
let key: string;
let partnerId: string;
let customerId: string;
let deviceId: string;

async function ask<T>(method: string, path: string, body?: object): Promise<T> {
  const reply = await fetch(`${service.address}/api/partner/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { data, error } = (await reply.json()) as { readonly data: T; readonly error?: object };
  if (!reply.ok) throw new Error(JSON.stringify(error));
  return data;
}

/** Puts the clock forward, half a minute at a time, until it holds. */
async function inTime<T>(look: () => Promise<T | undefined | false>, what: string): Promise<T> {
  return await eventually(async () => {
    const answer = await look();
    if (answer === undefined || answer === false) site.clock.skip(30_000);
    return answer;
  }, what);
}

interface Device {
  readonly name: string;
  readonly platform: string;
  readonly storage_used_bytes: number;
  readonly expected_every_seconds: number | null;
  readonly last_backup: { readonly status: string; readonly finished_at: string } | null;
}
const device = async (): Promise<Device> => await ask<Device>('GET', `/devices/${deviceId}`);
/** Around today: the clock of the agent may be in the next month already. */
const usage = async (): Promise<{ backups_completed: number; uploaded_bytes: number }> => {
  const [from, to] = [-2, 3].map((days) =>
    new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10),
  );
  const { totals } = await ask<{ totals: { backups_completed: number; uploaded_bytes: number } }>(
    'GET',
    `/usage?from=${from}&to=${to}`,
  );
  return totals;
};
const events = async (): Promise<readonly string[]> =>
  (await ask<{ readonly items: readonly { readonly type: string }[] }>('GET', '/events?limit=100')).items.map(
    ({ type }) => type,
  );
const limit = async (): Promise<number | undefined> =>
  (await site.ask('enrollment', {}))?.plan?.desktop_requests_per_hour;

const keys = keysFrom(randomBytes(32));

async function startService(port: number): Promise<PartnerService> {
  const settings = await readPartnerSettings(join(directory, 'partner.json'), false, {
    home: directory,
    stateDirectory: directory,
  });
  return await startPartnerService({
    settings: { ...settings, listen: { host: '127.0.0.1', port } },
    storeAddress: place.address,
    keys,
    version: '0.0.0',
    clock: site.clock,
    log: createLog('error', { write: () => undefined }),
  });
}

beforeAll(async () => {
  site = await openDaemonSite();
  directory = join(site.directory, 'service');
  mkdirSync(directory, { mode: 0o700 });
  place = await storePlace();
  service = await startService(0);
  const { partners, apiKeys } = service.stores;
  const partner = { name: 'Ana', company: null, email: 'ana@example.org', passwordHash: 'x' };
  partnerId = (await partners.create(partner, OWNER)).id;
  key = (await apiKeys.generate(partnerId, 'test', OWNER)).secret;
  customerId = (await ask<{ id: string }>('POST', '/customers', { name: 'Ada', plan_id: PLAN.pro })).id;
  site.write({ [`${CANARY}.txt`]: `${CANARY}-content` });
  await site.configure({
    sources: [{ path: site.source, schedule: 'off', watch: false }],
    maintenance: MAINTENANCE,
    conditions: { onBattery: 'run', onMetered: 'run' },
  });
  await site.endOfNext('backup', []);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
  await place.remove();
});

test('an agent enrolls with a token that is good once', async () => {
  const { secret } = await ask<{ secret: string }>('POST', `/customers/${customerId}/enrollment-tokens`);
  const status = await site.ask('enroll', { url: service.address, token: secret, name: 'front desk' });
  deviceId = status.device_id;
  expect(status).toMatchObject({ customer_id: customerId, plan: { slug: 'pro', status: 'active' } });
  expect(await device()).toMatchObject({
    name: 'front desk',
    platform: `${process.platform}-${process.arch}`,
  });
  await site.ask('end_enrollment', {});
  const again = site.ask('enroll', { url: service.address, token: secret, name: 'front desk' });
  await expect(again).rejects.toMatchObject({ code: 'ENROLLMENT_TOKEN_INVALID' });
  const next = await ask<{ secret: string }>('POST', `/customers/${customerId}/enrollment-tokens`);
  const enrolled = await site.ask('enroll', { url: service.address, token: next.secret, name: 'front desk' });
  deviceId = enrolled.device_id;
});

test('its backups become figures, events and the standing of the device', async () => {
  const job = await site.backUp();
  await inTime(async () => (await device()).last_backup !== null, 'the backup');
  const { last_backup: last, storage_used_bytes: stored } = await device();
  expect(last).toMatchObject({
    status: 'completed',
    finished_at: new Date(job.finished_at ?? 0).toISOString(),
  });
  expect(stored).toBeGreaterThan(0);
  expect(await usage()).toMatchObject({
    backups_completed: 1,
    uploaded_bytes: job.progress.bytes_uploaded,
  });
  expect((await events()).filter((type) => type === 'backup.completed')).toHaveLength(1);
});

test('what it could not tell while the service was gone is told once', async () => {
  const { port } = service;
  await service[Symbol.asyncDispose]();
  await site.backUp();
  site.clock.skip(3_600_000);
  await site.restart();
  await site.backUp();
  service = await startService(port);
  await inTime(async () => (await usage()).backups_completed === 3, 'both backups');
  expect((await events()).filter((type) => type === 'backup.completed')).toHaveLength(3);
});

test('an order of the partner is carried out once, and taken off the list', async () => {
  const before = site.jobs('backup');
  await ask('POST', `/devices/${deviceId}/orders`, { order: 'run_backup' });
  await inTime(async () => await Promise.resolve(site.jobs('backup').length > before.length), 'the backup');
  await inTime(
    async () => (await service.stores.orders.open(partnerId, deviceId)).length === 0,
    'the word of it',
  );
  site.clock.skip(1_000_000);
  await site.endOfNext('backup', before);
  expect(site.jobs('backup')).toHaveLength(before.length + 1);
});

test('another plan changes its limit within a minute, though there is nothing to report', async () => {
  expect(await limit()).toBe(1_000);
  await ask('PATCH', `/customers/${customerId}`, { plan_id: PLAN.business });
  site.clock.skip(50_000);
  await eventually(async () => (await limit()) === 10_000, 'the limit');
});

test('a suspended account does not stop its backups', async () => {
  await ask('POST', `/customers/${customerId}/suspend`);
  await inTime(
    async () => (await site.ask('enrollment', {}))?.plan?.status === 'suspended',
    'the standing of the account',
  );
  expect((await site.backUp({}, 'schedule')).status).toBe('completed');
  await ask('POST', `/customers/${customerId}/resume`);
  await inTime(async () => (await site.ask('enrollment', {}))?.plan?.status === 'active', 'the end of it');
});

test('a schedule is told', async () => {
  await site.configure({
    sources: [{ path: site.source, schedule: 'daily at 02:30', watch: false }],
    maintenance: MAINTENANCE,
    timeZone: 'UTC',
  });
  await inTime(async () => (await device()).expected_every_seconds === 86_400, 'the schedule');
});

test('a repository that was set back, with all that this machine knows of it, is noticed', async () => {
  const memory = join(site.state, 'repositories');
  const [name = ''] = readdirSync(memory).filter((entry) => entry.endsWith('.json'));
  const file = join(memory, name);
  const earlier = readFileSync(file);
  await site.backUp();
  const { seq, prev } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly seq: number;
    readonly prev: string;
  };
  const query = { partnerId, customerId, repositoryId: name.slice(0, 32), limit: 20, after: undefined };
  await inTime(async () => {
    const { items } = await service.stores.heads.list(query);
    return items.some((head) => head.seq === seq && head.hash === prev);
  }, 'the head');
  expect((await site.status()).checks.filter(({ name: check }) => check === 'partner')).toEqual([]);
  const later = readFileSync(file);
  await site.restart(() => writeFileSync(file, earlier));
  const contradicted = async (): Promise<boolean> =>
    (await site.status()).checks.some(
      ({ status, message }) => status === 'error' && message.includes('an earlier copy'),
    );
  await inTime(contradicted, 'the check');
  await site.restart(() => writeFileSync(file, later));
  await site.backUp();
  await inTime(
    async () => (await service.stores.heads.list(query)).items.some((head) => head.seq > seq),
    'more',
  );
  expect(await contradicted()).toBe(false);
});

test('a device that is removed says so to its owner, and goes on backing up', async () => {
  await ask('DELETE', `/devices/${deviceId}`);
  await inTime(
    async () =>
      (await site.status()).checks.some(({ message }) => message.includes('no longer knows this device')),
    'the check',
  );
  expect((await site.backUp()).status).toBe('completed');
  await site.ask('end_enrollment', {});
  expect((await site.status()).checks.some(({ name }) => name === 'partner')).toBe(false);
});

test('P09: nothing of what is backed up, or opens it, lies in the store of the service', async () => {
  const stored = await place.stored();
  expect(stored).toContain('front desk');
  const passphrase = readFileSync(join(site.state, 'passphrase'), 'utf8').trim();
  for (const text of [CANARY, site.directory, passphrase, ...site.jobs().map(({ id }) => id)])
    expect(stored).not.toContain(text);
});
