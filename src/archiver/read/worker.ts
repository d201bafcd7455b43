/** Entry file of a worker thread: reads batches of files and posts finished packs and compact results. */

import { parentPort, workerData } from 'node:worker_threads';
import { BugError, HoldfastError } from '../../base/errors.ts';
import { Chunker } from '../../codec/chunker.ts';
import { ObjectKeys } from '../../codec/keys.ts';
import { CIPHER_GCM, CIPHER_PLAIN } from '../../format/header.ts';
import { ChunkTable } from '../../repository/packs/chunk-table.ts';
import { PackWriter, type FinishedPack } from '../../repository/packs/pack-writer.ts';
import { BatchReader } from './batch-reader.ts';
import { ChunkSink } from './chunk-sink.ts';
import { FileReader } from './file-reader.ts';
import { PackBuffers, PoolClosed } from './pack-buffers.ts';
import type { FromWorker, ToWorker, WorkerSetup } from './messages.ts';

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
  firstTarget: setup.firstTarget,
  segmentTarget: setup.segmentTarget,
  compression: setup.compression,
  take: takeBuffer,
  emit: postPack,
});
const sink = new ChunkSink(idKey, table, writer);
const reader = new FileReader(sink, new Chunker(keys.chunkerKey, setup.chunker));
const batches = new BatchReader(reader, sink, () => packBuffers.closed);

port.on('message', (message: ToWorker) => {
  if (message.kind === 'end') {
    port.close();
    return;
  }
  if (packBuffers.closed) return;
  try {
    if (message.kind === 'batch') {
      post(batches.read(message));
      return;
    }
    sink.finish();
    post({ kind: 'finished' });
  } catch (error) {
    if (error instanceof PoolClosed) return;
    post(failureOf(error));
  }
});

/** Blocks the whole thread while every buffer holds a pack on its way: this is what bounds memory. */
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
