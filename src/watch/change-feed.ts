import type { ByteString } from '../base/byte-path.ts';
import type { HoldfastError } from '../base/errors.ts';

/** Receives what a feed learns. */
export interface ChangeSink {
  /** Entries of this directory may have changed. */
  directory(path: ByteString): void;
  /** Everything below the directory may have changed, as it is new here or was moved. */
  subtree(path: ByteString): void;
  /** Something may have changed anywhere. */
  unknown(reason: string): void;
  /** Like `unknown`, but worth reporting: events may have been dropped, or the source was inaccessible. */
  lose(reason: string): void;
  /** So many entries were reported, so a backup may be worthwhile. */
  happened(events: number): void;
  problem(error: HoldfastError): void;
}

/**
 * `paths` are directories to list, with all entries to be examined. In all other directories nothing has changed since
 * `since` (milliseconds since 1970), except for changes that no system reports: writes through a memory map, or through
 * another name of a file outside of the source. The changes may be applied to a snapshot begun at `since` or later.
 * `unknown` requires a full walk.
 */
export type Changes =
  | { readonly kind: 'paths'; readonly paths: readonly ByteString[]; readonly since: number }
  | { readonly kind: 'unknown'; readonly reason: string };

/** `absent`: the source is not there, so nothing can be watched. */
export type WatchState = 'starting' | 'watching' | 'polling' | 'lost' | 'absent' | 'closed';

/** One way of learning about changes. */
export interface ChangeFeed {
  readonly state: WatchState;
  readonly directories: number;
  /** Milliseconds within which a change is reported. */
  readonly lagMs: number;
  /**
   * Briefly checks what the system does not report, before changes are handed over.
   * @returns false when the watched directory is not at its place any more, so that another feed has to replace this one
   */
  check(): boolean;
  close(): Promise<void>;
}

/** The changes that have gathered when a backup is worthwhile. */
export interface ChangeSummary {
  /** Directories with changes; null when only a walk can tell. */
  readonly directories: number | null;
  /** Entries that were reported as created, changed or deleted. */
  readonly events: number;
  /** Times of the first and the last event, milliseconds since 1970. */
  readonly firstAt: number;
  readonly lastAt: number;
}
