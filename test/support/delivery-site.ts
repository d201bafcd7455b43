/** A store with a partner, a real https receiver on loopback, and instances that deliver to it. */
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { vi } from 'vitest';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import type { PartnerStores } from '../../src/partner/store/store.ts';
import { createBell, startDelivering } from '../../src/partner/webhooks/delivering.ts';
import { newWebhookSecret } from '../../src/partner/webhooks/secrets.ts';
import type { TestTarget } from '../../src/partner/webhooks/test-targets.ts';
import { createSealing } from '../../src/partner/secrets/sealing.ts';
import {
  someEndpoint,
  somePartner,
  type StoreKind,
  storeSite,
  type StoreSite,
} from './partner-store-site.ts';
import { makeCertificates } from './test-certificates.ts';
import { type ReceivedWebhook, startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

export interface DeliverySite extends AsyncDisposable {
  readonly site: StoreSite;
  readonly stores: PartnerStores;
  readonly partnerId: string;
  readonly receiver: WebhookReceiver;
  readonly testTargets: readonly TestTarget[];
  /** As `keys.sealing` of all instances. */
  readonly sealingKey: Uint8Array;
  readonly troubles: unknown[];
  /** One more receiver, that may be delivered to. Before any instance. */
  addReceiver(): Promise<WebhookReceiver>;
  endpoint(to?: WebhookReceiver): Promise<{ readonly id: string; readonly secret: string }>;
  /** Delivers, as an instance of its own. */
  instance(more?: InstanceOptions): Promise<Instance>;
  /** Waits until nothing is due or under way. The clock of the site stands still meanwhile. */
  quiet(): Promise<void>;
}

export interface InstanceOptions {
  readonly workers?: number;
  readonly graceMs?: number;
  readonly sealingKey?: Uint8Array;
  /** False when it looks only if it is woken. */
  readonly looks?: boolean;
}

export interface Instance extends AsyncDisposable {
  readonly stores: PartnerStores;
  ring(): void;
}

export async function deliverySite(kind?: StoreKind): Promise<DeliverySite> {
  const [site, { authority, good }] = await Promise.all([storeSite(kind), makeCertificates()]);
  const stores = await site.open();
  const { reader } = site.database();
  const { id: partnerId } = await somePartner(stores);
  const receivers: WebhookReceiver[] = [];
  const testTargets: TestTarget[] = [];
  const addReceiver = async (): Promise<WebhookReceiver> => {
    const receiver = await startWebhookReceiver(good);
    receivers.push(receiver);
    testTargets.push({ host: 'localhost', port: receiver.port, authority });
    return receiver;
  };
  const receiver = await addReceiver();
  const sealingKey = randomBytes(32);
  const troubles: unknown[] = [];
  // Stands by the site, sleeps by the machine: what is due is due when a test says so, and is looked for without one.
  const clockOf = (looks: boolean): Clock => ({
    ...systemClock,
    now: () => site.clock.now(),
    sleep: async (ms, signal) => await systemClock.sleep(looks ? ms : 3_600_000, signal),
  });
  const instances = new AsyncDisposableStack();

  return {
    site,
    stores,
    partnerId,
    receiver,
    testTargets,
    sealingKey,
    troubles,
    addReceiver,
    endpoint: async (to = receiver) => {
      const secret = newWebhookSecret().reveal();
      const url = `https://localhost:${to.port}/hook`;
      const sealSecret = (id: string): string => createSealing(sealingKey).seal('webhook secret', id, secret);
      const { id } = await someEndpoint(stores, partnerId, { url, sealSecret });
      return { id, secret };
    },
    instance: async ({ workers = 16, graceMs = 5_000, sealingKey: key = sealingKey, looks = true } = {}) => {
      const bell = createBell();
      const own = await site.open({ due: bell.ring });
      const trouble = (error: unknown): void => void troubles.push(error);
      const parts = {
        clock: clockOf(looks),
        sealing: createSealing(key),
        workers,
        testTargets,
        bell,
        trouble,
        graceMs,
      };
      const delivering = startDelivering({ ...parts, stores: own });
      const running = instances.use({
        stores: own,
        ring: bell.ring,
        [Symbol.asyncDispose]: async () => await delivering[Symbol.asyncDispose](),
      });
      return running;
    },
    quiet: async () => {
      const due = (): Promise<readonly unknown[]> =>
        reader
          .selectFrom('deliveries')
          .select('id')
          .where('status', '=', 'pending')
          .where('next_attempt_at', '<=', site.clock.now())
          .execute();
      await vi.waitUntil(async () => (await due()).length === 0, { timeout: 60_000, interval: 5 });
    },
    [Symbol.asyncDispose]: async () => {
      await instances.disposeAsync();
      await Promise.all(receivers.map(async (one) => await one[Symbol.asyncDispose]()));
      await site.remove();
    },
  };
}

/** What the reference implementation of Standard Webhooks makes of it at that time. @throws when it refuses it */
export function verifiedAt(ms: number, { headers, body }: ReceivedWebhook, secret: string): unknown {
  const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  vi.useFakeTimers({ toFake: ['Date'], now: ms });
  try {
    return new Webhook(secret).verify(body, texts);
  } finally {
    vi.useRealTimers();
  }
}

export function idOf({ headers }: ReceivedWebhook): string {
  return String(headers['webhook-id']);
}
