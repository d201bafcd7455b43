import type { KeyMaterial } from '../../codec/keys.ts';
import type { KnownPack } from '../../repository/chunk-index.ts';
import type { FailureFacts } from '../target/entry-failure.ts';
import type { RecordHandle } from '../target/entry-records.ts';
import type { MetadataPolicy } from '../metadata/metadata.ts';
import type { Omission } from '../request/request.ts';

/** Given to a worker once, when it starts. */
export interface WorkerSetup {
  readonly keys: KeyMaterial;
  readonly plain: boolean;
  readonly salt: Uint8Array | undefined;
  /** The target's root: its descriptor, which all threads share, or its path. */
  readonly target: { readonly fd: number } | { readonly path: string };
  readonly root: RecordHandle;
  readonly policy: MetadataPolicy;
  readonly verify: boolean;
  /** Part of the temporary names of this run. */
  readonly run: string;
  /** [0] becomes 1 when the restore has ended before its time: jobs that wait are left. */
  readonly stop: SharedArrayBuffer;
}

interface JobBase {
  readonly job: number;
  /** Record pages that this worker does not have yet. */
  readonly pages: readonly SharedArrayBuffer[];
  /** Created directories inherit access lists that their snapshot versions do not have. */
  readonly clearAcls: boolean;
}

/** What is needed of one segment. */
export interface SegmentTask {
  readonly number: number;
  /** Files that need nothing else. */
  readonly whole: Uint32Array;
  /** Pairs of record and number of the piece. */
  readonly parts: Uint32Array;
}

export interface SegmentsJob extends JobBase {
  readonly kind: 'segments';
  readonly pack: KnownPack;
  /** Stored bytes of the pack from `offset` on; or why there are none. */
  readonly sealed:
    | { readonly bytes: ArrayBuffer; readonly start: number; readonly offset: number }
    | { readonly missing: string };
  readonly segments: readonly SegmentTask[];
}

/** Files without stored content: empty ones, holes only, metadata only. */
export interface PlainJob extends JobBase {
  readonly kind: 'plain';
  readonly files: Uint32Array;
}

/** Files that stand in the target: which of their pieces differ. */
export interface CompareJob extends JobBase {
  readonly kind: 'compare';
  readonly files: Uint32Array;
}

/** Files with all their content: it is to be on disk, and then they get their metadata and their names. */
export interface CompleteJob extends JobBase {
  readonly kind: 'complete';
  readonly files: Uint32Array;
}

/** File systems of which everything is to be on disk, by the descriptor of a directory in each. */
export interface SyncJob extends JobBase {
  readonly kind: 'sync';
  readonly fileSystems: readonly number[];
}

export type Job = SegmentsJob | PlainJob | CompareJob | CompleteJob | SyncJob;
export type ToWorker = Job | { readonly kind: 'close' };

export interface FileFailure {
  readonly file: RecordHandle;
  /** It had its content, and an earlier result counts it. */
  readonly counted: boolean;
  readonly code: string;
  readonly message: string;
}

export interface JobResult {
  readonly kind: 'done';
  readonly job: number;
  /** Files with all their content, which are still to be completed. */
  readonly written: Uint32Array;
  /** Files that were as they should be. */
  readonly unchanged: number;
  /** Sizes of these and of those that were written. */
  readonly fileBytes: number;
  /** Bytes written. */
  readonly bytes: number;
  readonly failures: readonly FileFailure[];
  readonly omissions: readonly Omission[];
  /** Why not everything on the file systems of a `SyncJob` is on disk. */
  readonly unsynced: FailureFacts | undefined;
  /** The job ended before its time, since the target cannot take any more: what the system said. */
  readonly full: string | undefined;
  readonly lastFile: RecordHandle;
}

/** The program is wrong: the restore ends. */
export interface FatalMessage {
  readonly kind: 'fatal';
  readonly message: string;
  readonly stack: string;
}

export type FromWorker = JobResult | FatalMessage;
