/**
 * Carries out the partner's orders. An order must be signed for this device, is valid for at most an hour, and is
 * carried out once. There are two kinds, which do no harm.
 */
import { createHash } from 'node:crypto';
import type { PartnerReportStore } from '../db/partner-reports.ts';
import type { Enrollment } from './enrollment-file.ts';
import { readOrder, type OrderKind } from './signed.ts';

export interface OrderParts {
  readonly enrollment: () => Pick<Enrollment, 'serviceKey' | 'deviceId'>;
  readonly store: Pick<PartnerReportStore, 'takeOrder'>;
  readonly now: () => number;
  readonly carryOut: (order: OrderKind) => void;
  /** Called once for each order that is refused. */
  readonly refused: (error: unknown) => void;
}

/** Further orders are ignored: a receipt holds at most ten. */
const MOST_AT_ONCE = 10;
/** The most hashes of refused orders that are remembered. Refused orders come again with each receipt. */
const MOST_REMEMBERED = 100;

export class Orders {
  readonly #parts: OrderParts;
  readonly #refused = new Set<string>();

  constructor(parts: OrderParts) {
    this.#parts = parts;
  }

  /** Carries out the valid orders that have not been carried out yet. */
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
      // Recorded first: after a crash it is better that an order is not carried out than that it is carried out twice.
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
