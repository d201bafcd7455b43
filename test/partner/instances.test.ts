/** Several instances as processes of their own, on one store, with the clocks that they have. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { PartnerStores } from '../../src/partner/store/store.ts';
import { SOURCE_FLAGS } from '../support/node-flags.ts';
import {
  OWNER,
  STORE_KINDS,
  someCustomer,
  someEndpoint,
  somePartner,
  storeSite,
  type StoreSite,
} from '../support/partner-store-site.ts';

interface Instance {
  readonly child: ChildProcess;
  /** What it printed so far, line by line. */
  readonly lines: readonly string[];
  go(): void;
  /** What it printed last. Rejects when it failed. */
  outcome(): Promise<unknown>;
}

const pepper = randomBytes(32);

async function start(site: StoreSite, work: string, target: string, count: number): Promise<Instance> {
  const child = spawn(
    process.execPath,
    [
      ...SOURCE_FLAGS,
      join(import.meta.dirname, 'instance.ts'),
      site.address,
      pepper.toString('hex'),
      work,
      target,
      `${count}`,
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const ended = once(child, 'close');
  const lines: string[] = [];
  const printed = createInterface({ input: child.stdout });
  printed.on('line', (line) => lines.push(line));
  await Promise.race([once(printed, 'line'), ended]);
  expect(lines).toEqual(['ready']);
  return {
    child,
    lines,
    go: () => child.stdin.write('go\n'),
    outcome: async () => {
      const [code]: unknown[] = await ended;
      expect(code).toBe(0);
      return JSON.parse(lines.at(-1) ?? 'null') as unknown;
    },
  };
}

describe.each(STORE_KINDS)('instances in processes of their own on %s', (kind) => {
  let site: StoreSite;
  let store: PartnerStores;
  let partnerId: string;

  beforeEach(async () => {
    site = await storeSite(kind);
    store = await site.open({ pepper, sharedClock: systemClock });
    ({ id: partnerId } = await somePartner(store));
  });
  afterEach(async () => await site.remove());

  it('accept 120 requests of a partner together, and not one more', async () => {
    const instances = [
      await start(site, 'requests', partnerId, 100),
      await start(site, 'requests', partnerId, 100),
      await start(site, 'requests', partnerId, 100),
    ];
    for (const { go } of instances) go();
    const accepted = await Promise.all(instances.map(async ({ outcome }) => Number(await outcome())));
    expect(accepted.reduce((sum, one) => sum + one, 0)).toBe(120);
    // A restart forgives nothing.
    const again = await start(site, 'requests', partnerId, 10);
    again.go();
    expect(await again.outcome()).toBe(0);
  });

  it('let somebody try to sign in ten times together, and no more often after a restart', async () => {
    const instances = [
      await start(site, 'sign-ins', 'ana@example.com', 50),
      await start(site, 'sign-ins', 'ana@example.com', 50),
    ];
    for (const { go } of instances) go();
    const taken = await Promise.all(instances.map(async ({ outcome }) => Number(await outcome())));
    expect(taken.reduce((sum, one) => sum + one, 0)).toBe(10);
    const again = await start(site, 'sign-ins', 'ana@example.com', 10);
    again.go();
    expect(await again.outcome()).toBe(0);
  });

  it('make one device of a token', async () => {
    const { id } = await someCustomer(store, partnerId);
    // By the clock of the processes.
    site.clock.jump(Date.now() - site.clock.now());
    const token = (await store.enrollment.createToken(partnerId, id, OWNER))?.token ?? '';
    const instances = [await start(site, 'enroll', token, 8), await start(site, 'enroll', token, 8)];
    for (const { go } of instances) go();
    const made = await Promise.all(instances.map(async ({ outcome }) => Number(await outcome())));
    expect(made.toSorted((a, b) => a - b)).toEqual([0, 1]);
    expect(await store.customers.get(partnerId, id)).toMatchObject({ devicesCount: 1 });
  });

  it('lose no delivery when one of them is killed, and repeat only what it had claimed', async () => {
    const claimedAtOnce = 5;
    const webhook = await someEndpoint(store, partnerId);
    for (let count = 0; count < 150; count += 1) await someCustomer(store, partnerId);
    const [killed, other] = [
      await start(site, 'claims', '', claimedAtOnce),
      await start(site, 'claims', '', claimedAtOnce),
    ];
    killed.go();
    other.go();
    while (killed.lines.length < 20) await new Promise((resolve) => setTimeout(resolve, 1));
    killed.child.kill('SIGKILL');
    await once(killed.child, 'close');
    const done = (await other.outcome()) as readonly string[];
    const sentByKilled = killed.lines.filter((line) => line.startsWith('dlv_'));
    // Nobody sent the same twice so far: what the killed one had is still its own.
    expect(new Set([...done, ...sentByKilled]).size).toBe(done.length + sentByKilled.length);
    const { reader } = site.database();
    const pending = await reader
      .selectFrom('deliveries')
      .selectAll()
      .where('status', '=', 'pending')
      .execute();
    expect(pending.length).toBeLessThanOrEqual(claimedAtOnce);
    expect(pending.every((row) => row.claimed_by === `${killed.child.pid}`)).toBe(true);
    // When its claims have ended they are anybody's.
    site.clock.jump(Date.now() + 61_000 - site.clock.now());
    const rest = await store.deliveries.claim({
      worker: 'later',
      partnerId,
      endpointId: webhook.id,
      limit: 100,
      leaseMs: 60_000,
    });
    expect(rest.map(({ delivery }) => delivery.id).toSorted()).toEqual(
      pending.map(({ id }) => id).toSorted(),
    );
    for (const claim of rest) await store.deliveries.finish(claim, { kind: 'delivered', status: 200 });
    const states = await reader.selectFrom('deliveries').select(['status', 'attempts']).execute();
    expect(states).toHaveLength(150);
    expect(states.every(({ status, attempts }) => status === 'succeeded' && attempts === 1)).toBe(true);
    expect(await store.webhooks.get(partnerId, webhook.id)).toMatchObject({ failingSince: null });
  });
});
