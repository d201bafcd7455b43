import type { ByteString } from '../base/byte-path.ts';
import type { HoldfastError } from '../base/errors.ts';

/** Where a feed puts what it learns. */
export interface ChangeSink {
  /** Entries of this directory may have changed. */
  directory(path: ByteString): void;
  /** Everything below it may have: it is new here, or was moved. */
  subtree(path: ByteString): void;
  /** Something may have changed anywhere. */
  unknown(reason: string): void;
  /** The same, and worth telling: events may have been dropped, or the source was out of sight. */
  lose(reason: string): void;
  /** So many entries were reported: a backup may be worthwhile. */
  happened(events: number): void;
  problem(error: HoldfastError): void;
}

/**
 * `paths` are directories to list and look at entry by entry; whatever lies in any other directory is as it was at
 * `since` (milliseconds since 1970), but for writes through a memory map, or through another name that a file was given
 * outside of the source: of these no system tells. A snapshot begun at `since` or later may be compared with them.
 * `unknown` asks for a whole walk.
 */
export type Changes =
  | { readonly kind: 'paths'; readonly paths: readonly ByteString[]; readonly since: number }
  | { readonly kind: 'unknown'; readonly reason: string };

export type WatchState = 'starting' | 'watching' | 'polling' | 'lost' | 'closed';

/** One way of learning of changes. */
export interface ChangeFeed {
  readonly state: WatchState;
  readonly directories: number;
  /** Milliseconds within which a change has been told of. */
  readonly lagMs: number;
  /**
   * Has a short look at what the system does not report by itself, before changes are handed over.
   * @returns false when it watches what does not lie there any more, and another one has to take its place
   */
  check(): boolean;
  close(): Promise<void>;
}

/** What has gathered when a backup is worthwhile. */
export interface ChangeSummary {
  /** Directories that hold changes; null when only a walk can tell. */
  readonly directories: number | null;
  /** Entries that were reported as created, changed or deleted. */
  readonly events: number;
  /** Of the first and the last of them, milliseconds since 1970. */
  readonly firstAt: number;
  readonly lastAt: number;
}
