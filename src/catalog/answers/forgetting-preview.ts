/** Previews which of the catalog's snapshots a prune would forget. */
import { planForgetting, type RetentionRules } from '../../repository/retention/forgetting.ts';
import { sourceText, type KnownSnapshot } from './known-snapshots.ts';

export interface ForgettingRequest {
  readonly rules: RetentionRules;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** The most snapshots that are listed one by one. */
  readonly limit: number;
}

export interface ForgettingPreview {
  readonly kept: number;
  readonly removed: number;
  /** Newest first. */
  readonly items: readonly {
    readonly id: string;
    readonly source: string;
    /** Milliseconds since 1970. */
    readonly created_at: number;
    readonly size_bytes: number;
    readonly keep: boolean;
    /** Names of the rules that keep it, and `alarm`. */
    readonly reasons: readonly string[];
  }[];
}

/** @param snapshots all snapshots of the repository, sorted by their times, oldest first */
export function previewForgetting(
  snapshots: readonly KnownSnapshot[],
  { rules, nowMs, limit }: ForgettingRequest,
): ForgettingPreview {
  const plan = planForgetting(
    snapshots
      .toSorted((a, b) => a.rank - b.rank)
      .map((one) => ({
        ...one,
        startedMs: one.saidMs ?? one.started,
        partial: one.partial || one.isNarrowed,
      })),
    rules,
    nowMs,
  );
  const shown = snapshots.toReversed().slice(0, limit);
  return {
    kept: plan.kept.size,
    removed: plan.remove.length,
    items: shown.map((one) => ({
      id: one.id,
      source: sourceText(one),
      created_at: one.started,
      size_bytes: one.bytes,
      keep: plan.kept.has(one.id),
      reasons: plan.kept.get(one.id) ?? [],
    })),
  };
}
