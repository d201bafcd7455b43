/** Entry file of a worker thread: opens segments, checks their chunks and writes files; compares those that exist. */

import { parentPort, workerData } from 'node:worker_threads';
import { asByteString } from '../base/byte-path.ts';
import { BugError, HoldfastError, errnoOf } from '../base/errors.ts';
import { ChunkHasher } from '../codec/hash.ts';
import { ObjectKeys } from '../codec/keys.ts';
import { segmentOf } from '../repository/chunk-index.ts';
import { SegmentOpener } from '../repository/segment-reader.ts';
import { native } from '../system/native.ts';
import { DescriptorDirectory } from './descriptor-directory.ts';
import { EntryFailure, entryFailure } from './entry-failure.ts';
import { EntryRecords, NO_RECORD, RECORD, type EntryRecord, type RecordHandle } from './entry-records.ts';
import { FileComparer } from './file-compare.ts';
import { FileWriter } from './file-writer.ts';
import { isFull } from './full-target.ts';
import type {
  FatalMessage,
  FileFailure,
  FromWorker,
  Job,
  JobResult,
  SegmentsJob,
  ToWorker,
  WorkerSetup,
} from './messages.ts';
import { MetadataWriter } from './metadata.ts';
import { Omissions } from './omissions.ts';
import { OpenDirectories } from './open-directories.ts';
import { PathDirectory } from './path-directory.ts';
import type { TargetDirectory } from './target-directory.ts';

const port = parentPort;
if (port === null) throw new BugError('The restore worker was started outside of a worker thread');
const setup: WorkerSetup = workerData;
const stop = new Int32Array(setup.stop);

const keys = new ObjectKeys(setup.keys);
const hasher = new ChunkHasher(keys.idKey('data', { plain: setup.plain, salt: setup.salt }));
const opener = new SegmentOpener(keys);
const records = new EntryRecords([]);
const directories = new OpenDirectories(records, setup.root, targetRoot());
const omissions = new Omissions();
const metadata = new MetadataWriter(setup.policy, omissions);
const comparer = new FileComparer(hasher);
let raw: Buffer = Buffer.allocUnsafeSlow(4 * 1024 * 1024);
let counts = noCounts();

const writer = new FileWriter({
  records,
  directories,
  metadata,
  hasher,
  verify: setup.verify,
  run: setup.run,
  failed,
  finished,
  wrote: (bytes) => {
    counts.bytes += bytes;
  },
});

port.on('message', (message: ToWorker) => {
  if (message.kind === 'close') {
    directories.closeOpened();
    port.close();
  } else if (Atomics.load(stop, 0) === 0) {
    port.postMessage(answer(message));
  }
});

function answer(job: Job): FromWorker {
  try {
    return done(job);
  } catch (error) {
    return fatal(error);
  }
}

function targetRoot(): TargetDirectory {
  if ('path' in setup.target) return new PathDirectory(asByteString(setup.target.path));
  if (native === null)
    throw new BugError('The restore worker has no native calls where the main thread has them');
  return new DescriptorDirectory(native, setup.target.fd);
}

function done(job: Job): JobResult {
  records.addPages(job.pages);
  if (job.clearAcls) metadata.clearInheritedAcls();
  counts = noCounts();
  switch (job.kind) {
    case 'segments':
      writeSegments(job);
      break;
    case 'plain':
      for (const file of job.files) writer.plain(file);
      break;
    case 'compare':
      for (const file of job.files) compare(file);
      break;
  }
  return { kind: 'done', job: job.job, ...counts, omissions: omissions.take() };
}

function writeSegments({ pack: posted, sealed, segments }: SegmentsJob): void {
  const pack = { ...posted, salt: Buffer.from(posted.salt) };
  for (const { number, whole, parts } of segments) {
    let content: Buffer;
    try {
      if ('missing' in sealed) throw new EntryFailure('CORRUPT_DATA', sealed.missing);
      const { offset, storedLength, rawLength } = segmentOf(pack, number);
      if (rawLength > raw.length) raw = Buffer.allocUnsafeSlow(rawLength);
      const stored = Buffer.from(sealed.bytes, sealed.start + offset - sealed.offset, storedLength);
      content = opener.open(pack, number, stored, raw);
    } catch (error) {
      for (const file of whole) writer.wholeMissing(file, error);
      for (let i = 0; i < parts.length; i += 2) writer.partMissing(parts[i] ?? NO_RECORD, error);
      continue;
    }
    for (const file of whole) writer.whole(file, content);
    for (let i = 0; i < parts.length; i += 2) writer.part(parts[i] ?? NO_RECORD, parts[i + 1] ?? 0, content);
  }
  // handed back now and not when the collector comes by
  if ('bytes' in sealed) sealed.bytes.transfer(0);
}

function compare(file: RecordHandle): void {
  const record = records.at(file);
  try {
    comparer.compare(directories.at(record.parent), record);
  } catch (error) {
    failed(file, error);
  }
}

function finished(record: EntryRecord): void {
  if (record.has(RECORD.metadataOnly)) counts.unchanged += 1;
  else counts.files += 1;
  counts.fileBytes += record.size;
  counts.lastFile = record.handle;
}

/** Lists a file that could not be restored. */
function failed(file: RecordHandle, error: unknown): void {
  counts.failures.push({ file, ...entryFailure(error) });
}

function fatal(error: unknown): FatalMessage {
  const shown = error instanceof Error ? error : new Error(String(error));
  const full = !(error instanceof HoldfastError) && isFull(errnoOf(error));
  return { kind: 'fatal', full, message: shown.message, stack: shown.stack ?? '' };
}

interface Counts {
  files: number;
  unchanged: number;
  fileBytes: number;
  bytes: number;
  failures: FileFailure[];
  lastFile: RecordHandle;
}

function noCounts(): Counts {
  return { files: 0, unchanged: 0, fileBytes: 0, bytes: 0, failures: [], lastFile: NO_RECORD };
}
