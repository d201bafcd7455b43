/** Parsers behind a seal, a tag or a stretched secret: inputs are sealed anew with the right key, so that they get there. */
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { RepositoryError } from '../../../src/base/errors.ts';
import { signEd25519 } from '../../../src/codec/curves.ts';
import { ObjectKeys } from '../../../src/codec/keys.ts';
import {
  formatRecoveryCode,
  looksLikeRecoveryCode,
  parseRecoveryCode,
} from '../../../src/codec/recovery-code.ts';
import { decodeGrant } from '../../../src/format/grant.ts';
import { OBJECT_TYPES, contextLength, type ObjectType } from '../../../src/format/header.ts';
import { decodeIndexObject } from '../../../src/format/index-object.ts';
import { padded } from '../../../src/format/keyring.ts';
import { decodeLease, encodeLease } from '../../../src/format/lease-record.ts';
import {
  decodeChainContext,
  decodeConfig,
  decodeHead,
  decodeSnapshot,
  decodeTombstone,
  encodeChainContext,
} from '../../../src/format/records.ts';
import { openRing, type OpenSlot } from '../../../src/repository/slots/key-slots.ts';
import { decompressRecord, openObject, sealObject } from '../../../src/repository/objects/objects.ts';
import { keyringOfGrant } from '../../../src/repository/slots/write-only-grant.ts';
import type { FormatVectors } from '../../support/format-vectors.ts';
import { openObject as strangerOpens } from '../../support/independent-objects.ts';
import { cbor, uncbor } from '../../support/independent-primitives.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import { EXAMPLE_KEYS, exampleBytes } from '../../support/worked-example.ts';
import { mutate } from '../mutate.ts';
import { changeCbor, judged, need, parsed, requireEqual, textOf } from '../structured.ts';
import type { TargetTable } from '../target.ts';
import { isRefusal, LEASE, storedExample, WRITE_ONLY } from './stored.ts';
import { decodeSlot } from '../../../src/repository/slots/slot-file.ts';

const vectors: FormatVectors = JSON.parse(
  readFileSync(new URL('../../../docs/vectors/format-1.json', import.meta.url), 'utf8'),
);
const hex = (text: string): Buffer => Buffer.from(text, 'hex');

const keys = new ObjectKeys({
  repository: Buffer.from(EXAMPLE_KEYS.repo),
  writer: exampleBytes('writer', 16),
  idData: Buffer.from(EXAMPLE_KEYS.idData),
  idTree: Buffer.from(EXAMPLE_KEYS.idTree),
  idPlain: Buffer.from(EXAMPLE_KEYS.idPlain),
  cdc: exampleBytes('cdc'),
  generations: [{ g: 1, key: exampleBytes('generation 1'), state: 'current' }],
});

const granted = decodeGrant(padded(hex(WRITE_ONLY.grant.plaintext)), 'object');
/** Of the write-only key of the vectors, whose repository is that of the example. */
const writeOnlyKeys = new ObjectKeys({
  ...keys.material,
  generations: keyringOfGrant(granted).generations,
  writeOnly: granted.number,
});

type Decoder = (plaintext: Buffer, object: string) => unknown;

/** What is read from the plaintext of an object of one part. */
const DECODERS: ReadonlyMap<number, Decoder> = new Map<number, Decoder>([
  [OBJECT_TYPES.index, (bytes, object) => decodeIndexObject(decompressRecord(bytes, object), object)],
  [OBJECT_TYPES.snapshot, decodeSnapshot],
  [OBJECT_TYPES.config, decodeConfig],
  [OBJECT_TYPES.head, decodeHead],
  [OBJECT_TYPES.tombstone, decodeTombstone],
  [OBJECT_TYPES.lease, decodeLease],
]);
const TYPES = [...DECODERS.keys()] as ObjectType[];

function typeOf(stored: Buffer): ObjectType {
  return TYPES.find((type) => type === stored[5]) ?? OBJECT_TYPES.snapshot;
}

/** Opens an object, changes what is in it, and seals it as its writer would. */
function resealed(stored: Buffer, random: SeededRandom): Buffer {
  const type = typeOf(stored);
  let opened;
  try {
    opened = openObject(keys, type, stored, 'object');
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return stored;
  }
  const mutation = { random, maxBytes: 65_536, words: [], other: () => stored };
  const plaintext =
    random.below(3) === 0 ? mutate(opened.plaintext, mutation) : changeCbor(opened.plaintext, random);
  const nextType = random.below(8) === 0 ? (TYPES[random.below(TYPES.length)] ?? type) : type;
  const context = Buffer.alloc(contextLength(nextType));
  mutate(opened.context, mutation).copy(context);
  if (opened.sealedBy === 0) return sealObject(keys, nextType, context, plaintext).bytes;
  return sealObject(writeOnlyKeys, OBJECT_TYPES.head, opened.context, plaintext).bytes;
}

const ringSlot: OpenSlot = {
  slot: vectors.ring.slot,
  private: hex(vectors.ring.private),
  ringAuth: hex(vectors.ring.ring_auth),
  writeOnly: false,
};

/** With the tag that whoever holds the authentication key would give it. */
function authentic(ring: Buffer): Buffer {
  try {
    const { auth: _, ...fields } = uncbor(ring);
    return cbor({ ...fields, auth: createHmac('sha256', ringSlot.ringAuth).update(cbor(fields)).digest() });
  } catch {
    return ring;
  }
}

const grantSlot: OpenSlot = {
  slot: WRITE_ONLY.grant.slot,
  private: hex(WRITE_ONLY.grant.slot_private),
  ringAuth: hex(WRITE_ONLY.grant.admin_public),
  writeOnly: true,
};

/** With the signature that whoever holds the administrator's key would give it. */
function signed(ring: Buffer): Buffer {
  try {
    const { write_only: grants, ...fields } = uncbor(ring);
    const { signature: _, ...unsigned } = uncbor(cbor(grants));
    const start = Buffer.concat([Buffer.from('hf1/grants'), keys.repository, Buffer.alloc(8)]);
    start.writeBigUInt64BE(BigInt(WRITE_ONLY.grant.n), start.length - 8);
    const message = Buffer.concat([start, cbor(unsigned)]);
    const signature = signEd25519(exampleBytes('admin'), message);
    return cbor({ ...fields, write_only: { ...unsigned, signature } });
  } catch {
    return ring;
  }
}

export const KEYS: TargetTable<'keys'> = {
  'sealed-object': () => ({
    files: [
      'src/codec/seal.ts',
      'src/repository/objects/objects.ts',
      'src/format/records.ts',
      'src/format/header.ts',
    ],
    seeds: [
      storedExample('snapshots/'),
      storedExample('heads/'),
      storedExample('config/'),
      hex(WRITE_ONLY.head.object),
      sealObject(keys, OBJECT_TYPES.lease, Buffer.alloc(9), encodeLease(LEASE)).bytes,
    ],
    maxBytes: 65_536,
    change: resealed,
    run: (input) => {
      const type = typeOf(input);
      const opened = parsed(() => openObject(keys, type, input, 'object'), isRefusal);
      let stranger: ReturnType<typeof strangerOpens> | undefined;
      try {
        stranger = strangerOpens(input, type, EXAMPLE_KEYS);
      } catch {
        stranger = undefined;
      }
      need((opened === 'refused') === (stranger === undefined), 'one reader opens it, the other does not');
      if (opened === 'refused') return 'refused';
      requireEqual(opened.value.plaintext, stranger?.plaintext, 'the plaintext');
      requireEqual(opened.value.context, stranger?.context, 'the context');
      if (opened.value.context.length === 56) {
        const position = decodeChainContext(opened.value.context);
        if (Number.isSafeInteger(position.seq))
          requireEqual(encodeChainContext(position), opened.value.context, 'the context written again');
      }
      const decoder = DECODERS.get(type);
      return judged(parsed(() => decoder?.(opened.value.plaintext, 'object'), isRefusal));
    },
  }),
  ring: () => ({
    files: ['src/repository/slots/key-slots.ts', 'src/format/keyring.ts'],
    seeds: [storedExample('keys/ring-1')],
    maxBytes: 65_536,
    change: (input, random) => authentic(changeCbor(input, random)),
    run: (input) =>
      judged(
        parsed(
          () => openRing(input, 1, ringSlot),
          (error) =>
            isRefusal(error) || (error instanceof RepositoryError && error.code === 'WRONG_PASSPHRASE'),
        ),
      ),
  }),
  grants: () => ({
    files: ['src/repository/slots/key-slots.ts', 'src/format/grant.ts'],
    seeds: [hex(WRITE_ONLY.grant.ring)],
    maxBytes: 65_536,
    change: (input, random) => signed(changeCbor(input, random)),
    run: (input) =>
      judged(
        parsed(
          () => openRing(input, WRITE_ONLY.grant.n, grantSlot),
          (error) =>
            isRefusal(error) || (error instanceof RepositoryError && error.code === 'WRONG_PASSPHRASE'),
        ),
      ),
  }),
  slot: () => ({
    files: ['src/repository/slots/key-slots.ts', 'src/format/cbor.ts'],
    seeds: vectors.slots.map(({ file }) => hex(file)),
    maxBytes: 9_000,
    change: changeCbor,
    run: (input) =>
      judged(
        parsed(() => decodeSlot(input, 'object'), isRefusal),
        (slot) => {
          need(slot.ct.length === 80 && slot.slot.length === 32, 'a field has another length');
        },
      ),
  }),
  'recovery-code': () => ({
    files: ['src/codec/recovery-code.ts'],
    seeds: [Buffer.alloc(32), Buffer.alloc(32, 0xa5)].map((secret) =>
      Buffer.from(formatRecoveryCode(secret)),
    ),
    maxBytes: 4_096,
    words: ['0', '1', '8', '-', ' ', 'A', '7', 'ß', 'ſ', 'İ'],
    // The checksum is right again in half of them.
    change: (input, random) => Buffer.from(formatRecoveryCode(random.bytes(32)) + textOf(input).slice(63)),
    run: (input) => {
      const text = textOf(input);
      looksLikeRecoveryCode(text);
      return judged(
        parsed(
          () => parseRecoveryCode(text),
          (error) => error instanceof RepositoryError && error.code === 'WRONG_PASSPHRASE',
        ),
        (secret) => {
          requireEqual(parseRecoveryCode(formatRecoveryCode(secret)), secret, 'the code written again');
        },
      );
    },
  }),
};
