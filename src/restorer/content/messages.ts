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
  /** The run's part of all temporary names. */
  readonly run: string;
  /** [0] becomes 1 when the restore has ended early: queued jobs are then dropped. */
  readonly stop: SharedArrayBuffer;
}

interface JobBase {
  readonly job: number;
  /** Record pages that this worker does not have yet. */
  readonly pages: readonly SharedArrayBuffer[];
  /** Created entries inherit access lists that their snapshot versions do not have. */
  readonly clearAcls: boolean;
}

/** The files that need a segment. */
export interface SegmentTask {
  readonly number: number;
  /** Files whose missing content lies in this segment alone. */
  readonly whole: Uint32Array;
  /** Pairs of record handle and piece number. */
  readonly parts: Uint32Array;
}

export interface SegmentsJob extends JobBase {
  readonly kind: 'segments';
  readonly pack: KnownPack;
  /** Stored bytes of the pack from `offset` on, or the reason why they could not be read. */
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

/** Existing files, to find out which of their pieces differ. */
export interface CompareJob extends JobBase {
  readonly kind: 'compare';
  readonly files: Uint32Array;
}

/** Files with all their content: it has to be synced to disk, and then they get their metadata and names. */
export interface CompleteJob extends JobBase {
  readonly kind: 'complete';
  readonly files: Uint32Array;
}

/** File systems to sync to disk, each by the descriptor of a directory in it. */
export interface SyncJob extends JobBase {
  readonly kind: 'sync';
  readonly fileSystems: readonly number[];
}

export type Job = SegmentsJob | PlainJob | CompareJob | CompleteJob | SyncJob;
export type ToWorker = Job | { readonly kind: 'close' };

export interface FileFailure {
  readonly file: RecordHandle;
  /** The file had its content, and an earlier result counts it as written. */
  readonly counted: boolean;
  readonly code: string;
  readonly message: string;
}

export interface JobResult {
  readonly kind: 'done';
  readonly job: number;
  /** Files with all their content, which are still to be completed. */
  readonly written: Uint32Array;
  /** Number of files that were as they should be. */
  readonly unchanged: number;
  /** Total size of the unchanged and the written files. */
  readonly fileBytes: number;
  /** Bytes written. */
  readonly bytes: number;
  readonly failures: readonly FileFailure[];
  readonly omissions: readonly Omission[];
  /** For a `SyncJob`: why not everything is on disk. */
  readonly unsynced: FailureFacts | undefined;
  /** Set when the job ended early because the target is full: what the system says, in words. */
  readonly full: string | undefined;
  readonly lastFile: RecordHandle;
}

/** A bug was found: the restore ends. */
export interface FatalMessage {
  readonly kind: 'fatal';
  readonly message: string;
  readonly stack: string;
}

export type FromWorker = JobResult | FatalMessage;
