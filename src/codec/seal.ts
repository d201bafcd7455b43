import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  timingSafeEqual,
  type KeyObject,
} from 'node:crypto';
import { RepositoryError } from '../base/errors.ts';
import {
  CIPHER_GCM,
  CIPHER_PLAIN,
  HEADER_BYTES,
  contextLength,
  decodeHeader,
  encodeHeader,
  keyTypeOf,
  type Cipher,
  type Header,
  type ObjectType,
} from '../format/header.ts';
import { plainChecksum } from './hash.ts';
import type { ObjectKeys } from './keys.ts';

export const TAG_BYTES = 16;
/** Sequence numbers of the two parts of a pack that are not segments. */
export const PADDING_SEQUENCE = 0xffff_fffe;
export const DIRECTORY_SEQUENCE = 0xffff_ffff;

const PART_BYTES = 9;
/** node:crypto makes a buffer for every update; small ones fit into the processor's cache and are cheap to allocate. */
const SLICE = 65_536;

/** Further values to which a segment is bound, in addition to its sequence number. */
export interface SegmentContext {
  readonly rawLength: number;
  readonly compression: number;
}

/**
 * Seals and opens the parts of one object. Each object has its own key, made from a fresh salt, and its parts have
 * rising sequence numbers as nonces, so no pair of key and nonce is ever used twice.
 */
export class ObjectSeal {
  readonly header: Header;
  /** Header and context block, as at the start of the object. */
  readonly prefix: Buffer;
  readonly #key: KeyObject;
  readonly #associated: Buffer;
  readonly #nonce = Buffer.alloc(12);

  private constructor(header: Header, prefix: Buffer, key: Buffer, repository: Buffer) {
    this.header = header;
    this.prefix = prefix;
    this.#key = createSecretKey(key);
    this.#associated = Buffer.concat([prefix, repository, Buffer.alloc(8 + PART_BYTES)]);
  }

  /** Begins a new object. */
  static create(keys: ObjectKeys, type: ObjectType, cipher: Cipher, context: Buffer): ObjectSeal {
    const { salt, key, commitment, sealedBy } =
      cipher === CIPHER_GCM
        ? keys.newObject(keyTypeOf(type))
        : {
            salt: keys.freshSalt(),
            key: Buffer.alloc(32),
            commitment: Buffer.alloc(32),
            sealedBy: 0,
          };
    const header: Header = { type, cipher, generation: keys.generation, salt, commitment, sealedBy };
    return new ObjectSeal(header, Buffer.concat([encodeHeader(header), context]), key, keys.repository);
  }

  /**
   * Opens an existing object from its first bytes, checking the key commitment before anything is decrypted.
   * @throws {RepositoryError} CORRUPT_DATA, NEWER_FORMAT
   */
  static open(keys: ObjectKeys, start: Buffer, object: string, types: readonly ObjectType[]): ObjectSeal {
    const header = decodeHeader(start, object);
    if (!types.includes(header.type)) {
      throw new RepositoryError('CORRUPT_DATA', `${object} is an object of another type (${header.type})`, {
        details: { object },
      });
    }
    const length = HEADER_BYTES + contextLength(header.type);
    if (start.length < length) {
      throw new RepositoryError('CORRUPT_DATA', `${object} is cut short`, { details: { object } });
    }
    const prefix = Buffer.from(start.subarray(0, length));
    if (header.cipher === CIPHER_PLAIN)
      return new ObjectSeal(header, prefix, Buffer.alloc(32), keys.repository);
    const { key, commitment } = keyOf(keys, header, object);
    if (!timingSafeEqual(commitment, header.commitment)) {
      throw new RepositoryError('CORRUPT_DATA', `${object} was not sealed with this repository's key`, {
        details: { object },
      });
    }
    return new ObjectSeal(header, prefix, key, keys.repository);
  }

  /** The seal of a pack whose header is known from an index object; a wrong index makes every part fail to open. */
  static ofPack(keys: ObjectKeys, pack: Omit<Header, 'commitment'>): ObjectSeal {
    const plain = pack.cipher === CIPHER_PLAIN;
    const { key, commitment } = plain
      ? { key: Buffer.alloc(32), commitment: Buffer.alloc(32) }
      : keyOf(keys, pack, 'a pack');
    const { type, cipher, generation, salt, sealedBy } = pack;
    const header: Header = { type, cipher, generation, salt, commitment, sealedBy };
    return new ObjectSeal(header, encodeHeader(header), key, keys.repository);
  }

  get context(): Buffer {
    return this.prefix.subarray(HEADER_BYTES);
  }

  /** Writes the sealed form of `plaintext` at `offset` of `target`; returns its length (16 more than the plaintext). */
  sealInto(
    target: Buffer,
    offset: number,
    sequence: number,
    plaintext: Buffer,
    segment?: SegmentContext,
  ): number {
    const associated = this.#bind(sequence, segment);
    if (this.header.cipher === CIPHER_PLAIN) {
      plaintext.copy(target, offset);
      plainChecksum(associated, plaintext).copy(target, offset + plaintext.length);
      return plaintext.length + TAG_BYTES;
    }
    const cipher = createCipheriv('aes-256-gcm', this.#key, this.#nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(associated);
    for (let at = 0; at < plaintext.length; at += SLICE) {
      moveInto(target, offset + at, cipher.update(plaintext.subarray(at, at + SLICE)));
    }
    cipher.final();
    cipher.getAuthTag().copy(target, offset + plaintext.length);
    return plaintext.length + TAG_BYTES;
  }

  seal(sequence: number, plaintext: Buffer, segment?: SegmentContext): Buffer {
    const out = Buffer.allocUnsafe(plaintext.length + TAG_BYTES);
    this.sealInto(out, 0, sequence, plaintext, segment);
    return out;
  }

  /**
   * The plaintext of a sealed part.
   * @param into filled and returned as a view if the object is encrypted; large enough. Without it the result is new
   * memory. Without encryption the result is always a view of `sealed`.
   * @throws {RepositoryError} CORRUPT_DATA when a single bit differs, or the part belongs elsewhere
   */
  open(sequence: number, sealed: Buffer, object: string, segment?: SegmentContext, into?: Buffer): Buffer {
    if (sealed.length < TAG_BYTES) throw this.#damaged(object, sequence);
    const associated = this.#bind(sequence, segment);
    const body = sealed.subarray(0, sealed.length - TAG_BYTES);
    const tag = sealed.subarray(sealed.length - TAG_BYTES);
    if (this.header.cipher === CIPHER_PLAIN) {
      if (!plainChecksum(associated, body).equals(tag)) throw this.#damaged(object, sequence);
      return body;
    }
    const decipher = createDecipheriv('aes-256-gcm', this.#key, this.#nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(associated);
    decipher.setAuthTag(tag);
    let plaintext: Buffer;
    if (into === undefined) {
      plaintext = decipher.update(body);
    } else {
      plaintext = into.subarray(0, body.length);
      for (let at = 0; at < body.length; at += SLICE) {
        moveInto(plaintext, at, decipher.update(body.subarray(at, at + SLICE)));
      }
    }
    try {
      decipher.final();
    } catch (cause) {
      throw this.#damaged(object, sequence, cause);
    }
    return plaintext;
  }

  #bind(sequence: number, segment: SegmentContext | undefined): Buffer {
    const associated = this.#associated;
    const at = associated.length - 8 - PART_BYTES;
    associated.writeUInt32BE(0, at);
    associated.writeUInt32BE(sequence, at + 4);
    associated.writeUInt32BE(segment === undefined ? 0 : sequence, at + 8);
    associated.writeUInt32BE(segment?.rawLength ?? 0, at + 12);
    associated[at + 16] = segment?.compression ?? 0;
    this.#nonce.writeUInt32BE(sequence, 8);
    return associated;
  }

  #damaged(object: string, sequence: number, cause?: unknown): RepositoryError {
    const part =
      sequence === DIRECTORY_SEQUENCE
        ? 'directory'
        : sequence === PADDING_SEQUENCE
          ? 'padding'
          : `part ${sequence}`;
    return new RepositoryError('CORRUPT_DATA', `${object} is damaged: its ${part} does not authenticate`, {
      details: { object, part },
      cause,
    });
  }
}

function keyOf(keys: ObjectKeys, header: Omit<Header, 'commitment'>, object: string) {
  const { type, generation, salt, sealedBy } = header;
  return sealedBy === 0
    ? keys.objectKey(keyTypeOf(type), generation, salt, object)
    : keys.sealedObjectKey(keyTypeOf(type), header, object);
}

/**
 * Copies a buffer made by node:crypto and frees it at once: left to the garbage collector, 60 MB of them pile up in
 * every thread.
 */
function moveInto(target: Buffer, offset: number, made: Buffer): void {
  made.copy(target, offset);
  const memory = made.buffer;
  if (memory instanceof ArrayBuffer && memory.byteLength === made.byteLength) memory.transfer(0);
}
