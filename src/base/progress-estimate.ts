/** Estimates the rate of recent work and the time left. Pure: times are passed in with the counters. */

export interface EstimateCounters {
  readonly phase: string;
  readonly filesDone: number;
  readonly filesTotal: number | null;
  readonly bytesDone: number;
  readonly bytesTotal: number | null;
}

export interface Estimate {
  /** Takes the counters at `time`, in monotonic milliseconds. */
  observe(time: number, counters: EstimateCounters): void;
  /** Null until enough work was seen. */
  bytesPerSecond(): number | null;
  /** Milliseconds left; null when they cannot be estimated: the total is unknown, it is too early, or nothing moves. */
  etaMs(): number | null;
}

const LIMITS = Object.freeze({
  /** Weights fall by a factor of e in this time, which gives samples the same average age as a plain mean over 30 s. */
  decayMs: 15_000,
  /** Observations that follow each other more closely are combined. */
  sampleMs: 100,
  rateAfterMs: 500,
  etaAfterMs: 3000,
  /** Without any progress for this long, no time is given. */
  stalledMs: 20_000,
  /** Longer estimates are meaningless. */
  longestEtaMs: 99 * 24 * 3_600_000,
  /** Apart from counting down, the shown time changes each second by at most this fraction of itself… */
  etaShare: 0.2,
  /** …or by this many seconds, whichever is more. */
  etaSeconds: 2,
});

interface Sample {
  readonly time: number;
  readonly counters: EstimateCounters;
}

export function createEstimate(): Estimate {
  let first: Sample | undefined;
  let last: Sample | undefined;
  let movedAt = 0;
  // Weighted sums in which older parts count less.
  let bytes = 0;
  let files = 0;
  let weight = 0;
  let shown: number | null = null;

  function start(sample: Sample): void {
    first = sample;
    last = sample;
    movedAt = sample.time;
    bytes = 0;
    files = 0;
    weight = 0;
    shown = null;
  }

  function elapsed(): number {
    return first === undefined || last === undefined ? 0 : last.time - first.time;
  }

  /** By bytes where their total is known, otherwise by files. */
  function rawEta(): number | null {
    if (last === undefined || elapsed() < LIMITS.etaAfterMs) return null;
    if (last.time - movedAt >= LIMITS.stalledMs) return null;
    const { bytesTotal, bytesDone, filesTotal, filesDone } = last.counters;
    const [left, done] =
      bytesTotal === null || bytesTotal > 0
        ? [(bytesTotal ?? NaN) - bytesDone, bytes]
        : [(filesTotal ?? NaN) - filesDone, files];
    if (!(left > 0) || done <= 0) return null;
    const eta = (left * weight) / done;
    return eta <= LIMITS.longestEtaMs ? eta : null;
  }

  return {
    observe(time, counters) {
      const { bytesDone, filesDone, phase } = counters;
      const before = last?.counters;
      if (
        last === undefined ||
        before === undefined ||
        before.phase !== phase ||
        bytesDone < before.bytesDone
      ) {
        start({ time, counters });
        return;
      }
      const passed = time - last.time;
      if (passed < LIMITS.sampleMs) return;
      const kept = Math.exp(-passed / LIMITS.decayMs);
      bytes = bytes * kept + bytesDone - before.bytesDone;
      files = files * kept + filesDone - before.filesDone;
      weight = weight * kept + passed;
      if (bytesDone > before.bytesDone || filesDone > before.filesDone) movedAt = time;
      last = { time, counters };
      shown = towards(shown, rawEta(), passed);
    },
    bytesPerSecond: () => (elapsed() < LIMITS.rateAfterMs ? null : (bytes * 1000) / weight),
    etaMs: () => shown,
  };
}

/** The next time to show: counted down, and moved towards the new estimate in limited steps. */
function towards(shown: number | null, wanted: number | null, passed: number): number | null {
  if (shown === null || wanted === null) return wanted;
  const expected = Math.max(0, shown - passed);
  const reach = Math.max(expected * LIMITS.etaShare, LIMITS.etaSeconds * 1000) * (passed / 1000);
  return Math.min(expected + reach, Math.max(expected - reach, wanted));
}
