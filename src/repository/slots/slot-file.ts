/** Decodes key slot files, and computes what their ciphertext is bound to (docs/repository-format.md, 4.2). */
import type { Argon2Cost } from '../../codec/kdf.ts';
import { slotKindOf, type SlotKind } from '../../format/keyring.ts';
import { corrupt } from '../../base/errors.ts';
import { decodeCborMap } from '../../format/cbor.ts';
import { requireVersion } from '../../format/records.ts';

/** A slot file as stored. */
export interface SlotFile {
  readonly repository: Buffer;
  readonly slot: string;
  readonly kind: SlotKind;
  readonly cost: (Argon2Cost & { readonly salt: Buffer }) | undefined;
  readonly label: string;
  readonly createdMs: number;
  readonly commit: Buffer;
  readonly nonce: Buffer;
  readonly public: Buffer;
  readonly ct: Buffer;
  /** The associated data of the ciphertext: every other field of the file, known or not. */
  readonly associated: Buffer;
}

/** @throws {RepositoryError} CORRUPT_DATA */
export function decodeSlot(bytes: Buffer, object: string): SlotFile {
  if (bytes.length > 8_192) throw corrupt(object, 'it is larger than a key slot can be');
  const map = decodeCborMap(bytes, object);
  requireVersion(map);
  const kind = slotKindOf(map.integer('kind'), object);
  const kdf = kind === 'passphrase' ? map.map('kdf') : undefined;
  return {
    repository: map.bytes('repo', 16),
    slot: map.bytes('slot', 16).toString('hex'),
    kind,
    cost:
      kdf === undefined
        ? undefined
        : { m: kdf.integer('m'), t: kdf.integer('t'), p: kdf.integer('p'), salt: kdf.bytes('salt', 32) },
    label: map.text('label', 128),
    createdMs: map.integer('created'),
    commit: map.bytes('commit', 32),
    nonce: map.bytes('nonce', 12),
    public: map.bytes('public', 32),
    ct: map.bytes('ct', 80),
    associated: slotAssociated(map.encodedWithout('ct')),
  };
}

/** The associated data of a slot file's ciphertext. */
export function slotAssociated(withoutCt: Buffer): Buffer {
  return Buffer.concat([Buffer.from('hf1/slot', 'latin1'), withoutCt]);
}
