/** Splits what may be uploaded in a second among the jobs at work, so that together they keep to it. */

/** A job at work. */
export interface Uploader {
  /** Bytes that it has sent so far. */
  readonly sent: number;
  /** Bytes per second from now on; null for no limit. */
  limit(bytesPerSecond: number | null): void;
}

interface Part {
  readonly share: number;
  /** What it can make use of; infinite where that is not known, or as much as it gets. */
  readonly need: number;
  /** When its share was given, and what it had sent by then. */
  readonly sinceMs: number;
  readonly sentBefore: number;
}

/** Milliseconds over which is measured what a job makes of its share. */
const MEASURE_MS = 4_000;
/** Milliseconds after which shares are given anew while several jobs upload. */
export const SHARE_AGAIN_MS = 5_000;
/** Who uses so much of its share is held up by it. */
const WELL_USED = 0.8;
/** What a slow destination takes may grow by so much until the next look, */
const GROWTH = 1.5;
/** and nobody gets less than this part of an equal share: a destination that was slow may be so no longer. */
const LEAST = 1 / 4;
/** A share that changes by less is measured on. */
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
    // Who gets less hears of it first, so that all together never get more.
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

/** The small needs first: what they leave is for the others. What nobody can use all have a part of. */
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
