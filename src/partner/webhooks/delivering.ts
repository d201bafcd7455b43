/**
 * Delivers what is due: one loop of each instance claims from the queue, and so many attempts are made at once. An attempt
 * whose process dies is made again when its claim has ended.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { Secret } from '../../config/secret.ts';
import type { Sealing } from '../secrets/sealing.ts';
import type { AttemptOutcome, DeliveryClaim, DueEndpoint } from '../store/deliveries.ts';
import type { PartnerStores } from '../store/store.ts';
import { attemptDelivery, type AttemptContext, type AttemptResult } from './attempt.ts';
import type { Bell } from './bell.ts';
import { createTurns } from './turns.ts';

export interface DeliveringParts extends AttemptContext {
  readonly stores: Pick<PartnerStores, 'deliveries' | 'events' | 'webhooks'>;
  readonly clock: Clock;
  readonly sealing: Pick<Sealing, 'open'>;
  /** Attempts at once. */
  readonly workers: number;
  /** Rung when something is due at once. */
  readonly bell: Bell;
  readonly trouble: (error: unknown) => void;
  /** How long attempts have to come to their end when it is disposed of. */
  readonly graceMs: number;
}

/** Between two looks at the queue: what another instance added, and what is tried again. */
const POLL_MS = 1_000;
/** As long, when the queue could not be looked at. */
const POLL_AFTER_TROUBLE_MS = 5_000;
/** Before an attempt that failed by no fault of the receiver. */
const AFTER_TROUBLE_MS = 30_000;
/** Three times as long as an attempt may take. */
const LEASE_MS = 60_000;

/** Delivers until it is disposed of; then nothing more is claimed, and what does not end in time is given back. */
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

  /** One more for each endpoint that may have one. False when there was none. */
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

/** Makes the attempt and notes what came of it. @throws what has nothing to do with the receiver */
async function carryOut(
  claim: DeliveryClaim,
  { stores, sealing, trouble, ...context }: DeliveringParts,
  signal: AbortSignal,
): Promise<void> {
  const { partnerId, delivery } = claim;
  try {
    const event = await stores.events.get(partnerId, delivery.eventId);
    const target = await stores.webhooks.target(partnerId, delivery.endpointId);
    // The endpoint was deleted, and the delivery with it.
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

/** Sleeps for so long, or until `sooner` resolves. */
async function sleepUntil(sooner: Promise<unknown>, ms: number, clock: Clock): Promise<void> {
  const over = new AbortController();
  void sooner.then(() => over.abort());
  await clock.sleep(ms, over.signal).catch((error: unknown) => {
    if (!over.signal.aborted) throw error;
  });
}
