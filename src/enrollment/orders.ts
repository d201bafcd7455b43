/** Orders of the partner: signed, for this device, for an hour at most, each once, and of two kinds that harm nothing. */
import { createHash } from 'node:crypto';
import type { PartnerReportStore } from '../db/partner-reports.ts';
import type { Enrollment } from './enrollment-file.ts';
import { readOrder, type OrderKind } from './signed.ts';

export interface OrderParts {
  readonly enrollment: () => Pick<Enrollment, 'serviceKey' | 'deviceId'>;
  readonly store: Pick<PartnerReportStore, 'takeOrder'>;
  readonly now: () => number;
  readonly carryOut: (order: OrderKind) => void;
  /** Told of each order that is refused, once. */
  readonly refused: (error: unknown) => void;
}

/** More are not looked at: a receipt holds ten. */
const MOST_AT_ONCE = 10;
/** Hashes of refused orders, which come again with each receipt. */
const MOST_REMEMBERED = 100;

export class Orders {
  readonly #parts: OrderParts;
  readonly #refused = new Set<string>();

  constructor(parts: OrderParts) {
    this.#parts = parts;
  }

  /** Carries out those that may be and were not yet. */
  async take(texts: readonly unknown[]): Promise<void> {
    for (const text of texts.slice(0, MOST_AT_ONCE)) {
      if (typeof text === 'string') await this.#takeOne(text);
    }
  }

  async #takeOne(text: string): Promise<void> {
    const { enrollment, store, now, carryOut } = this.#parts;
    const { serviceKey, deviceId } = enrollment();
    try {
      const { jti, exp, order } = await readOrder(text, serviceKey, deviceId, now());
      // Noted first: after a crash an order is rather not carried out than twice.
      if (store.takeOrder(jti, exp * 1000)) carryOut(order);
    } catch (error) {
      this.#note(text, error);
    }
  }

  #note(text: string, error: unknown): void {
    const hash = createHash('sha256').update(text).digest('base64');
    if (this.#refused.has(hash)) return;
    if (this.#refused.size >= MOST_REMEMBERED) this.#refused.clear();
    this.#refused.add(hash);
    this.#parts.refused(error);
  }
}
