import { RepositoryError } from '../base/errors.ts';

/** Types of sealed objects (docs/repository-format.md, section 3). */
export const OBJECT_TYPES = {
  dataPack: 1,
  treePack: 2,
  index: 4,
  snapshot: 5,
  config: 6,
  head: 7,
  tombstone: 8,
  lease: 9,
} as const;
export type ObjectType = (typeof OBJECT_TYPES)[keyof typeof OBJECT_TYPES];

export const HEADER_BYTES = 80;
export const FORMAT = 1;
/** The format that repositories with write-only keys need: the highest `min_format` that this program supports. */
export const WRITE_ONLY_FORMAT = 2;
const MAGIC = Buffer.from('HF1\0', 'latin1');
/** The commitment field of an object without encryption. */
const NO_COMMITMENT = Buffer.alloc(32);

export type Cipher = 0 | 1;
export const CIPHER_PLAIN: Cipher = 0;
export const CIPHER_GCM: Cipher = 1;

export interface Header {
  readonly type: ObjectType;
  readonly cipher: Cipher;
  readonly generation: number;
  /** For an object of a write-only key, the object's public key. */
  readonly salt: Buffer;
  readonly commitment: Buffer;
  /** Number of the write-only key that sealed the object; 0 for all others (the field `wrap` follows from it). */
  readonly sealedBy: number;
}

/**
 * For the `min_format` of a keyring or configuration.
 * @throws {RepositoryError} NEWER_FORMAT
 */
export function requireFormat(minFormat: number): void {
  if (minFormat <= WRITE_ONLY_FORMAT) return;
  throw new RepositoryError('NEWER_FORMAT', 'The repository needs a newer version of Holdfast', {
    hint: 'Update Holdfast on this machine.',
    details: { minFormat },
  });
}

/** Name of the key an object type is sealed with. */
export type KeyType = 'pack' | 'index' | 'snap' | 'config' | 'head' | 'tomb' | 'lease';

const KEY_TYPES: Readonly<Record<ObjectType, KeyType>> = {
  1: 'pack',
  2: 'pack',
  4: 'index',
  5: 'snap',
  6: 'config',
  7: 'head',
  8: 'tomb',
  9: 'lease',
};

export function keyTypeOf(type: ObjectType): KeyType {
  return KEY_TYPES[type];
}

/** Length of the clear context block that follows the header. */
export function contextLength(type: ObjectType): number {
  switch (type) {
    case 5:
    case 7:
    case 8:
      return 56;
    case 6:
      return 8;
    case 9:
      return 9;
    case 1:
    case 2:
    case 4:
      return 0;
  }
}

const WRAP_SYMMETRIC = 0;
const WRAP_SEALED = 1;
/** Object types that a write-only key may store. */
const SEALED_TYPES: ReadonlySet<number> = new Set([
  OBJECT_TYPES.dataPack,
  OBJECT_TYPES.treePack,
  OBJECT_TYPES.snapshot,
  OBJECT_TYPES.head,
]);

export function encodeHeader(header: Header): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(bytes, 0);
  bytes[4] = FORMAT;
  bytes[5] = header.type;
  bytes[6] = header.cipher;
  bytes[7] = header.sealedBy === 0 ? WRAP_SYMMETRIC : WRAP_SEALED;
  bytes.writeUInt32BE(header.generation, 8);
  header.salt.copy(bytes, 12);
  header.commitment.copy(bytes, 44);
  bytes.writeUInt32BE(header.sealedBy, 76);
  return bytes;
}

function isObjectType(value: number): value is ObjectType {
  return value in KEY_TYPES;
}

/**
 * Reads and checks the first 80 bytes of `bytes`.
 * @throws {RepositoryError} CORRUPT_DATA or NEWER_FORMAT
 */
export function decodeHeader(bytes: Buffer, object: string): Header {
  if (bytes.length < HEADER_BYTES || !bytes.subarray(0, 4).equals(MAGIC)) {
    throw new RepositoryError('CORRUPT_DATA', `${object} does not begin with a Holdfast header`, {
      details: { object },
    });
  }
  const format = bytes.readUInt8(4);
  if (format > FORMAT) {
    throw new RepositoryError(
      'NEWER_FORMAT',
      `${object} has format ${format}; this program reads format ${FORMAT}`,
      {
        hint: 'Install a newer version of Holdfast.',
        details: { object, format },
      },
    );
  }
  const type = bytes.readUInt8(5);
  const cipher = bytes.readUInt8(6);
  const sealedBy = bytes.readUInt32BE(76);
  const plainAllowed = type === OBJECT_TYPES.dataPack || type === OBJECT_TYPES.treePack;
  const sound =
    format === FORMAT &&
    isObjectType(type) &&
    (cipher === CIPHER_GCM || (cipher === CIPHER_PLAIN && plainAllowed)) &&
    (cipher === CIPHER_GCM || bytes.subarray(44, 76).equals(NO_COMMITMENT)) &&
    (sealedBy === 0
      ? bytes[7] === WRAP_SYMMETRIC
      : bytes[7] === WRAP_SEALED && cipher === CIPHER_GCM && SEALED_TYPES.has(type));
  if (!sound || !isObjectType(type) || (cipher !== 0 && cipher !== 1)) {
    throw new RepositoryError('CORRUPT_DATA', `${object} has a header with impossible values`, {
      details: { object },
    });
  }
  return {
    type,
    cipher,
    generation: bytes.readUInt32BE(8),
    salt: Buffer.from(bytes.subarray(12, 44)),
    commitment: Buffer.from(bytes.subarray(44, 76)),
    sealedBy,
  };
}
