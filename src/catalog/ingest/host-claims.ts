/** In whose name snapshots were stored: which keys stored what for which machine, as far as the snapshots say it. */
import { textOfBytes } from '../../base/byte-path.ts';
import { countedMs, storeKey, type StoredBy } from '../../base/stored-by.ts';
import type { Snapshot } from '../../repository/snapshots.ts';

/** What one key stored under one host name. */
export interface HostClaim {
  readonly storedBy: StoredBy;
  readonly host: string;
  /** Milliseconds since 1970: when the first of them counts as made. */
  readonly firstMs: number;
  /** The last of them that was made. */
  readonly newest: { readonly id: string; readonly atMs: number };
  /** Sets of source paths, some of them. */
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
