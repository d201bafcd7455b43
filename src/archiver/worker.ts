/** Entry file of a worker thread: reads batches of files and posts finished packs and compact results. */

import { parentPort, workerData } from 'node:worker_threads';
import { asByteString } from '../base/byte-path.ts';
import { BugError, HoldfastError } from '../base/errors.ts';
import { Chunker } from '../codec/chunker.ts';
import { ObjectKeys } from '../codec/keys.ts';
import { CIPHER_GCM, CIPHER_PLAIN } from '../format/header.ts';
import { ChunkTable } from '../repository/chunk-table.ts';
import { PackWriter, type FinishedPack } from '../repository/pack-writer.ts';
import { ChunkSink } from './chunk-sink.ts';
import { FileReader } from './file-reader.ts';
import { PackBuffers, PoolClosed } from './pack-buffers.ts';
import {
  NUMBERS_PER_TASK,
  type BatchMessage,
  type BatchResult,
  type FileTask,
  type FromWorker,
  type TaskExtras,
  type ToWorker,
  type WorkerSetup,
} from './messages.ts';

const port = parentPort;
if (port === null) throw new BugError('The archiver worker was started outside of a worker thread');
const setup: WorkerSetup = workerData;
const packBuffers = new PackBuffers(setup.packBuffers);
/** Number of the pool's buffer that the open pack is written to; unset for a pack too large for the pool. */
let current: number | undefined;

const namespace = { plain: setup.plain, salt: setup.salt };
const keys = new ObjectKeys(setup.keys);
const idKey = keys.idKey('data', namespace);
const table = new ChunkTable(setup.table);
const writer = new PackWriter({
  keys,
  kind: 'data',
  cipher: setup.plain ? CIPHER_PLAIN : CIPHER_GCM,
  idKey,
  packTarget: setup.packTarget,
  segmentTarget: setup.segmentTarget,
  compression: setup.compression,
  take: takeBuffer,
  emit: postPack,
});
const sink = new ChunkSink(idKey, table, writer);
const reader = new FileReader(sink, new Chunker(keys.chunkerKey, setup.chunker));

port.on('message', (message: ToWorker) => {
  if (message.kind === 'end') {
    port.close();
    return;
  }
  if (packBuffers.closed) return;
  try {
    if (message.kind === 'batch') {
      post(readBatch(message));
      return;
    }
    sink.finish();
    post({ kind: 'finished' });
  } catch (error) {
    if (error instanceof PoolClosed) return;
    post(failureOf(error));
  }
});

/** Blocks, with the whole thread, while every buffer holds a pack on its way: this is what bounds memory. */
function takeBuffer(capacity: number): Buffer {
  if (capacity > setup.packTarget) {
    current = undefined;
    return Buffer.allocUnsafeSlow(capacity);
  }
  const { number, buffer } = packBuffers.take();
  current = number;
  return buffer;
}

function postPack({ name, bytes, indexEntry }: FinishedPack): void {
  post({ kind: 'pack', name, buffer: current ?? bytes, length: bytes.length, indexEntry });
}

function post(message: FromWorker): void {
  port?.postMessage(message);
}

function readBatch(message: BatchMessage): BatchResult {
  const count = message.paths.length;
  const idCounts = new Int32Array(count);
  const sizes = new Float64Array(count);
  const ids: Buffer[] = [];
  const extras = new Map<number, TaskExtras>();
  const before = sink.newBytes;
  for (let i = 0; i < count; i += 1) {
    if (packBuffers.closed) throw new PoolClosed();
    const read = reader.read(taskOf(message, i));
    if (read.problem !== undefined) {
      idCounts[i] = -1;
      extras.set(i, {
        ...NO_EXTRAS,
        problem: { code: read.problem, message: read.message },
      });
      continue;
    }
    idCounts[i] = read.content.ids.length;
    sizes[i] = read.size;
    for (const id of read.content.ids) ids.push(id);
    const { holes } = read.content;
    const { changed, stat, xattrs, xattrProblems } = read;
    if (
      changed ||
      stat !== undefined ||
      holes.length > 0 ||
      xattrs !== undefined ||
      xattrProblems.length > 0
    ) {
      extras.set(i, { changed, stat, holes, xattrs, xattrProblems, problem: undefined });
    }
  }
  const joined = Buffer.concat(ids);
  return {
    kind: 'result',
    batch: message.batch,
    idCounts,
    sizes,
    ids: joined,
    extras,
    newBytes: sink.newBytes - before,
  };
}

const NO_EXTRAS: TaskExtras = {
  changed: false,
  stat: undefined,
  holes: [],
  xattrs: undefined,
  xattrProblems: [],
  problem: undefined,
};

function taskOf(message: BatchMessage, i: number): FileTask {
  const at = i * NUMBERS_PER_TASK;
  const number = (k: number): number => message.numbers[at + k] ?? 0;
  const offset = number(0);
  const span = number(1);
  return {
    path: asByteString(message.paths[i] ?? ''),
    offset,
    whole: span < 0,
    first: offset === 0,
    size: number(2),
    inode: number(3),
    blocks: number(4),
    mode: number(5),
    uid: number(6),
    gid: number(7),
    mtimeNs: message.times[i * 2] ?? 0n,
    ctimeNs: message.times[i * 2 + 1] ?? 0n,
    spanLength: (size) => (span < 0 ? size : Math.max(0, Math.min(span, size - offset))),
  };
}

function failureOf(error: unknown): FromWorker {
  const known = error instanceof HoldfastError ? error : undefined;
  return {
    kind: 'failure',
    message: error instanceof Error ? error.message : String(error),
    hint: known?.hint ?? '',
    code: known?.side === 'repository' ? known.code : undefined,
    stack: error instanceof Error ? (error.stack ?? '') : '',
  };
}
