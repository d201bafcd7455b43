/** A receiver of webhooks that verifies each message by the reference implementation, and answers after a moment. */
import { Webhook } from 'standardwebhooks';
import { expect } from 'vitest';
import { idOf } from '../support/delivery-site.ts';
import { makeCertificates } from '../support/test-certificates.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

export interface WebhookArrival {
  readonly eventId: string;
  /** As `performance.now()` tells it. */
  readonly at: number;
}

export interface WebhookLog extends AsyncDisposable {
  readonly port: number;
  /** PEM of the authority of its certificate. */
  readonly authority: string;
  readonly arrivals: readonly WebhookArrival[];
  /** What is wrong with messages that came. */
  readonly faults: readonly string[];
  /** What comes to that path is signed with that secret. */
  expectAt(path: string, secret: string): void;
}

/** As a receiver that has something to do: so that some are under way at each moment. */
const ANSWERED_AFTER_MS = 250;

export async function startWebhookLog(): Promise<WebhookLog> {
  const { authority, good } = await makeCertificates();
  const receiver = await startWebhookReceiver(good);
  const arrivals: WebhookArrival[] = [];
  const faults: string[] = [];
  const secrets = new Map<string, string>();
  receiver.answer = (count, response) => {
    const message = receiver.received[count - 1] ?? expect.fail('no such message');
    const arrival: WebhookArrival = { eventId: idOf(message), at: performance.now() };
    arrivals.push(arrival);
    try {
      const headers = Object.entries(message.headers).map(([name, value]) => [name, String(value)]);
      new Webhook(secrets.get(message.path) ?? '').verify(message.body, Object.fromEntries(headers));
    } catch (error) {
      faults.push(`${arrival.eventId}: ${String(error)}`);
    }
    setTimeout(() => response.end('OK'), ANSWERED_AFTER_MS);
  };
  return {
    port: receiver.port,
    authority,
    arrivals,
    faults,
    expectAt: (path, secret) => void secrets.set(path, secret),
    [Symbol.asyncDispose]: async () => await receiver[Symbol.asyncDispose](),
  };
}
