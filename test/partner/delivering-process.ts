/** One instance that delivers, in a process of its own, until it is killed. */
import { systemClock } from '../../src/base/clock.ts';
import { createSealing } from '../../src/partner/secrets/sealing.ts';
import { openPartnerStore } from '../../src/partner/store/store.ts';
import { createBell, startDelivering } from '../../src/partner/webhooks/delivering.ts';
import type { TestTarget } from '../../src/partner/webhooks/test-targets.ts';

export interface DeliveringOrder {
  readonly address: string;
  /** In hexadecimal digits. */
  readonly sealingKey: string;
  readonly pepper: string;
  readonly testTargets: readonly TestTarget[];
}

const [order = '{}'] = process.argv.slice(2);
const { address, sealingKey, pepper, testTargets } = JSON.parse(order) as DeliveringOrder;
const bell = createBell();
const stores = await openPartnerStore(address, systemClock, {
  pepper: Buffer.from(pepper, 'hex'),
  chance: () => 0,
  due: bell.ring,
});
startDelivering({
  stores,
  clock: systemClock,
  sealing: createSealing(Buffer.from(sealingKey, 'hex')),
  workers: 8,
  testTargets,
  bell,
  graceMs: 0,
  trouble: (error) => {
    throw error;
  },
});
