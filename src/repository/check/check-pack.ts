import { corrupt, damageOf } from '../../base/errors.ts';
import { STORED_ZSTD, SegmentDecompressor } from '../../codec/compress.ts';
import { ChunkHasher, ID_BYTES } from '../../codec/hash.ts';
import type { ObjectKeys } from '../../codec/keys.ts';
import { DIRECTORY_SEQUENCE, ObjectSeal, PADDING_SEQUENCE } from '../../codec/seal.ts';
import { writeOnlyMark } from '../../codec/write-only.ts';
import { CIPHER_PLAIN, OBJECT_TYPES, type Cipher, type Header } from '../../format/header.ts';
import type { IndexedPack } from '../../format/index-object.ts';
import {
  decodePackDirectory,
  decodeTail,
  type PackDirectory,
  type PackKind,
  type PackTail,
} from '../../format/pack.ts';
import { sha256 } from '../objects/objects.ts';

/** The fields of a pack's header that determine its key. */
export interface PackIdentity {
  readonly cipher: Cipher;
  readonly generation: number;
  readonly salt: Uint8Array;
  /** Number of the write-only key that sealed the pack, or 0. */
  readonly sealedBy: number;
}

/** A pack's description by its own bytes. */
export interface PackSelf extends PackIdentity {
  /** Plaintext of the directory. */
  readonly directory: Uint8Array;
}

/** The results of reading a whole pack; plain data, so that it can be posted between threads. */
export interface PackExamination {
  readonly name: string;
  readonly bytes: number;
  /** Empty for a sound pack. */
  readonly problems: readonly string[];
  readonly self: PackSelf | undefined;
  /** Ids (with the length they have in the directory) of the chunks that cannot be read from the pack. */
  readonly badChunks: readonly Uint8Array[];
  /**
   * Ids of chunks that do not match their bytes under any known key: those of isolated snapshots that are gone, or
   * wrong ones.
   */
  readonly strangers: readonly Uint8Array[];
}

interface OwnDirectory {
  readonly self: PackSelf;
  readonly seal: ObjectSeal;
  readonly directory: PackDirectory;
  readonly tail: PackTail;
}

/** Checks whole packs: the name, and every part, chunk and byte of padding. Synchronous, so that any thread can use it. */
export class PackExaminer {
  readonly #keys: ObjectKeys;
  readonly #salts: readonly Uint8Array[];
  readonly #hashers = new Map<string, readonly ChunkHasher[]>();
  readonly #decompressor = new SegmentDecompressor();
  #raw = Buffer.alloc(0);

  /** @param salts of the isolated snapshots, whose chunks have ids under keys of their own */
  constructor(keys: ObjectKeys, salts: readonly Uint8Array[]) {
    this.#keys = keys;
    this.#salts = salts;
  }

  /** @param known the pack's description in an index object; shows which chunks can still be read from a damaged pack */
  examine(name: string, bytes: Buffer, known: IndexedPack | undefined): PackExamination {
    const problems: string[] = [];
    const badChunks: Uint8Array[] = [];
    const strangers: Uint8Array[] = [];
    const result = { name, bytes: bytes.length, problems, badChunks, strangers };
    if (sha256(bytes) !== name) problems.push('its bytes do not match its name');
    const own = this.#attempt(result, () => this.#ownDirectory(name, bytes));
    if (own !== undefined) this.#attempt(result, () => this.#checkPadding(name, bytes, own));
    // Readers use the index. What a damaged pack, or another one in its place, says about itself does not help them.
    const found = problems.length > 0 && known !== undefined ? this.#knownDirectory(known) : own;
    if (found === undefined) return { ...result, self: undefined };
    const { seal, directory } = found;
    const hashers = this.#hashersOf(directory.kind, seal.header);
    let chunk = 0;
    for (const [number, segment] of directory.segments.entries()) {
      const { offset, storedLength, rawLength, compression } = segment;
      const raw = this.#attempt(result, () => {
        const sealed = bytes.subarray(offset, offset + storedLength);
        const stored = seal.open(number, sealed, `pack ${name}`, { rawLength, compression });
        return this.#decompressed(name, number, stored, rawLength, compression);
      });
      let at = 0;
      for (const end = chunk + segment.chunks; chunk < end; chunk += 1) {
        const id = directory.ids.subarray(chunk * directory.idBytes, (chunk + 1) * directory.idBytes);
        const length = directory.lengths[chunk] ?? 0;
        if (raw === undefined) badChunks.push(Buffer.from(id));
        else if (!idMatches(hashers, raw.subarray(at, at + length), id)) strangers.push(Buffer.from(id));
        at += length;
      }
    }
    return { ...result, self: own?.self };
  }

  #ownDirectory(name: string, bytes: Buffer): OwnDirectory {
    const object = `pack ${name}`;
    const seal = ObjectSeal.open(this.#keys, bytes, object, [OBJECT_TYPES.dataPack, OBJECT_TYPES.treePack]);
    const tail = decodeTail(bytes, bytes.length, object);
    const sealed = bytes.subarray(tail.directoryOffset, tail.directoryOffset + tail.directoryLength);
    const plaintext = seal.open(DIRECTORY_SEQUENCE, sealed, object);
    const directory = decodePackDirectory(plaintext, object);
    if (directory.packLength !== bytes.length)
      throw corrupt(object, 'it has another length than its directory says');
    if ((directory.kind === 'data') !== (seal.header.type === OBJECT_TYPES.dataPack)) {
      throw corrupt(object, 'its directory is of another kind than its header says');
    }
    const { cipher, generation, salt, sealedBy } = seal.header;
    return { self: { cipher, generation, salt, sealedBy, directory: plaintext }, seal, directory, tail };
  }

  #checkPadding(name: string, bytes: Buffer, own: OwnDirectory): void {
    const object = `pack ${name}`;
    const { directoryOffset, paddingLength } = own.tail;
    const last = own.directory.segments.at(-1);
    const begin = last === undefined ? own.seal.prefix.length : last.offset + last.storedLength;
    if (begin !== directoryOffset - paddingLength) {
      throw corrupt(object, 'its segments do not end where its padding begins');
    }
    const padding = own.seal.open(PADDING_SEQUENCE, bytes.subarray(begin, directoryOffset), object);
    if (padding.some((byte) => byte !== 0)) throw corrupt(object, 'its padding is not all zeros');
  }

  #knownDirectory(known: IndexedPack): { seal: ObjectSeal; directory: PackDirectory } {
    const { directory } = known;
    const type = directory.kind === 'data' ? OBJECT_TYPES.dataPack : OBJECT_TYPES.treePack;
    return { seal: ObjectSeal.ofPack(this.#keys, { ...known, type }), directory };
  }

  #decompressed(
    name: string,
    number: number,
    stored: Buffer,
    rawLength: number,
    compression: number,
  ): Buffer {
    if (compression !== STORED_ZSTD) {
      if (stored.length === rawLength) return stored;
      throw corrupt(`pack ${name}`, `its segment ${number} has another length than recorded`);
    }
    if (this.#raw.length < rawLength) this.#raw = Buffer.allocUnsafeSlow(rawLength);
    const raw = this.#raw.subarray(0, rawLength);
    this.#decompressor.decompressInto(raw, stored);
    return raw;
  }

  /** The hashers under which chunks of such a pack may have their ids, the usual one first. */
  #hashersOf(kind: PackKind, { cipher, sealedBy }: Pick<Header, 'cipher' | 'sealedBy'>) {
    const name = `${kind}/${cipher}/${sealedBy}`;
    let hashers = this.#hashers.get(name);
    if (hashers === undefined) {
      const plain = cipher === CIPHER_PLAIN;
      const own = sealedBy === 0 ? undefined : writeOnlyMark(this.#keys.repository, sealedBy).salt;
      const salts = own === undefined ? [undefined, ...this.#salts] : [own];
      hashers = salts.map((salt) => new ChunkHasher(this.#keys.idKey(kind, { plain, salt })));
      this.#hashers.set(name, hashers);
    }
    return hashers;
  }

  #attempt<T>({ name, problems }: { name: string; problems: string[] }, work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      problems.push(damageOf(error, `pack ${name}`));
      return undefined;
    }
  }
}

function idMatches(hashers: readonly ChunkHasher[], bytes: Buffer, id: Buffer): boolean {
  for (const hasher of hashers) {
    const found = hasher.id(bytes);
    if (found.compare(id, 0, id.length, 0, Math.min(id.length, ID_BYTES)) === 0) return true;
  }
  return false;
}

/** How an index object's description of a pack differs from the pack itself; undefined when they agree. */
export function disagreement(
  known: IndexedPack,
  self: PackIdentity,
  directory: PackDirectory,
): string | undefined {
  const { segments, lengths, ids, idBytes } = known.directory;
  const sameKey =
    known.cipher === self.cipher &&
    known.generation === self.generation &&
    known.sealedBy === self.sealedBy &&
    known.salt.equals(self.salt);
  if (!sameKey) return 'another key';
  if (known.directory.kind !== directory.kind || known.directory.packLength !== directory.packLength) {
    return 'another kind or length';
  }
  const sameSegments =
    segments.length === directory.segments.length &&
    segments.every((segment, i) => {
      const other = directory.segments[i];
      return (
        other !== undefined &&
        segment.storedLength === other.storedLength &&
        segment.rawLength === other.rawLength &&
        segment.compression === other.compression &&
        segment.chunks === other.chunks
      );
    });
  if (!sameSegments) return 'other segments';
  if (
    lengths.length !== directory.lengths.length ||
    lengths.some((length, i) => length !== directory.lengths[i])
  ) {
    return 'other chunk lengths';
  }
  for (let i = 0; i < lengths.length; i += 1) {
    const at = i * directory.idBytes;
    if (ids.compare(directory.ids, at, at + idBytes, i * idBytes, (i + 1) * idBytes) !== 0)
      return 'other chunks';
  }
  return undefined;
}
