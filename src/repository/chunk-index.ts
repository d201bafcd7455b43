import { DestinationError, RepositoryError, corrupt } from '../base/errors.ts';
import { DIRECTORY_SEQUENCE, ObjectSeal } from '../codec/seal.ts';
import { CIPHER_PLAIN, HEADER_BYTES, OBJECT_TYPES, type Cipher } from '../format/header.ts';
import { decodeIndexObject, type IndexedPack, type IndexObject } from '../format/index-object.ts';
import {
  TAIL_BYTES,
  decodePackDirectory,
  decodeTail,
  type PackDirectory,
  type PackKind,
  type SegmentEntry,
} from '../format/pack.ts';
import { ChunkTable, type ChunkLocation } from './packs/chunk-table.ts';
import { listNamed, packKey, type Listed } from './objects/listing.ts';
import { getNamed } from './metadata-cache.ts';
import { decompressRecord, openObject, type OpenedObject } from './objects/objects.ts';
import { mapParallel } from './objects/parallel.ts';
import type { Repository } from './repository.ts';
import type { LastPacks } from './tombstones.ts';

/** A pack that the current listing shows. */
export interface KnownPack {
  readonly name: string;
  readonly kind: PackKind;
  readonly cipher: Cipher;
  readonly generation: number;
  readonly salt: Buffer;
  /** Number of the write-only key that sealed the pack, or 0. */
  readonly sealedBy: number;
  readonly length: number;
  /** Three words per segment: offset, stored length, and raw length with bit 31 set when compressed. */
  readonly segments: Uint32Array;
}

/** How many index objects are fetched at once from a remote destination; each may have 8 MiB. */
const INDEX_READS = 6;

const COMPRESSED = 0x8000_0000;

export function segmentOf(pack: KnownPack, number: number): Omit<SegmentEntry, 'chunks'> {
  const offset = pack.segments[number * 3];
  const storedLength = pack.segments[number * 3 + 1];
  const rawWord = pack.segments[number * 3 + 2];
  if (offset === undefined || storedLength === undefined || rawWord === undefined) {
    throw corrupt(`pack ${pack.name}`, `it has no segment ${number}`);
  }
  const compressed = (rawWord & COMPRESSED) !== 0;
  return { offset, storedLength, rawLength: rawWord & 0x7fff_ffff, compression: compressed ? 1 : 0 };
}

/** Facts from the index objects, the list of packs and the packs' own directories. */
interface IndexFacts {
  /** Index objects, and directories of packs, that could not be read; check reports them. */
  readonly damaged: readonly { readonly object: string; readonly error: unknown }[];
  /** Index objects in force. */
  readonly indexNames: readonly string[];
  /** Packs that no index object covers, with their directories as read. */
  readonly uncovered: readonly IndexedPack[];
  /** Stored packs that were treated as absent because `LoadOptions.without` names them. */
  readonly leftOut: ReadonlySet<string>;
  /** Packs that index objects name but the listing lacks or shows with another length. */
  readonly missing: readonly string[];
}

/** Everything the repository holds: its packs and where each chunk lies. */
export interface ChunkIndex extends IndexFacts {
  readonly packs: readonly KnownPack[];
  readonly table: ChunkTable;
  readonly chunks: number;
}

/** The directories of all packs, in the order in which they are searched for a chunk. */
export interface LoadedPacks extends IndexFacts {
  readonly packs: readonly IndexedPack[];
}

export interface LoadOptions {
  /** Packs to treat as absent, because they are about to be deleted. */
  readonly without: ReadonlySet<string>;
  /** Packs to treat as absent besides, as they may hold something else than they claim: those for which it is false. */
  readonly relied?: (pack: IndexedPack) => boolean;
  /** Ignore all index objects and read the packs' own directories. */
  readonly ignoreIndexObjects?: boolean;
  /** Packs in which a chunk is located only when no other pack holds it. */
  readonly last?: LastPacks;
  /**
   * Among trusted packs (encrypted, not of a write-only key, not in `last`), those sealed under this key generation
   * come first.
   */
  readonly preferGeneration?: number;
}

export async function loadIndex(
  repository: Repository,
  options: LoadOptions,
  signal: AbortSignal,
): Promise<ChunkIndex> {
  const { packs, ...facts } = await loadPacks(repository, options, signal);
  return { ...fillTable(packs), ...facts };
}

/**
 * Lists the packs, reads the index objects and, for packs that none covers, the packs' own directories. Only packs
 * that the listing shows with the recorded length count: a cache never proves that something exists.
 */
export async function loadPacks(
  repository: Repository,
  options: LoadOptions,
  signal: AbortSignal,
): Promise<LoadedPacks> {
  repository.requireReading();
  const { destination } = repository;
  const damaged: { object: string; error: unknown }[] = [];
  const objects =
    options.ignoreIndexObjects === true
      ? new Map<string, StoredIndexObject>()
      : await readIndexObjects(repository, damaged, signal);
  // Listed after the index objects, so that packs which a running backup has just named in one of them are in the list.
  const listed = await listNamed(destination, 'packs/', signal);
  const superseded = new Set([...objects.values()].flatMap((object) => object.supersedes));
  const inForce = [...objects].filter(([name]) => !superseded.has(name));
  const indexed = new Map<string, IndexedPack>();
  const missing = new Set<string>();
  for (const [, object] of inForce) {
    for (const pack of object.packs) {
      if (listed.get(pack.name)?.size === pack.directory.packLength) indexed.set(pack.name, pack);
      else missing.add(pack.name);
    }
  }
  const unnamed = [...listed].filter(([name]) => !indexed.has(name));
  const directories = await mapParallel(unnamed, destination.properties.maxParallel, async ([name, stat]) =>
    readDirectoryOrReport(repository, name, stat, damaged, signal),
  );
  const uncovered = directories.filter((pack) => pack !== undefined);
  for (const pack of uncovered) indexed.set(pack.name, pack);
  for (const name of indexed.keys()) missing.delete(name);
  const { without, relied = () => true } = options;
  const usable = [...indexed.values()].filter((pack) => !without.has(pack.name) && relied(pack));
  return {
    packs: inOrderOfTrust(usable, listed, options),
    damaged,
    indexNames: inForce.map(([name]) => name),
    uncovered,
    missing: [...missing],
    leftOut: new Set([...options.without].filter((name) => listed.has(name))),
  };
}

/**
 * Sorts packs so that the most trusted one that names a chunk comes first, since that is where the chunk is located. An
 * attacker who controls a machine with a write-only key can store packs that name chunks of its earlier backups but
 * hold something else, sealed with that key or not sealed at all. So packs that only a full key can have made come
 * first; all others follow by the time at which the storage received them.
 */
export function inOrderOfTrust(
  packs: readonly IndexedPack[],
  listed: ReadonlyMap<string, Listed>,
  { last, preferGeneration }: Pick<LoadOptions, 'last' | 'preferGeneration'>,
): readonly IndexedPack[] {
  const trusted = packs.filter(isTrusted);
  const isPreferred = ({ generation }: IndexedPack): number => Number(generation === preferGeneration);
  if (preferGeneration !== undefined) trusted.sort((a, b) => isPreferred(b) - isPreferred(a));
  const others = packs.filter((pack) => !isTrusted(pack));
  const storedMs = ({ name }: IndexedPack): number => listed.get(name)?.modifiedMs ?? 0;
  others.sort((a, b) => storedMs(a) - storedMs(b));
  return withLast([...trusted, ...others], last ?? []);
}

/**
 * Moves the packs of `last` to the end, those of its later sets last, so that a chunk is located there only when no
 * other pack holds it.
 */
export function withLast(packs: readonly IndexedPack[], last: LastPacks): readonly IndexedPack[] {
  const rank = ({ name }: IndexedPack): number => last.findLastIndex((names) => names.has(name));
  return packs.toSorted((a, b) => rank(a) - rank(b));
}

function isTrusted({ cipher, sealedBy }: Pick<IndexedPack, 'cipher' | 'sealedBy'>): boolean {
  return cipher !== CIPHER_PLAIN && sealedBy === 0;
}

/**
 * For an error about an object that only a full key can have made. Programs raise the `min_format` of the keyring before
 * they store what others cannot read. If it was raised after this program opened the repository, what it cannot read is
 * no damage, and it stops.
 * @throws {RepositoryError} NEWER_FORMAT
 */
async function requireKnownFormat(
  repository: Repository,
  error: unknown,
  signal: AbortSignal,
): Promise<void> {
  if (error instanceof RepositoryError && error.code === 'NEWER_FORMAT') await repository.followRing(signal);
}

/**
 * Reads a pack's own directory, the truth about what it holds.
 * @throws {RepositoryError} CORRUPT_DATA, NEWER_FORMAT {DestinationError}
 */
export async function readPackDirectory(
  repository: Repository,
  name: string,
  length: number,
  signal: AbortSignal,
): Promise<IndexedPack> {
  const { destination } = repository;
  const object = `pack ${name}`;
  const key = packKey(name);
  if (length < HEADER_BYTES + TAIL_BYTES) throw corrupt(object, 'it is too short to be a pack');
  const [start, end] = await Promise.all([
    destination.get(key, { offset: 0, length: HEADER_BYTES }, signal),
    destination.get(key, { offset: -TAIL_BYTES, length: TAIL_BYTES }, signal),
  ]);
  const open = (): ObjectSeal =>
    ObjectSeal.open(repository.keys, start, object, [OBJECT_TYPES.dataPack, OBJECT_TYPES.treePack]);
  const seal = await repository.withKeys(open, signal);
  const tail = decodeTail(end, length, object);
  const sealed = await destination.get(
    key,
    { offset: tail.directoryOffset, length: tail.directoryLength },
    signal,
  );
  const plaintext = seal.open(DIRECTORY_SEQUENCE, sealed, object);
  const { cipher, generation, salt, sealedBy } = seal.header;
  let directory: PackDirectory;
  try {
    directory = decodePackDirectory(plaintext, object);
  } catch (error) {
    if (isTrusted({ cipher, sealedBy })) await requireKnownFormat(repository, error, signal);
    throw error;
  }
  if (directory.packLength !== length)
    throw corrupt(object, `it has ${length} bytes where its directory says ${directory.packLength}`);
  return { name, cipher, generation, salt, sealedBy, directory };
}

/** A chunk of which a pack says that it has it. */
export interface Claim {
  /** Its first 16 bytes at least. */
  readonly id: Buffer;
  readonly location: ChunkLocation;
}

/** The packs and the chunk table of a set of pack directories. */
export interface FilledTable {
  readonly packs: KnownPack[];
  readonly table: ChunkTable;
  readonly chunks: number;
  /**
   * By pack number: one claim of each pack that claims a chunk which another pack claims too, where only one of the two
   * can be right. Chunks of different makers have different ids, as the keys of their ids differ.
   */
  readonly disputed: ReadonlyMap<number, Claim>;
}

export function fillTable(indexed: readonly IndexedPack[]): FilledTable {
  const chunks = indexed.reduce((sum, pack) => sum + pack.directory.lengths.length, 0);
  const table = ChunkTable.create(chunks, indexed.length);
  const makers = indexed.map(makerOf);
  const disputed = new Map<number, Claim>();
  const packs = eachChunk(indexed, (ids, at, location) => {
    const isNew = table.add(ids, at, location);
    if (isNew || makers[location.pack] === FULL_KEY) return;
    const first = table.find(ids, at);
    const maker = first === undefined ? undefined : makers[first.pack];
    if (first === undefined || maker === FULL_KEY || maker === makers[location.pack]) return;
    const id = ids.subarray(at, at + (indexed[location.pack]?.directory.idBytes ?? 0));
    for (const claimed of [first, location])
      if (!disputed.has(claimed.pack)) disputed.set(claimed.pack, { id, location: claimed });
  });
  return { packs, table, chunks, disputed };
}

const FULL_KEY = -1;

/** Who can have made a pack: a full key (-1), anybody (0), or the write-only key of this number. */
function makerOf(pack: IndexedPack): number {
  return isTrusted(pack) ? FULL_KEY : pack.sealedBy;
}

/** Calls `take` for every chunk; pack numbers in locations are positions in the returned list. */
export function eachChunk(
  indexed: readonly IndexedPack[],
  take: (ids: Buffer, at: number, location: ChunkLocation) => void,
): KnownPack[] {
  const packs: KnownPack[] = [];
  for (const { name, cipher, generation, salt, sealedBy, directory } of indexed) {
    const { kind, packLength, lengths, ids, idBytes } = directory;
    const segments = new Uint32Array(directory.segments.length * 3);
    let chunk = 0;
    for (const [number, segment] of directory.segments.entries()) {
      segments[number * 3] = segment.offset;
      segments[number * 3 + 1] = segment.storedLength;
      segments[number * 3 + 2] = segment.rawLength + (segment.compression === 1 ? COMPRESSED : 0);
      let offset = 0;
      for (let i = 0; i < segment.chunks; i += 1, chunk += 1) {
        const length = lengths[chunk] ?? 0;
        take(ids, chunk * idBytes, { pack: packs.length, segment: number, offset, length });
        offset += length;
      }
    }
    packs.push({ name, kind, cipher, generation, salt, sealedBy, length: packLength, segments });
  }
  return packs;
}

/** An index, or a function that loads it once it is needed. */
export type IndexSource = ChunkIndex | (() => Promise<ChunkIndex>);

/** Where a chunk lies, or a corruption error naming it. */
export function requireChunk(index: ChunkIndex, id: Buffer): ChunkLocation {
  const found = index.table.find(id);
  if (found === undefined) throw corrupt(`chunk ${id.toString('hex')}`, 'no pack holds it');
  return found;
}

/** An index object, with the key generation under which it is sealed. */
export type StoredIndexObject = IndexObject & { readonly generation: number };

/** Every readable index object, by name; unreadable ones are added to `damaged`. */
export async function readIndexObjects(
  repository: Repository,
  damaged: { object: string; error: unknown }[],
  signal: AbortSignal,
): Promise<Map<string, StoredIndexObject>> {
  const { destination } = repository;
  const names = (await listNamed(destination, 'index/', signal)).keys();
  const atOnce = destination.properties.remote ? INDEX_READS : 1;
  const read = await mapParallel(names, atOnce, async (name) => {
    const object = `index object ${name}`;
    try {
      const bytes = await getNamed(repository, 'index/', name, signal);
      const open = (): OpenedObject => openObject(repository.keys, OBJECT_TYPES.index, bytes, object, name);
      const { generation, plaintext } = await repository.withKeys(open, signal);
      const decoded = decodeIndexObject(decompressRecord(plaintext, object), object);
      return [name, { ...decoded, generation }] as const;
    } catch (error) {
      await requireKnownFormat(repository, error, signal);
      // A superseded object may be deleted after it was listed; its packs are then read by their directories.
      if (!isDamage(error)) throw error;
      damaged.push({ object, error });
      return undefined;
    }
  });
  return new Map(read.filter((one) => one !== undefined));
}

async function readDirectoryOrReport(
  repository: Repository,
  name: string,
  stat: Listed,
  damaged: { object: string; error: unknown }[],
  signal: AbortSignal,
): Promise<IndexedPack | undefined> {
  try {
    return await readPackDirectory(repository, name, stat.size, signal);
  } catch (error) {
    if (!isDamage(error)) throw error;
    damaged.push({ object: `pack ${name}`, error });
    return undefined;
  }
}

/** True for a problem with one object, as opposed to a destination that does not answer or an abort. */
export function isDamage(error: unknown): error is RepositoryError | DestinationError {
  if (error instanceof RepositoryError) return !concernsAll(error);
  return error instanceof DestinationError && (error.kind === 'not-found' || error.kind === 'corrupt-reply');
}

/** The key was removed, or the repository upgraded, since it was opened. */
function concernsAll({ code, details }: RepositoryError): boolean {
  return code === 'WRONG_PASSPHRASE' || (code === 'NEWER_FORMAT' && details['minFormat'] !== undefined);
}
