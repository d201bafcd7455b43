/** Starts the Partner service: creates its parts and listens. */
import { randomInt } from 'node:crypto';
import type { Logger } from 'pino';
import { endServer, listenAt } from '../api/connections/listening.ts';
import type { Clock } from '../base/clock.ts';
import { createServerLogger } from '../base/log.ts';
import { periodically } from '../base/paced-work.ts';
import { createPartnerApp } from './http/app.ts';
import { createPartnerMetrics } from './http/own-documents.ts';
import type { PartnerLimits } from './request/limits.ts';
import type { PartnerKeys } from './secrets/keys.ts';
import type { PartnerSettings } from './settings.ts';
import { HEARD_MS } from './store/devices.ts';
import { openPartnerStore, type PartnerStores } from './store/store.ts';
import { createBell, startDelivering } from './webhooks/delivering.ts';
import { readTestTargets } from './webhooks/test-targets.ts';

export interface PartnerServiceOptions {
  readonly settings: PartnerSettings;
  /** `sqlite:FILE` or `postgres://…`. */
  readonly storeAddress: string;
  readonly keys: PartnerKeys;
  /** Version of the program. */
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly limits?: Partial<PartnerLimits>;
}

export interface PartnerService extends AsyncDisposable {
  /** `http://HOST:PORT`. */
  readonly address: string;
  readonly port: number;
  readonly stores: PartnerStores;
}

const GRACE_MS = 5_000;

/**
 * Resolves when the service listens. Disposal stops accepting requests and lets running ones finish.
 * @throws {StateError} as `listenAt` and `openPartnerStore`; {ConfigError} when a test receiver cannot be used
 */
export async function startPartnerService(options: PartnerServiceOptions): Promise<PartnerService> {
  const { settings, keys, version, clock, log, limits } = options;
  const testTargets = await readTestTargets(settings.webhooks.testTargets);
  const bell = createBell();
  const stores = await openPartnerStore(options.storeAddress, clock, {
    pepper: keys.pepper,
    chance: () => randomInt(1_000) / 1_000,
    due: bell.ring,
    lost: (error) => log.warn({ err: error }, 'a connection to the store was lost'),
  });
  await using opened = new AsyncDisposableStack();
  opened.use(stores);
  const metrics = createPartnerMetrics(version);
  let address: string | undefined;
  const api = await createPartnerApp({
    stores,
    clock,
    keys,
    version,
    testTargets,
    ...(limits === undefined ? {} : { limits }),
    proxies: settings.trustedProxies,
    publicUrl: settings.publicUrl,
    address: () => address,
    logger: createServerLogger(log),
    metrics: settings.metrics ? async () => await metrics.text() : undefined,
  });
  opened.defer(async () => await api.close());

  const ended = new AbortController();
  const trouble = (error: unknown): void => log.error({ err: error }, 'work that is due now and then failed');
  const chores = doChores({ stores, clock, signal: ended.signal, trouble });
  opened.defer(async () => {
    ended.abort();
    await chores;
  });

  opened.use(
    startDelivering({
      stores,
      clock,
      sealing: keys.sealing,
      workers: settings.webhooks.workers,
      testTargets,
      bell,
      trouble: (error) =>
        log.error({ err: error }, 'a webhook could not be delivered, by no fault of its receiver'),
      graceMs: GRACE_MS,
    }),
  );

  const { host } = settings.listen;
  const port = await listenAt(api.server, host, settings.listen.port);
  opened.defer(async () => {
    api.stop();
    await endServer(api.server, GRACE_MS);
  });
  address = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const running = opened.move();
  return {
    address,
    port,
    stores,
    [Symbol.asyncDispose]: async () => await running.disposeAsync(),
  };
}

export interface ChoreParts {
  readonly stores: Pick<PartnerStores, 'devices' | 'prune'>;
  readonly clock: Pick<Clock, 'sleep' | 'monotonic'>;
  readonly signal: AbortSignal;
  readonly trouble: (error: unknown) => void;
}

const LATE_CHECK_MS = 60_000;
const PRUNE_MS = 3_600_000;
/** Devices that are marked as late in one batch. */
const LATE_AT_ONCE = 100;

/**
 * Runs the recurring chores of the service. Every instance runs them, and whichever comes first does the work. Runs
 * until the signal aborts, and then resolves.
 */
export async function doChores({ stores, ...options }: ChoreParts): Promise<void> {
  const { clock, signal } = options;
  let lookFrom = clock.monotonic() + HEARD_MS;
  const markLate = async (): Promise<void> => {
    if (clock.monotonic() < lookFrom) return;
    try {
      while (!signal.aborted && (await stores.devices.markMissed(LATE_AT_ONCE)) === LATE_AT_ONCE);
    } catch (error) {
      // While the store could not be queried, no reports could be received either: devices get time to catch up.
      lookFrom = clock.monotonic() + HEARD_MS;
      throw error;
    }
  };
  await Promise.all([
    periodically(LATE_CHECK_MS, markLate, options),
    periodically(PRUNE_MS, stores.prune, options),
  ]);
}
