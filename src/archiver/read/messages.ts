import type { ByteString } from '../../base/byte-path.ts';
import type { Compression } from '../../codec/compress.ts';
import type { ChunkerParameters } from '../../codec/chunker.ts';
import type { KeyMaterial } from '../../codec/keys.ts';
import type { OmittedKind } from '../../format/omission.ts';
import type { Xattr } from '../../format/tree.ts';
import type { ChunkTableMemory } from '../../repository/packs/chunk-table.ts';
import type { CutContent } from './cutter.ts';
import type { PackBufferMemory } from './pack-buffers.ts';

/** What the walker saw of a file. */
export interface StatFacts {
  readonly size: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly inode: number;
  /** In units of 512 bytes. */
  readonly blocks: number;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** A file, or a span of a large one, to be read. */
export interface FileTask extends StatFacts {
  readonly path: ByteString;
  /** The device as the walker saw it; -1 if unknown. */
  readonly device: number;
  readonly offset: number;
  /** The task covers the whole file. */
  readonly whole: boolean;
  /** The task begins at offset 0. */
  readonly first: boolean;
  /** Bytes of this task when the file has `size` bytes. */
  spanLength(size: number): number;
}

/** The result of a task. */
export type FileRead =
  | {
      readonly content: CutContent;
      readonly size: number;
      /** The file changed while it was read; for a whole file, in both attempts. */
      readonly changed: boolean;
      /** Set when the file was not as the walker had seen it. */
      readonly stat: StatFacts | undefined;
      readonly xattrs: readonly Xattr[] | undefined;
      readonly xattrProblems: readonly OmittedKind[];
      readonly problem?: undefined;
    }
  | { readonly problem: string; readonly message: string };

/** Many tasks in a form that is cheap to post: columns instead of objects. */
export interface BatchMessage {
  readonly kind: 'batch';
  readonly batch: number;
  readonly paths: readonly string[];
  /** Nine numbers per task: offset, span length or -1 for a whole file, size, inode, blocks, mode, uid, gid, device or -1. */
  readonly numbers: Float64Array;
  /** Two per task, as `timeAt` reads them: mtime, ctime. */
  readonly times: BigInt64Array;
}

export const NUMBERS_PER_TASK = 9;

/** The results of a batch, in the order of its tasks. */
export interface BatchResult {
  readonly kind: 'result';
  readonly batch: number;
  /** One per task: number of ids, or -1 when it failed. */
  readonly idCounts: Int32Array;
  /** One per task: size as read. */
  readonly sizes: Float64Array;
  /** The ids (24 bytes each) of all tasks together. */
  readonly ids: Uint8Array;
  /** Facts that only a few tasks have, by task number. */
  readonly extras: ReadonlyMap<number, TaskExtras>;
  readonly newBytes: number;
}

export interface TaskExtras {
  readonly changed: boolean;
  readonly stat: StatFacts | undefined;
  readonly holes: readonly { readonly offset: number; readonly length: number }[];
  readonly xattrs: readonly { readonly name: string; readonly value: Uint8Array }[] | undefined;
  readonly xattrProblems: readonly OmittedKind[];
  readonly problem: { readonly code: string; readonly message: string } | undefined;
}

/** A finished pack on its way to the destination. */
export interface PackMessage {
  readonly kind: 'pack';
  readonly name: string;
  /** Number of its buffer in the pool, or the bytes themselves when they were too large for the pool. */
  readonly buffer: number | Uint8Array;
  readonly length: number;
  readonly indexEntry: Uint8Array;
}

export type FromWorker = BatchResult | PackMessage | { readonly kind: 'finished' } | FailureMessage;

export interface FailureMessage {
  readonly kind: 'failure';
  readonly message: string;
  readonly hint: string;
  /** RepositoryError code, or undefined for a bug. */
  readonly code: string | undefined;
  readonly stack: string;
}

/** `finish`: nothing more will be read, close the pack. `end`: the run is over, end the thread. */
export type ToWorker = BatchMessage | { readonly kind: 'finish' | 'end' };

/** Given to a worker once, when it starts. */
export interface WorkerSetup {
  readonly keys: KeyMaterial;
  readonly plain: boolean;
  readonly salt: Uint8Array | undefined;
  readonly chunker: ChunkerParameters;
  readonly packTarget: number;
  readonly firstTarget: number;
  readonly segmentTarget: number;
  readonly compression: Compression;
  readonly table: ChunkTableMemory;
  readonly packBuffers: PackBufferMemory;
}
