import { DestinationError, corrupt } from '../../base/errors.ts';
import { DEFAULT_COMPRESSION } from '../../codec/compress.ts';
import { ChunkHasher } from '../../codec/hash.ts';
import { CIPHER_PLAIN, type Cipher } from '../../format/header.ts';
import type { PackKind } from '../../format/pack.ts';
import { isDamage, readPackDirectory } from '../chunk-index.ts';
import { IndexWriter } from '../contents/index-writer.ts';
import { packKey } from '../objects/listing.ts';
import { PackWriter, type FinishedPack } from '../packs/pack-writer.ts';
import type { PackFate } from './prune-plan.ts';
import type { PruneStock } from './prune-stock.ts';
import type { Repository } from '../repository.ts';
import { SegmentOpener, fetchSegment } from '../contents/segment-reader.ts';
import { saltsOf } from '../snapshots.ts';

export interface RepackResult {
  /** Packs whose live chunks have all been copied. */
  readonly done: readonly PackFate[];
  /** Packs that were left unchanged because something in them is damaged. */
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
  readonly newPacks: readonly string[];
  readonly writtenBytes: number;
}

/**
 * Copies the live chunks of packs into new packs, hashing each chunk again, and stores an index object that names the
 * new packs. The old packs are not changed.
 *
 * @param assertHeld called before every write
 * @param passed told how many stored bytes of the old packs are done; cheap, and must not throw
 */
export async function repack(
  repository: Repository,
  stock: PruneStock,
  fates: readonly PackFate[],
  assertHeld: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
  passed: (bytes: number) => void = () => {},
): Promise<RepackResult> {
  const copier = new Copier(repository, stock, assertHeld, passed, signal);
  const done: PackFate[] = [];
  const skipped: { name: string; reason: string }[] = [];
  for (const fate of fates) {
    signal.throwIfAborted();
    try {
      await copier.copy(fate.name);
      done.push(fate);
    } catch (error) {
      if (!isDamage(error)) throw error;
      skipped.push({ name: fate.name, reason: error.message });
    }
  }
  await copier.finish();
  return { done, skipped, newPacks: copier.names, writtenBytes: copier.writtenBytes };
}

class Copier {
  readonly names: string[] = [];
  writtenBytes = 0;
  readonly #repository: Repository;
  readonly #stock: PruneStock;
  readonly #assertHeld: (signal: AbortSignal) => Promise<void>;
  readonly #passed: (bytes: number) => void;
  readonly #signal: AbortSignal;
  readonly #opener: SegmentOpener;
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #indexWriter: IndexWriter;
  readonly #keys = new Map<string, { idKey: Buffer; hasher: ChunkHasher }[]>();
  readonly #writers = new Map<string, PackWriter>();
  readonly #finished: FinishedPack[] = [];

  constructor(
    repository: Repository,
    stock: PruneStock,
    assertHeld: (signal: AbortSignal) => Promise<void>,
    passed: (bytes: number) => void,
    signal: AbortSignal,
  ) {
    this.#repository = repository;
    this.#stock = stock;
    this.#assertHeld = assertHeld;
    this.#passed = passed;
    this.#signal = signal;
    this.#opener = new SegmentOpener(repository.keys);
    this.#numbers = new Map(stock.index.packs.map((pack, number) => [pack.name, number]));
    this.#indexWriter = new IndexWriter(repository);
  }

  async copy(name: string): Promise<void> {
    const { index } = this.#stock;
    const number = this.#numbers.get(name);
    const pack = number === undefined ? undefined : index.packs[number];
    if (number === undefined || pack === undefined) throw corrupt(`pack ${name}`, 'it is not in the index');
    // The pack's own directory is read because index objects keep only 16 of the 24 bytes of an id.
    const { directory } = await readPackDirectory(this.#repository, name, pack.length, this.#signal);
    let chunk = 0;
    for (const [segmentNumber, segment] of directory.segments.entries()) {
      const live: { id: Buffer; offset: number; length: number }[] = [];
      let offset = 0;
      for (const end = chunk + segment.chunks; chunk < end; chunk += 1) {
        const id = directory.ids.subarray(chunk * directory.idBytes, (chunk + 1) * directory.idBytes);
        const length = directory.lengths[chunk] ?? 0;
        if (this.#isLiveIn(number, id)) live.push({ id, offset, length });
        offset += length;
      }
      this.#passed(segment.storedLength);
      if (live.length === 0) continue;
      const sealed = await fetchSegment(this.#repository.destination, pack, segmentNumber, this.#signal);
      const raw = this.#opener.open(pack, segmentNumber, sealed);
      for (const { id, offset, length } of live) {
        this.#append(name, directory.kind, pack.cipher, id, raw.subarray(offset, offset + length));
      }
      await this.#storeFinished();
    }
  }

  async finish(): Promise<void> {
    for (const writer of this.#writers.values()) writer.finish();
    await this.#storeFinished();
    await this.#assertHeld(this.#signal);
    await this.#indexWriter.flush([], this.#signal);
  }

  #isLiveIn(pack: number, id: Buffer): boolean {
    const { index, reachable } = this.#stock;
    const slot = index.table.slotOf(id);
    return slot >= 0 && reachable.has(slot) && index.table.locationAt(slot).pack === pack;
  }

  #append(name: string, kind: PackKind, cipher: Cipher, id: Buffer, bytes: Buffer): void {
    const keys = this.#candidates(kind, cipher);
    const at = keys.findIndex(({ hasher }) => hasher.id(bytes).equals(id));
    const [found] = at < 0 ? [] : keys.splice(at, 1);
    if (found === undefined)
      throw corrupt(`pack ${name}`, `its chunk ${id.toString('hex')} does not match its id`);
    // The chunks of one pack all have ids under the same key, so that key is tried first from here on.
    keys.unshift(found);
    this.#writer(kind, cipher, found.idKey).append(id, bytes);
  }

  /** The keys under which chunks of such packs may have their ids: one for every namespace in use. */
  #candidates(kind: PackKind, cipher: Cipher): { idKey: Buffer; hasher: ChunkHasher }[] {
    const name = `${kind}/${cipher}`;
    const known = this.#keys.get(name);
    if (known !== undefined) return known;
    const plain = cipher === CIPHER_PLAIN;
    const made = [undefined, ...saltsOf(this.#stock.snapshots.live)].map((salt) => {
      const idKey = this.#repository.keys.idKey(kind, { plain, salt });
      return { idKey, hasher: new ChunkHasher(idKey) };
    });
    this.#keys.set(name, made);
    return made;
  }

  #writer(kind: PackKind, cipher: Cipher, idKey: Buffer): PackWriter {
    const name = `${kind}/${cipher}/${idKey.toString('hex')}`;
    const known = this.#writers.get(name);
    if (known !== undefined) return known;
    const { keys, config } = this.#repository;
    const writer = new PackWriter({
      keys,
      kind,
      cipher,
      idKey,
      packTarget: config.packTarget,
      segmentTarget: config.segmentTarget,
      compression: DEFAULT_COMPRESSION,
      take: (capacity) => Buffer.allocUnsafeSlow(capacity),
      emit: (pack) => this.#finished.push(pack),
    });
    this.#writers.set(name, writer);
    return writer;
  }

  async #storeFinished(): Promise<void> {
    for (let pack = this.#finished.shift(); pack !== undefined; pack = this.#finished.shift()) {
      await this.#assertHeld(this.#signal);
      const { size } = await this.#repository.destination.put(packKey(pack.name), pack.bytes, this.#signal);
      if (size !== pack.bytes.length) {
        throw new DestinationError(
          'unreachable',
          `The destination kept ${size} of ${pack.bytes.length} bytes of pack ${pack.name}`,
          { op: 'store', hint: 'The destination loses data: run a check before anything else.' },
        );
      }
      this.names.push(pack.name);
      this.writtenBytes += size;
      this.#indexWriter.add(pack.indexEntry);
    }
  }
}
