/** The backups at work, as their leases in the storage show them to everybody. */
import { LEASE_TIMES, parseLeaseKey } from '../../src/repository/lease-objects.ts';

/** Two heartbeats: a prune has that much time to go from its look at the leases to a mark. */
const LIVE_MS = 2 * LEASE_TIMES.heartbeat;

/** Of times in whole seconds, and of the way from the storage's clock to an answer. */
const ROUNDING_MS = 10_000;

interface Session {
  readonly purpose: string;
  /** Storage time of its first lease: its later ones say it too, also once the first has gone. */
  readonly startedMs: number;
  /** Since when everybody finds it alive: by true time, and by the storage's clock. It stores nothing before. */
  aliveSince: { readonly trueMs: number; readonly storedMs: number };
  /** Its last sign of life, by true time. */
  seenMs: number;
  /** Highest epoch that there ever was. */
  epoch: number;
  /** Keys of its leases that are there. */
  readonly leases: Set<string>;
}

interface Seen {
  readonly signMs: number;
  readonly visibleMs: number;
  readonly shownMs: number;
}

export class Sessions {
  readonly #sessions = new Map<string, Session>();

  /**
   * @param storedMs the storage's time of the lease; undefined for one that has gone
   * @param seen when it was written, and since when others can see it, by true time and by the storage's clock: in a
   *   directory it has its time under another name first
   */
  see(key: string, storedMs: number | undefined, { signMs, visibleMs, shownMs }: Seen): void {
    const lease = parseLeaseKey(key);
    if (lease === undefined) return;
    const { purpose, epoch } = lease;
    const known = this.#sessions.get(purpose);
    if (storedMs === undefined) {
      known?.leases.delete(key);
      // Where an older one is left, power was lost and took its last sign of life, and most likely the session.
      if (known?.epoch === epoch && known.leases.size > 0) known.seenMs = Number.NEGATIVE_INFINITY;
      return;
    }
    const now = { trueMs: visibleMs, storedMs: shownMs };
    if (known === undefined) {
      const facts = { startedMs: storedMs, aliveSince: now, seenMs: signMs, leases: new Set([key]) };
      this.#sessions.set(purpose, { purpose, epoch, ...facts });
      return;
    }
    // One that is looked at again, or has come back after power was lost, is no sign of life.
    if (epoch > known.epoch) {
      const wasAlive = known.leases.size > 0 && signMs - known.seenMs < LEASE_TIMES.expiry - ROUNDING_MS;
      if (!wasAlive) known.aliveSince = now;
      known.seenMs = signMs;
      known.epoch = epoch;
    }
    // A request that arrives once more when its session has ended shows a lease that nobody holds.
    else if (known.leases.size === 0) return;
    known.leases.add(key);
  }

  /**
   * The session because of which a pack must not be marked. One that slept for so long that it counted as dead protects
   * all its packs again from prunes that begin after it woke up, and from others what it has stored since.
   *
   * @param packMs when the pack was stored, by the storage's clock
   * @param prunesSinceMs true time before which no prune began that may mark now
   */
  protecting(packMs: number, prunesSinceMs: number, nowMs: number): string | undefined {
    for (const { purpose, leases, startedMs, aliveSince, seenMs } of this.#sessions.values()) {
      if (leases.size === 0 || nowMs - seenMs > LIVE_MS) continue;
      const fromMs = aliveSince.trueMs < prunesSinceMs ? startedMs : aliveSince.storedMs;
      if (packMs >= fromMs) return purpose;
    }
    return undefined;
  }
}
