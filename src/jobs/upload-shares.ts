/** Splits the upload limit among the running jobs, so that together they keep to it. */

/** A running job. */
export interface Uploader {
  /** Bytes that it has sent so far. */
  readonly sent: number;
  /** Bytes per second from now on; null for no limit. */
  limit(bytesPerSecond: number | null): void;
}

interface Part {
  readonly share: number;
  /** Bytes per second that the job can use; infinite when that is unknown, or when it uses all it gets. */
  readonly need: number;
  /** When the share was assigned, and what the job had sent by then. */
  readonly sinceMs: number;
  readonly sentBefore: number;
}

/** Milliseconds over which the use of a share is measured. */
const MEASURE_MS = 4_000;
/** Milliseconds between two assignments while several jobs upload. */
export const SHARE_AGAIN_MS = 5_000;
/** A job that uses this part of its share is limited by it. */
const WELL_USED = 0.8;
/** A slow job may get this many times what it used, */
const GROWTH = 1.5;
/** but never less than this part of an equal share, as its destination may have become faster. */
const LEAST = 1 / 4;
/** A share that changes by a smaller part keeps its measurement running. */
const NOTABLE = 0.2;

export class UploadShares {
  #parts = new Map<Uploader, Part>();

  /** @param nowMs on the monotonic clock */
  give(total: number | null, uploaders: readonly Uploader[], nowMs: number): void {
    if (total === null) {
      this.#parts.clear();
      for (const uploader of uploaders) uploader.limit(null);
      return;
    }
    const needs = uploaders.map((one) => this.#needOf(one, nowMs));
    const shares = sharesOf(total, needs);
    const parts = uploaders.map((uploader, index): [Uploader, Part] => {
      const [share, need] = [shares[index] ?? total, needs[index] ?? Number.POSITIVE_INFINITY];
      return [uploader, partOf(this.#parts.get(uploader), { share, need }, uploader.sent, nowMs)];
    });
    this.#parts = new Map(parts);
    // Shares that shrink are assigned first, so that the total never exceeds the limit.
    const rising = parts.toSorted(([, a], [, b]) => a.share - b.share);
    for (const [uploader, { share }] of rising) uploader.limit(Math.max(1, Math.floor(share)));
  }

  #needOf(uploader: Uploader, nowMs: number): number {
    const part = this.#parts.get(uploader);
    if (part === undefined) return Number.POSITIVE_INFINITY;
    const passedMs = nowMs - part.sinceMs;
    if (passedMs < MEASURE_MS) return part.need;
    const rate = ((uploader.sent - part.sentBefore) * 1_000) / passedMs;
    return rate >= part.share * WELL_USED ? Number.POSITIVE_INFINITY : rate * GROWTH;
  }
}

function partOf(
  before: Part | undefined,
  { share, need }: Pick<Part, 'share' | 'need'>,
  sent: number,
  nowMs: number,
): Part {
  const isMeasured =
    before !== undefined &&
    nowMs - before.sinceMs < MEASURE_MS &&
    Math.abs(share - before.share) < before.share * NOTABLE;
  return isMeasured ? { ...before, need } : { share, need, sinceMs: nowMs, sentBefore: sent };
}

/** Serves the smallest needs first; the others share what is left. Bandwidth that nobody needs is split equally. */
export function sharesOf(total: number, needs: readonly number[]): readonly number[] {
  const least = (total / needs.length) * LEAST;
  const shares = needs.map(() => 0);
  const order = needs.map((_, index) => index).sort((a, b) => (needs[a] ?? 0) - (needs[b] ?? 0));
  let left = total;
  for (const [done, index] of order.entries()) {
    const equal = left / (needs.length - done);
    const share = Math.min(equal, Math.max(least, needs[index] ?? equal));
    shares[index] = share;
    left -= share;
  }
  return shares.map((share) => share + left / needs.length);
}
