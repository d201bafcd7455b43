/** One instance of the store in a process of its own: does what it is told on its command line, and prints the outcome. */
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { openPartnerStore } from '../../src/partner/store/store.ts';

const [address = '', pepper = '', work = '', target = '', count = '0'] = process.argv.slice(2);
const stores = await openPartnerStore(address, systemClock, {
  pepper: Buffer.from(pepper, 'hex'),
  chance: () => 0,
});
process.stdout.write('ready\n');
process.stdin.once('data', () => {
  void run().then(() => process.stdin.destroy());
});

async function run(): Promise<void> {
  try {
    process.stdout.write(`${JSON.stringify(await outcome())}\n`);
  } finally {
    await stores[Symbol.asyncDispose]();
  }
}

async function outcome(): Promise<unknown> {
  switch (work) {
    case 'requests': {
      const verdicts = await Promise.all(
        Array.from(
          { length: Number(count) },
          async () => await stores.rateLog.tryAccept(target, 120, 60_000),
        ),
      );
      return verdicts.filter(({ accepted }) => accepted).length;
    }
    case 'sign-ins': {
      const attempt = { kind: 'account', of: [target], limit: 10, windowMs: 60_000 } as const;
      const verdicts = await Promise.all(
        Array.from({ length: Number(count) }, async () => await stores.signIns.take([attempt])),
      );
      return verdicts.filter(({ kind }) => kind === 'taken').length;
    }
    case 'claims': {
      const ids: string[] = [];
      for (;;) {
        const [due] = await stores.deliveries.dueEndpoints();
        if (due === undefined) return ids;
        const claims = await stores.deliveries.claim({
          ...due,
          worker: `${process.pid}`,
          limit: Number(count),
          leaseMs: 60_000,
        });
        for (const claim of claims) {
          process.stdout.write(`${claim.delivery.id}\n`);
          // An attempt takes a while, in which others have their turn.
          await delay(3);
          await stores.deliveries.finish(claim, { kind: 'delivered', status: 200 });
          ids.push(claim.delivery.id);
        }
      }
    }
    case 'enroll': {
      const device = { name: 'laptop', platform: 'linux', agentVersion: '0.1.0' };
      const results = await Promise.allSettled(
        Array.from(
          { length: Number(count) },
          async () => await stores.enrollment.enroll(target, device, null),
        ),
      );
      return results.filter(({ status }) => status === 'fulfilled').length;
    }
    default:
      throw new Error(`no such work: ${work}`);
  }
}
