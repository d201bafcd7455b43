/** Entry file of the process that counts a source: it takes one request, reports the result, and ends. */
import { requireAnswer } from '../archiver/source/sources.ts';
import { systemClock } from '../base/clock.ts';
import { HoldfastError } from '../base/errors.ts';
import { neverPaths } from './job-parts.ts';
import type { EstimateOrder, FromEstimate } from './protocol.ts';
import { estimateSource } from './size-estimate.ts';

process.once('message', (order: EstimateOrder) => void answer(order));

async function answer(order: EstimateOrder): Promise<void> {
  const last = await count(order);
  process.send?.(last, undefined, {}, () => process.disconnect());
}

async function count(order: EstimateOrder): Promise<FromEstimate> {
  try {
    const { signal } = new AbortController();
    await requireAnswer([order.path], '/', signal);
    const never = await neverPaths({ job: order, place: { directory: undefined } }, signal);
    const estimate = estimateSource(order, never, systemClock, (soFar) => {
      process.send?.({ kind: 'counted', estimate: soFar, isLast: false } satisfies FromEstimate);
    });
    return { kind: 'counted', estimate, isLast: true };
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    const { code, message, hint, details } = error;
    return { kind: 'refused', code, message, hint, details };
  }
}
