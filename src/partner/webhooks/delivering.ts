/**
 * Delivers due webhooks. One loop in each instance claims deliveries from the queue and runs several attempts
 * concurrently. When a process dies, its attempts are made again after their claims have expired.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { Secret } from '../../config/secret.ts';
import type { Sealing } from '../secrets/sealing.ts';
import type { AttemptOutcome, DeliveryClaim, DueEndpoint } from '../store/deliveries.ts';
import type { PartnerStores } from '../store/store.ts';
import { type AttemptContext, attemptDelivery, type AttemptResult } from './attempt.ts';
import { createTurns } from './turns.ts';

/** Wakes a loop that polls for work. */
interface Bell {
  readonly ring: () => void;
  /** Resolves at the next ring. Only one caller may listen at a time. */
  listen(): Promise<undefined>;
}

export function createBell(): Bell {
  let next = Promise.withResolvers<undefined>();
  return {
    ring: () => next.resolve(undefined),
    listen: async () => {
      next = Promise.withResolvers<undefined>();
      return await next.promise;
    },
  };
}

export interface DeliveringParts extends AttemptContext {
  readonly stores: Pick<PartnerStores, 'deliveries' | 'events' | 'webhooks'>;
  readonly clock: Clock;
  readonly sealing: Pick<Sealing, 'open'>;
  /** Number of concurrent attempts. */
  readonly workers: number;
  /** Rings when a delivery is due at once. */
  readonly bell: Bell;
  readonly trouble: (error: unknown) => void;
  /** Time for running attempts to finish on disposal. */
  readonly graceMs: number;
}

/** Interval between two looks at the queue, for deliveries of other instances and for retries. */
const POLL_MS = 1_000;
/** The interval after a failure to read the queue. */
const POLL_AFTER_TROUBLE_MS = 5_000;
/** Pause before an attempt is repeated that failed through no fault of the receiver. */
const AFTER_TROUBLE_MS = 30_000;
/** Three times the longest attempt. */
const LEASE_MS = 60_000;

/** Delivers until disposed of. After that nothing is claimed, and attempts that do not finish in time are given back. */
export function startDelivering(parts: DeliveringParts): AsyncDisposable {
  const { stores, clock, bell, workers, trouble } = parts;
  const worker = randomUUID();
  const turns = createTurns(workers);
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  const ending = new AbortController();

  const begin = (claim: DeliveryClaim, due: DueEndpoint): void => {
    turns.begun(due);
    const attempt = carryOut(claim, parts, ending.signal)
      .catch(trouble)
      .finally(() => {
        turns.ended(due);
        running.delete(attempt);
        bell.ring();
      });
    running.add(attempt);
  };

  /** Begins one more attempt for each endpoint that may have one. False when it began none. */
  const beginRound = async (): Promise<boolean> => {
    let isAny = false;
    for (const due of turns.order(await stores.deliveries.dueEndpoints())) {
      if (stopping.signal.aborted || running.size >= workers) return false;
      const request = { ...due, worker, limit: 1, leaseMs: LEASE_MS };
      for (const claim of await stores.deliveries.claim(request)) {
        begin(claim, due);
        isAny = true;
      }
    }
    return isAny;
  };

  const look = async (): Promise<void> => {
    while (!stopping.signal.aborted && running.size < workers && (await beginRound()));
  };

  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const rung = bell.listen();
      let restMs = POLL_MS;
      try {
        await look();
      } catch (error) {
        trouble(error);
        restMs = POLL_AFTER_TROUBLE_MS;
      }
      await sleepUntil(rung, restMs, clock);
    }
  };

  const looping = loop();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      bell.ring();
      await looping;
      await sleepUntil(Promise.allSettled(running), parts.graceMs, clock);
      ending.abort();
      await Promise.allSettled(running);
    },
  };
}

/**
 * Makes the attempt and stores its outcome.
 * @throws errors that have nothing to do with the receiver
 */
async function carryOut(
  claim: DeliveryClaim,
  { stores, sealing, trouble, ...context }: DeliveringParts,
  signal: AbortSignal,
): Promise<void> {
  const { partnerId, delivery } = claim;
  try {
    const event = await stores.events.get(partnerId, delivery.eventId);
    const target = await stores.webhooks.target(partnerId, delivery.endpointId);
    // The endpoint was deleted, together with the delivery.
    if (event === undefined || target === undefined) return;
    const secrets = target.sealedSecrets.map(
      (sealed) => new Secret(sealing.open('webhook secret', delivery.endpointId, sealed)),
    );
    const message = { id: event.id, kind: event.kind, at: event.createdAt, data: event.data };
    const result = await attemptDelivery(message, { url: target.url, secrets }, context, signal);
    await stores.deliveries.finish(claim, outcomeOf(result));
  } catch (error) {
    const isCutOff = error === signal.reason;
    await stores.deliveries.giveBack(claim, isCutOff ? 0 : AFTER_TROUBLE_MS).catch(trouble);
    if (!isCutOff) throw error;
  }
}

function outcomeOf(result: AttemptResult): AttemptOutcome {
  switch (result.outcome) {
    case 'delivered':
      return { kind: 'delivered', status: result.status };
    case 'gone':
      return { kind: 'gone', status: result.status };
    case 'failed':
      return {
        kind: 'failed',
        status: result.status,
        error: result.error,
        retryAfterMs: result.retryAfterMs,
        silenceMs: result.silenceMs,
      };
  }
}

/** Sleeps for `ms`, or until `sooner` resolves. */
async function sleepUntil(sooner: Promise<unknown>, ms: number, clock: Clock): Promise<void> {
  const over = new AbortController();
  void sooner.then(() => over.abort());
  await clock.sleep(ms, over.signal).catch((error: unknown) => {
    if (!over.signal.aborted) throw error;
  });
}
