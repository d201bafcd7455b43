/** The Partner service as it is started: asked over HTTP for a webhook, it delivers to a receiver of tests. */
// Turn 6 of 8.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/log.ts';
import { keysFrom } from '../../src/partner/secrets/keys.ts';
import { startPartnerService, type PartnerService } from '../../src/partner/start.ts';
import { idOf, verifiedAt } from '../support/delivery-site.ts';
import { OWNER, somePartner, storePlace, type StorePlace } from '../support/partner-store-site.ts';
import { makeCertificates } from '../support/test-certificates.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

let directory: string;
let place: StorePlace;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-partner-'));
  place = await storePlace();
});
afterEach(async () => {
  await rm(directory, { recursive: true });
  await place.remove();
});

test('a webhook is added, tested and delivered, and what is due is delivered after a restart', async () => {
  const { authority, good } = await makeCertificates();
  await using receiver = await startWebhookReceiver(good);
  const caFile = join(directory, 'ca.pem');
  await writeFile(caFile, authority);
  const lines: string[] = [];
  const start = async (): Promise<PartnerService> =>
    await startPartnerService({
      settings: {
        listen: { host: '127.0.0.1', port: 0 },
        publicUrl: null,
        trustedProxies: [],
        postgres: null,
        keyFile: join(directory, 'partner.key'),
        webhooks: { workers: 2, testTargets: [{ target: `localhost:${receiver.port}`, caFile }] },
        metrics: false,
        logLevel: 'error',
      },
      storeAddress: place.address,
      keys,
      version: '1.0.0',
      clock: systemClock,
      log: createLog('error', { write: (line) => void lines.push(line) }, (line) => line),
    });
  const keys = keysFrom(randomBytes(32));
  let secret = '';
  let id = '';

  await using first = await start();
  const partner = await somePartner(first.stores);
  const key = (await first.stores.apiKeys.generate(partner.id, 'hooks', OWNER)).secret;
  const post = async (service: PartnerService, path: string, body?: object): Promise<Posted> => {
    const reply = await fetch(`${service.address}/api/partner/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return ((await reply.json()) as { data: Posted }).data;
  };
  ({ id, secret } = await post(first, '/webhooks', { url: `https://localhost:${receiver.port}/hook` }));
  const { event_id: eventId } = await post(first, `/webhooks/${id}/test`);
  await vi.waitUntil(() => receiver.received.length === 1, { timeout: 30_000 });
  const [message] = receiver.received;
  if (message === undefined) throw new Error('nothing came');
  expect(verifiedAt(Date.now(), message, secret)).toMatchObject({ type: 'webhook.test' });
  expect(idOf(message)).toBe(eventId);

  receiver.answer = () => undefined;
  const { event_id: later } = await post(first, `/webhooks/${id}/test`);
  await vi.waitUntil(() => receiver.received.length === 2, { timeout: 30_000 });
  await first[Symbol.asyncDispose]();
  receiver.answer = (_count, response) => void response.end('OK');
  await using second = await start();
  await vi.waitUntil(() => receiver.received.length === 3, { timeout: 30_000 });
  expect(receiver.received.map(idOf)).toEqual([eventId, later, later]);
  await vi.waitUntil(async () => {
    const { items } = await second.stores.deliveries.list(partner.id, id, { limit: 10 });
    return items.every(({ status, attempts }) => status === 'succeeded' && attempts === 1);
  }, 30_000);
  expect(lines).toEqual([]);
});

interface Posted {
  readonly id: string;
  readonly secret: string;
  readonly event_id: string;
}
