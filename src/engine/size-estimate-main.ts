/** Entry file of the process that counts a source: it takes one order, says what it found, and ends. */
import { systemClock } from '../base/clock.ts';
import { HoldfastError } from '../base/errors.ts';
import type { EstimateOrder, FromEstimate } from './protocol.ts';
import { estimateSource } from './size-estimate.ts';

process.once('message', (order: EstimateOrder) => {
  const last = count(order);
  process.send?.(last, undefined, {}, () => process.disconnect());
});

function count(order: EstimateOrder): FromEstimate {
  try {
    const estimate = estimateSource(order, systemClock, (soFar) => {
      process.send?.({ kind: 'counted', estimate: soFar, isLast: false } satisfies FromEstimate);
    });
    return { kind: 'counted', estimate, isLast: true };
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    const { code, message, hint, details } = error;
    return { kind: 'refused', code, message, hint, details };
  }
}
