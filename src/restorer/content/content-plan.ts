import { corrupt } from '../../base/errors.ts';
import type { Destination } from '../../destination/destination.ts';
import { type ChunkIndex, type KnownPack, segmentOf } from '../../repository/chunk-index.ts';
import { packKey } from '../../repository/objects/listing.ts';
import { type EntryRecord, type EntryRecords, RECORD, type RecordHandle } from '../target/entry-records.ts';
import type { SegmentTask } from './messages.ts';

/** The most bytes to fetch in one request, and the largest gap to read over instead of making another request. */
const RUN = { local: 2 * 1024 * 1024, remote: 8 * 1024 * 1024, gap: 262_144 } as const;
/** Range reads from remote stores are widened to multiples of this, so that their sizes reveal nothing. */
const REMOTE_STEP = 262_144;

/** Neighbouring segments of one pack that are fetched by one request and written by one thread. */
export interface SegmentRun {
  readonly pack: KnownPack;
  readonly segments: readonly SegmentTask[];
  /** The range of the pack that holds them. */
  readonly offset: number;
  readonly length: number;
}

/** Records which files need which segments, so that each segment is fetched, opened and checked once. */
export class ContentPlan {
  readonly #index: ChunkIndex;
  /** For each pack, the number of its first segment, counted over all packs. */
  readonly #firstSegment: Float64Array;
  readonly #whole: (RecordHandle[] | undefined)[] = [];
  readonly #parts: (number[] | undefined)[] = [];
  readonly #plain: RecordHandle[] = [];
  /** Files that several threads write. */
  readonly spread = new Set<RecordHandle>();

  constructor(index: ChunkIndex) {
    this.#index = index;
    this.#firstSegment = new Float64Array(index.packs.length + 1);
    for (const [i, pack] of index.packs.entries()) {
      this.#firstSegment[i + 1] = (this.#firstSegment[i] ?? 0) + pack.segments.length / 3;
    }
  }

  /**
   * The number of a segment, counted over all packs.
   * @throws {RepositoryError} CORRUPT_DATA when the index points to a segment that does not exist
   */
  segmentNumber(pack: number, segment: number): number {
    const first = this.#firstSegment[pack];
    const next = this.#firstSegment[pack + 1];
    if (first === undefined || next === undefined || first + segment >= next) {
      throw corrupt('the index', 'it points to a segment that does not exist');
    }
    return first + segment;
  }

  addWhole(file: RecordHandle, segment: number): void {
    (this.#whole[segment] ??= []).push(file);
  }

  addPart(file: RecordHandle, piece: number, segment: number): void {
    this.spread.add(file);
    (this.#parts[segment] ??= []).push(file, piece);
  }

  /** A file that needs no stored content. */
  addPlain(file: RecordHandle): void {
    this.#plain.push(file);
  }

  /** Groups of files without content. */
  *plainGroups(size: number): Generator<Uint32Array> {
    for (let at = 0; at < this.#plain.length; at += size)
      yield Uint32Array.from(this.#plain.slice(at, at + size));
  }

  /** All runs, in the order in which they lie in the packs. Taking a run removes it from the plan. */
  *runs(destination: Destination): Generator<SegmentRun> {
    const { remote } = destination.properties;
    const most = remote ? RUN.remote : RUN.local;
    for (const [packNumber, pack] of this.#index.packs.entries()) {
      const count = pack.segments.length / 3;
      let segments: SegmentTask[] = [];
      let start = 0;
      let end = 0;
      for (let number = 0; number < count; number += 1) {
        const task = this.#take((this.#firstSegment[packNumber] ?? 0) + number, number);
        if (task === undefined) continue;
        const { offset, storedLength } = segmentOf(pack, number);
        if (segments.length > 0 && (offset - end > RUN.gap || offset + storedLength - start > most)) {
          yield { pack, segments, ...rangeOf(pack, start, end, remote) };
          segments = [];
        }
        if (segments.length === 0) start = offset;
        segments.push(task);
        end = offset + storedLength;
      }
      if (segments.length > 0) yield { pack, segments, ...rangeOf(pack, start, end, remote) };
    }
  }

  #take(segment: number, number: number): SegmentTask | undefined {
    const whole = this.#whole[segment];
    const parts = this.#parts[segment];
    if (whole === undefined && parts === undefined) return undefined;
    this.#whole[segment] = undefined;
    this.#parts[segment] = undefined;
    return { number, whole: Uint32Array.from(whole ?? []), parts: Uint32Array.from(parts ?? []) };
  }
}

function rangeOf(
  pack: KnownPack,
  start: number,
  end: number,
  remote: boolean,
): { offset: number; length: number } {
  if (!remote) return { offset: start, length: end - start };
  const offset = Math.floor(start / REMOTE_STEP) * REMOTE_STEP;
  return { offset, length: Math.min(pack.length, Math.ceil(end / REMOTE_STEP) * REMOTE_STEP) - offset };
}

/** Splits a run into runs of one segment each. */
export function* eachSegment(
  { pack, segments }: SegmentRun,
  destination: Destination,
): Generator<SegmentRun, void, undefined> {
  for (const task of segments) {
    const { offset, storedLength } = segmentOf(pack, task.number);
    const range = rangeOf(pack, offset, offset + storedLength, destination.properties.remote);
    yield { pack, segments: [task], ...range };
  }
}

export async function fetchRun(
  destination: Destination,
  run: SegmentRun,
  signal: AbortSignal,
): Promise<Buffer> {
  return await destination.get(packKey(run.pack.name), { offset: run.offset, length: run.length }, signal);
}

/** Plans the pieces that the comparison found missing from existing files. */
export function assignCompared(
  files: readonly RecordHandle[],
  {
    records,
    content,
    failed,
  }: { records: EntryRecords; content: ContentPlan; failed: ReadonlyMap<RecordHandle, string> },
): void {
  for (const handle of files) {
    if (failed.has(handle)) continue;
    assignMissing(records.at(handle), content);
  }
}

function assignMissing(record: EntryRecord, content: ContentPlan): void {
  const missing: number[] = [];
  const segments = new Set<number>();
  const count = record.pieceCount;
  for (let i = 0; i < count; i += 1) {
    if (record.isPresent(i)) continue;
    missing.push(i);
    segments.add(record.piece(i).segment);
  }
  const [only] = segments;
  if (only === undefined) {
    content.addPlain(record.handle);
    return;
  }
  if (segments.size === 1) {
    content.addWhole(record.handle, only);
    return;
  }
  record.flags |= RECORD.spread;
  const { words, index } = record.remaining;
  words[index] = missing.length;
  for (const i of missing) content.addPart(record.handle, i, record.piece(i).segment);
}
