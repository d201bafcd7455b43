import { asByteString } from '../../base/byte-path.ts';
import { causeText } from '../../base/errno-words.ts';
import { BugError, errnoOf, HoldfastError } from '../../base/errors.ts';
import { ChunkHasher } from '../../codec/hash.ts';
import { ObjectKeys } from '../../codec/keys.ts';
import { segmentOf } from '../../repository/chunk-index.ts';
import { SegmentOpener } from '../../repository/contents/segment-reader.ts';
import { native } from '../../system/native.ts';
import { DescriptorDirectory } from '../target/descriptor-directory.ts';
import { EntryFailure, entryFailure, type FailureFacts, isFull } from '../target/entry-failure.ts';
import { type EntryRecord, EntryRecords, NO_RECORD, type RecordHandle } from '../target/entry-records.ts';
import { FileComparer } from './file-compare.ts';
import { FileCompleter } from './file-completer.ts';
import { FileUpdater } from './file-updater.ts';
import { FileWriter } from './file-writer.ts';
import type { FileFailure, Job, JobResult, SegmentsJob, SyncJob, WorkerSetup } from './messages.ts';
import { MetadataWriter } from '../metadata/metadata.ts';
import { Omissions } from '../request/tally.ts';
import { OpenDirectories } from '../target/open-directories.ts';
import { directoryAt } from '../target/drives-directory.ts';
import type { TargetDirectory } from '../target/target-directory.ts';

/** Segments are at most 16 MiB, most of them 2 MiB. */
const USUAL_SEGMENT = 2 * 1024 * 1024;

/** Carries out jobs: opens segments, checks their chunks and writes files; compares those that exist. */
export class JobRunner {
  readonly #records = new EntryRecords([]);
  readonly #directories: OpenDirectories;
  readonly #omissions = new Omissions();
  readonly #metadata: MetadataWriter;
  readonly #opener: SegmentOpener;
  readonly #comparer: FileComparer;
  readonly #writer: FileWriter;
  readonly #completer: FileCompleter;
  #raw: Buffer = Buffer.allocUnsafeSlow(USUAL_SEGMENT);
  #counts = noCounts();

  constructor(setup: WorkerSetup) {
    const keys = new ObjectKeys(setup.keys);
    const hasher = new ChunkHasher(keys.idKey('data', { plain: setup.plain, salt: setup.salt }));
    this.#opener = new SegmentOpener(keys);
    this.#directories = new OpenDirectories(this.#records, setup.root, targetRoot(setup));
    this.#metadata = new MetadataWriter(setup.policy, this.#omissions);
    this.#comparer = new FileComparer(hasher, setup.policy);
    const updater = new FileUpdater({
      run: setup.run,
      hasher,
      verify: setup.verify,
      filledHole: ({ handle }) =>
        this.#omissions.note('holes', 'the file had data there', () => this.#directories.pathOfEntry(handle)),
    });
    this.#writer = new FileWriter({
      records: this.#records,
      directories: this.#directories,
      policy: setup.policy,
      updater,
      hasher,
      run: setup.run,
      failed: (file, error) => this.#failed(file, error),
      written: (record) => {
        this.#counts.written.push(record.handle);
        this.#done(record);
      },
      unchanged: (record) => {
        this.#counts.unchanged += 1;
        this.#done(record);
      },
      wrote: (bytes) => {
        this.#counts.bytes += bytes;
      },
    });
    this.#completer = new FileCompleter({
      records: this.#records,
      directories: this.#directories,
      metadata: this.#metadata,
      run: setup.run,
      failed: (file, error) => this.#failed(file, error, true),
    });
  }

  /** Number of record pages it has received. */
  get pages(): number {
    return this.#records.pages;
  }

  /**
   * @returns what was done; if the target became full, what had been done by then
   * @throws errors that end the whole restore; a file that fails is listed in the result
   */
  run(job: Job): JobResult {
    this.#records.addPages(job.pages);
    if (job.clearAcls) this.#metadata.clearInheritedAcls();
    this.#counts = noCounts();
    try {
      this.#carryOut(job);
    } catch (error) {
      if (error instanceof HoldfastError || !(error instanceof Error) || !isFull(errnoOf(error))) throw error;
      this.#counts.full = causeText(error);
    }
    return {
      kind: 'done',
      job: job.job,
      ...this.#counts,
      written: Uint32Array.from(this.#counts.written),
      omissions: this.#omissions.take(),
    };
  }

  #carryOut(job: Job): void {
    switch (job.kind) {
      case 'segments':
        this.#writeSegments(job);
        break;
      case 'plain':
        for (const file of job.files) this.#writer.plain(file);
        break;
      case 'compare':
        for (const file of job.files) this.#compare(file);
        break;
      case 'complete':
        this.#completer.complete(job.files);
        break;
      case 'sync':
        this.#counts.unsynced = unsyncedOf(job);
        break;
    }
  }

  /** Closes the directories that are open. The root belongs to the thread that opened it. */
  close(): void {
    this.#directories.closeOpened();
  }

  #writeSegments({ pack: posted, sealed, segments }: SegmentsJob): void {
    const pack = { ...posted, salt: Buffer.from(posted.salt) };
    for (const { number, whole, parts } of segments) {
      let content: Buffer;
      try {
        if ('missing' in sealed) throw new EntryFailure('CORRUPT_DATA', sealed.missing);
        const { offset, storedLength, rawLength } = segmentOf(pack, number);
        if (rawLength > this.#raw.length) this.#raw = Buffer.allocUnsafeSlow(rawLength);
        const stored = Buffer.from(sealed.bytes, sealed.start + offset - sealed.offset, storedLength);
        content = this.#opener.open(pack, number, stored, this.#raw);
      } catch (error) {
        for (const file of whole) this.#failed(file, error);
        for (let i = 0; i < parts.length; i += 2) this.#writer.partMissing(parts[i] ?? NO_RECORD, error);
        continue;
      }
      for (const file of whole) this.#writer.whole(file, content);
      for (let i = 0; i < parts.length; i += 2)
        this.#writer.part(parts[i] ?? NO_RECORD, parts[i + 1] ?? 0, content);
    }
    // frees the memory at once instead of waiting for garbage collection
    if ('bytes' in sealed) sealed.bytes.transfer(0);
  }

  #compare(file: RecordHandle): void {
    const record = this.#records.at(file);
    try {
      this.#comparer.compare(this.#directories.at(record.parent), record);
    } catch (error) {
      this.#failed(file, error);
    }
  }

  #done(record: EntryRecord): void {
    this.#counts.fileBytes += record.size;
    this.#counts.lastFile = record.handle;
  }

  /** Lists a file that could not be restored. */
  #failed(file: RecordHandle, error: unknown, counted = false): void {
    this.#counts.failures.push({ file, counted, ...entryFailure(error) });
    // prevents links to a file that failed
    this.#records.at(file).created = { ino: 0n, dev: 0n };
  }
}

function targetRoot({ target }: Pick<WorkerSetup, 'target'>): TargetDirectory {
  if ('path' in target) return directoryAt(asByteString(target.path));
  if (native === null)
    throw new BugError('A restore thread has no native calls where the main thread has them');
  return new DescriptorDirectory(native, target.fd);
}

function unsyncedOf({ fileSystems }: SyncJob): FailureFacts | undefined {
  try {
    for (const fd of fileSystems) native?.syncFileSystem?.(fd);
    return undefined;
  } catch (error) {
    return entryFailure(error);
  }
}

interface Counts {
  written: RecordHandle[];
  unchanged: number;
  fileBytes: number;
  bytes: number;
  failures: FileFailure[];
  lastFile: RecordHandle;
  unsynced: FailureFacts | undefined;
  full: string | undefined;
}

function noCounts(): Counts {
  return {
    written: [],
    unchanged: 0,
    fileBytes: 0,
    bytes: 0,
    failures: [],
    lastFile: NO_RECORD,
    unsynced: undefined,
    full: undefined,
  };
}
