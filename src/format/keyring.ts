import { corrupt } from '../base/errors.ts';
import { decodeCborMap, encodeCbor, type RecordReader } from './cbor.ts';

export type SlotKind = 'passphrase' | 'recovery' | 'machine' | 'write-only';
export const SLOT_KINDS: Readonly<Record<SlotKind, number>> = {
  passphrase: 1,
  recovery: 2,
  machine: 3,
  'write-only': 4,
};

export function slotKindOf(value: number, object: string): SlotKind {
  if (value === 1) return 'passphrase';
  if (value === 2) return 'recovery';
  if (value === 3) return 'machine';
  if (value === 4) return 'write-only';
  throw corrupt(object, 'it is of an unknown kind');
}

/** A slot in the keyring; rings are sealed only to these public keys. */
export interface KnownSlot {
  /** 32 hex digits. */
  readonly slot: string;
  readonly public: Buffer;
  readonly kind: SlotKind;
  readonly label: string;
  /** SHA-256 of the slot file, so that damage to it is found before the slot is needed. */
  readonly file?: Buffer | undefined;
}

/** A key that adds backups and reads none: each ring has a grant for its slot, never the keyring. */
export interface WriteOnlyKey extends KnownSlot {
  /** Counted from 1; a number is never reused. */
  readonly number: number;
}

/** All secrets of a repository. */
export interface Keyring {
  readonly repository: Buffer;
  readonly idData: Buffer;
  readonly idTree: Buffer;
  readonly idPlain: Buffer;
  readonly cdc: Buffer;
  /** Ed25519 private seed; absent on hosts that may only append. */
  readonly admin: Buffer | undefined;
  readonly adminPublic: Buffer;
  readonly generations: readonly {
    readonly g: number;
    readonly key: Buffer;
    readonly state: 'current' | 'old';
    /** Set only in the restricted keyring of a write-only key. */
    readonly granted?: GrantedGeneration | undefined;
  }[];
  readonly minFormat: number;
  readonly slots: readonly KnownSlot[];
  /** Set once there has been a write-only key: the present keys, and the highest number ever used. */
  readonly writeOnly?: { readonly last: number; readonly keys: readonly WriteOnlyKey[] } | undefined;
  /** Set in the restricted keyring of a write-only key: the key's number. */
  readonly grantedTo?: number | undefined;
}

/** The keys of one generation that a write-only key has. */
export interface GrantedGeneration {
  readonly config: Buffer;
  readonly tomb: Buffer;
  readonly lease: Buffer;
  readonly sealing?: { readonly public: Buffer; readonly sealer: Buffer } | undefined;
}

const PAD = 1_024;

/** Whether any generation was retired. Generations are numbered from 1 without gaps, so a gap shows it. */
export function hasRetired({ generations }: Keyring): boolean {
  return generations.length < Math.max(...generations.map(({ g }) => g));
}

/**
 * Whether this generation was retired. Nothing was sealed under it at that time, so an object under it was deleted once
 * and has come back, or arrived late, and nobody can open it.
 */
export function isRetired({ generations }: Keyring, generation: number): boolean {
  const isThere = generations.some(({ g }) => g === generation);
  return !isThere && generation >= 1 && generations.some(({ g }) => g > generation);
}

/** Length, CBOR, and zeros up to a multiple of 1,024 bytes. */
export function padded(cbor: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(cbor.length);
  const used = 4 + cbor.length;
  return Buffer.concat([length, cbor, Buffer.alloc((PAD - (used % PAD)) % PAD)]);
}

/** @throws {RepositoryError} CORRUPT_DATA */
export function unpadded(bytes: Buffer, object: string): Buffer {
  const length = bytes.length < 4 ? -1 : bytes.readUInt32BE(0);
  if (length < 0 || length > bytes.length - 4) throw corrupt(object, 'its keyring is cut short');
  return bytes.subarray(4, 4 + length);
}

function slotMap(slot: KnownSlot) {
  return {
    slot: Buffer.from(slot.slot, 'hex'),
    public: slot.public,
    kind: SLOT_KINDS[slot.kind],
    label: slot.label,
    ...(slot.file === undefined ? {} : { file: slot.file }),
  };
}

function slotOf(one: RecordReader, object: string): KnownSlot {
  return {
    slot: one.bytes('slot', 16).toString('hex'),
    public: one.bytes('public', 32),
    kind: slotKindOf(one.integer('kind'), object),
    label: one.text('label', 128),
    file: one.has('file') ? one.bytes('file', 32) : undefined,
  };
}

/** CBOR, padded with zeros to a multiple of 1,024 bytes. */
export function encodeKeyring(ring: Keyring): Buffer {
  const { writeOnly } = ring;
  return padded(
    encodeCbor({
      repo: ring.repository,
      id_data: ring.idData,
      id_tree: ring.idTree,
      id_plain: ring.idPlain,
      cdc: ring.cdc,
      admin: ring.admin ?? null,
      admin_public: ring.adminPublic,
      gens: ring.generations.map(({ g, key, state }) => ({ g, key, state })),
      min_format: ring.minFormat,
      slots: ring.slots.map(slotMap),
      ...(writeOnly === undefined
        ? {}
        : {
            write_only: {
              last: writeOnly.last,
              keys: writeOnly.keys.map((key) => ({ ...slotMap(key), number: key.number })),
            },
          }),
    }),
  );
}

/** @throws {RepositoryError} CORRUPT_DATA */
export function decodeKeyring(bytes: Buffer, object: string): Keyring {
  const map = decodeCborMap(unpadded(bytes, object), object);
  const slots = map.maps('slots', 64).map((one) => slotOf(one, object));
  // A write-only key in this list would be given the whole keyring.
  if (slots.some(({ kind }) => kind === 'write-only'))
    throw corrupt(object, 'it lists a write-only key among those that open everything');
  return {
    repository: map.bytes('repo', 16),
    idData: map.bytes('id_data', 32),
    idTree: map.bytes('id_tree', 32),
    idPlain: map.bytes('id_plain', 32),
    cdc: map.bytes('cdc', 32),
    admin: map.has('admin') ? map.bytes('admin', 32) : undefined,
    adminPublic: map.bytes('admin_public', 32),
    generations: map.maps('gens', 1_000).map((one) => ({
      g: one.integer('g', 1, 0xffff_ffff),
      key: one.bytes('key', 32),
      state: one.text('state') === 'current' ? ('current' as const) : ('old' as const),
    })),
    minFormat: map.integer('min_format', 1, 1_000),
    slots,
    writeOnly: map.has('write_only') ? writeOnlyOf(map.map('write_only'), object) : undefined,
  };
}

function writeOnlyOf(map: RecordReader, object: string): Keyring['writeOnly'] {
  const last = map.integer('last', 1, 0xffff_ffff);
  const keys = map
    .maps('keys', 64)
    .map((one) => ({ ...slotOf(one, object), number: one.integer('number', 1, last) }));
  if (new Set(keys.map(({ number }) => number)).size !== keys.length)
    throw corrupt(object, 'it lists two write-only keys of one number');
  return { last, keys };
}
