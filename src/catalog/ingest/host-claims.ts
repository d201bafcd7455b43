/** Collects which keys stored snapshots in the name of which host, as far as the snapshots say it. */
import { textOfBytes } from '../../base/byte-path.ts';
import { countedMs, storeKey, type StoredBy } from '../../base/stored-by.ts';
import type { Snapshot } from '../../repository/snapshots.ts';

/** What one key stored under one host name. */
export interface HostClaim {
  readonly storedBy: StoredBy;
  readonly host: string;
  /** When the first of them is taken to have been made, in milliseconds since 1970. */
  readonly firstMs: number;
  /** The one that was made last. */
  readonly newest: { readonly id: string; readonly atMs: number };
  /** Sets of source paths; not necessarily all. */
  readonly sources: readonly string[];
}

const SOURCES_KEPT = 100;

/** @param live oldest first */
export function hostClaims(live: readonly Snapshot[]): readonly HostClaim[] {
  const claims = new Map<string, HostClaim>();
  for (const { id, record, storedBy, storedMs } of live) {
    const name = JSON.stringify([storeKey(storedBy), record.host]);
    const known = claims.get(name);
    const atMs = countedMs(storedBy, { startedMs: record.startedMs, storedMs });
    const source = record.paths.map(textOfBytes).toSorted().join(', ');
    const sources = known?.sources ?? [];
    claims.set(name, {
      storedBy,
      host: record.host,
      firstMs: Math.min(atMs, known?.firstMs ?? atMs),
      newest: { id, atMs },
      sources: sources.includes(source) || sources.length >= SOURCES_KEPT ? sources : [...sources, source],
    });
  }
  return [...claims.values()];
}
