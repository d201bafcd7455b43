import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { RepositoryError, corrupt } from '../../base/errors.ts';
import { holdfastElsewhere, holdfastThere } from '../../base/holdfast-command.ts';
import { isLossy } from '../../base/people-text.ts';
import { agree, generateKeys, signEd25519, verifyEd25519 } from '../../codec/curves.ts';
import { argon2id, hkdf, type Argon2Cost } from '../../codec/kdf.ts';
import { refuseReading } from '../../codec/keys.ts';
import { decodeCborMap, encodeCbor, type CborMap, type RecordReader } from '../../format/cbor.ts';
import { decodeGrant, encodeGrant } from '../../format/grant.ts';
import {
  SLOT_KINDS,
  decodeKeyring,
  encodeKeyring,
  type Keyring,
  type KnownSlot,
  type SlotKind,
} from '../../format/keyring.ts';
import { requireVersion } from '../../format/records.ts';
import { oneAtATime } from '../../system/one-at-a-time.ts';
import { passphraseFault } from './typed-secret.ts';
import { planTries } from './slot-cost.ts';
import { grantFor, keyringOfGrant } from './write-only-grant.ts';
import { slotAssociated, type SlotFile } from './slot-file.ts';

const TAG = 16;
const MAX_LABEL_BYTES = 128;

/** What a user or host presents to open a repository. */
export type Secret =
  | { readonly kind: 'passphrase'; readonly text: string }
  | { readonly kind: 'recovery'; readonly secret: Buffer }
  | { readonly kind: 'machine'; readonly secret: Buffer }
  | { readonly kind: 'write-only'; readonly secret: Buffer };

/** What an opened slot gives: the key that opens rings, and the key that authenticates them. */
export interface OpenSlot {
  readonly slot: string;
  readonly private: Buffer;
  /**
   * For a write-only key the administrator's public key instead: a key that could authenticate rings could also forge
   * them.
   */
  readonly ringAuth: Buffer;
  readonly writeOnly: boolean;
}

/**
 * Makes a slot for `secret`; returns its file and its entry for the keyring.
 * @param ringAuth for a write-only key the administrator's public key
 * @throws {RepositoryError} LIMIT_EXCEEDED when the label is too long; REFUSED when the passphrase is not valid text
 */
export async function createSlot(
  repository: Buffer,
  secret: Secret,
  ringAuth: Buffer,
  facts: { readonly label: string; readonly createdMs: number; readonly cost: Argon2Cost },
): Promise<{ file: Buffer; known: KnownSlot; open: OpenSlot }> {
  if (Buffer.byteLength(facts.label) > MAX_LABEL_BYTES) {
    throw new RepositoryError('LIMIT_EXCEEDED', `The label of a key has at most ${MAX_LABEL_BYTES} bytes`, {
      hint: 'Give it a shorter label.',
    });
  }
  if (secret.kind === 'passphrase' && isLossy(secret.text)) {
    throw new RepositoryError('REFUSED', 'The new passphrase has characters that could not be read as text', {
      hint: 'Save its file in UTF-8, or enter it again.',
    });
  }
  const slot = randomBytes(16);
  const cost = secret.kind === 'passphrase' ? { ...facts.cost, salt: randomBytes(32) } : undefined;
  const { kek, commit } = slotKeys(await stretched(secret, cost), slot);
  const pair = generateKeys('x25519');
  const nonce = randomBytes(12);
  const map: CborMap = {
    v: 1,
    repo: repository,
    slot,
    kind: SLOT_KINDS[secret.kind],
    kdf: cost === undefined ? null : { m: cost.m, t: cost.t, p: cost.p, salt: cost.salt },
    label: facts.label,
    created: facts.createdMs,
    commit,
    nonce,
    public: pair.public,
  };
  const ct = gcmSeal(kek, nonce, slotAssociated(encodeCbor(map)), Buffer.concat([pair.private, ringAuth]));
  const id = slot.toString('hex');
  const file = encodeCbor({ ...map, ct });
  const digest = createHash('sha256').update(file).digest();
  return {
    file,
    known: { slot: id, public: pair.public, kind: secret.kind, label: facts.label, file: digest },
    open: { slot: id, private: pair.private, ringAuth, writeOnly: secret.kind === 'write-only' },
  };
}

/**
 * Opens the slots that the secret fits, one after the other, checking the commitment before anything is decrypted. The
 * total cost of trying passphrase slots is bounded (slot-cost.ts).
 * @param allowWeakCost accept passphrase costs below the floor (repositories made for tests)
 * @throws {RepositoryError} WRONG_PASSPHRASE or LIMIT_EXCEEDED when no further slot fits
 */
export async function* openSlots(
  slots: readonly SlotFile[],
  secret: Secret,
  allowWeakCost: boolean,
  mostWork?: number,
): AsyncGenerator<OpenSlot, never, undefined> {
  const { tried, left, refused } = planTries(slots, secret.kind, allowWeakCost, mostWork);
  for (const file of tried) {
    const { kek, commit } = slotKeys(await stretched(secret, file.cost), Buffer.from(file.slot, 'hex'));
    if (!timingSafeEqual(commit, file.commit)) continue;
    const plaintext = gcmOpen(kek, file.nonce, file.associated, file.ct, `key slot ${file.slot}`);
    yield {
      slot: file.slot,
      private: plaintext.subarray(0, 32),
      ringAuth: plaintext.subarray(32, 64),
      writeOnly: file.kind === 'write-only',
    };
  }
  if (left > 0) throw someLeft(secret, left);
  if (refused !== undefined) throw refused;
  const candidates = slots.filter((slot) => slot.kind === secret.kind);
  const fault =
    candidates.length > 0 && secret.kind === 'passphrase' ? passphraseFault(secret.text) : undefined;
  // Holdfast makes no repository with such a passphrase, so it is told like there. Other programs may make one.
  if (fault !== undefined)
    throw new RepositoryError('WRONG_PASSPHRASE', `The passphrase ${fault.what}`, {
      hint: fault.hint,
      details: { untypable: true },
    });
  throw new RepositoryError('WRONG_PASSPHRASE', wrongSecretMessage(secret, candidates.length), {
    hint: whatOpens(secret, slots),
  });
}

/** A hint what opens the repository; it never suggests a kind of secret for which there is no slot. */
function whatOpens(secret: Secret, slots: readonly SlotFile[]): string {
  const has = (kind: SlotKind): boolean => slots.some((slot) => slot.kind === kind);
  const addCode = holdfastThere`keys add --recovery-code`;
  if (secret.kind === 'recovery' && !has('recovery'))
    return has('passphrase')
      ? `A passphrase opens it: of a repository that the agent made, the one of the recovery kit. With that, make a recovery code for it: ${addCode}`
      : 'The machine that made it opens it.';
  if (has('recovery') && has('passphrase'))
    return 'Give the right passphrase, or the recovery code from the recovery kit.';
  if (has('recovery')) return 'Give the recovery code of this repository.';
  return has('passphrase') ? 'Give the right passphrase.' : 'The machine that made it opens it.';
}

/** The first slot that the secret fits. @throws {RepositoryError} as openSlots */
export async function openSlot(
  slots: readonly SlotFile[],
  secret: Secret,
  allowWeakCost: boolean,
  mostWork?: number,
): Promise<OpenSlot> {
  const { value } = await openSlots(slots, secret, allowWeakCost, mostWork).next();
  return value;
}

function someLeft(secret: Secret, left: number): RepositoryError {
  const which = left === 1 ? '1 key slot was' : `${left} key slots were`;
  const message = `${wrongSecretMessage(secret, left)}; ${which} not tried, because trying all of them would take too long`;
  return new RepositoryError('WRONG_PASSPHRASE', message, {
    hint: `Somebody may have planted key slots there. Open the repository with the recovery code or a machine key, and remove what "${holdfastThere`keys list`}" shows as unknown.`,
    details: { slotsNotTried: left },
  });
}

function wrongSecretMessage(secret: Secret, candidates: number): string {
  if (secret.kind === 'machine') return "This machine's key does not open the repository";
  if (secret.kind === 'write-only') return 'The write-only key does not open this repository';
  if (candidates === 0)
    return `The repository has no key slot for a ${secret.kind === 'recovery' ? 'recovery code' : 'passphrase'}`;
  return secret.kind === 'recovery' ? 'The recovery code does not open this repository' : 'Wrong passphrase';
}

/**
 * Seals a keyring to every slot it lists and, for every write-only key, the part that the key may have.
 * @throws {RepositoryError} REFUSED without administrator key, which signs what write-only keys get
 */
export function sealRing(ring: Keyring, n: number, ringAuth: Buffer): Buffer {
  if (ring.grantedTo !== undefined) throw refuseReading();
  const plaintext = encodeKeyring(ring);
  const slots = ring.slots.map((known) => sealToSlot(ring, n, known, RING, plaintext));
  const map: CborMap = {
    v: 1,
    repo: ring.repository,
    n,
    slots,
    ...(ring.writeOnly === undefined ? {} : { write_only: sealGrants(ring, n) }),
  };
  return encodeCbor({ ...map, auth: createHmac('sha256', ringAuth).update(encodeCbor(map)).digest() });
}

/** Labels that separate the two kinds of plaintext in a ring. */
const RING = { wrap: 'hf1/ring/v1', associated: 'hf1/ring' } as const;
const GRANT = { wrap: 'hf1/grant/v1', associated: 'hf1/grant' } as const;
type Sealing = typeof RING | typeof GRANT;

function sealToSlot(ring: Keyring, n: number, known: KnownSlot, sealing: Sealing, plaintext: Buffer) {
  const ephemeral = generateKeys('x25519');
  const slot = Buffer.from(known.slot, 'hex');
  const nonce = randomBytes(12);
  const wrap = ringWrap(sealing, agree(ephemeral.private, known.public), slot, n, ephemeral.public);
  const ct = gcmSeal(wrap, nonce, ringAssociated(sealing, ring.repository, n, slot), plaintext);
  return { slot, epk: ephemeral.public, nonce, ct };
}

/** Signed even when no write-only key is left, so that a removed key learns of its removal. */
function sealGrants(ring: Keyring, n: number): CborMap {
  const { admin } = ring;
  if (admin === undefined) {
    throw new RepositoryError(
      'REFUSED',
      'To change the keys of this repository, you need administrator rights',
      {
        hint: 'Change keys from a host with administrator rights.',
      },
    );
  }
  const keys = (ring.writeOnly?.keys ?? []).map((key) =>
    sealToSlot(ring, n, key, GRANT, encodeGrant(grantFor(ring, key.number))),
  );
  const signature = signEd25519(admin, grantsMessage(ring.repository, n, encodeCbor({ keys })));
  return { keys, signature };
}

function grantsMessage(repository: Buffer, n: number, unsigned: Buffer): Buffer {
  return Buffer.concat([Buffer.from('hf1/grants', 'latin1'), repository, u64(n), unsigned]);
}

/**
 * Opens ring `n` with an opened slot. A write-only key gets a keyring with only what was granted to it.
 * @throws {RepositoryError} CORRUPT_DATA when the ring is not authentic; WRONG_PASSPHRASE when the slot was removed
 * from it
 */
export function openRing(bytes: Buffer, n: number, slot: OpenSlot): Keyring {
  const object = `keys/ring-${n}`;
  const map = decodeCborMap(bytes, object);
  if (slot.writeOnly) return openGrant(map, n, slot, object);
  const auth = createHmac('sha256', slot.ringAuth).update(map.encodedWithout('auth')).digest();
  if (!timingSafeEqual(auth, map.bytes('auth', 32))) throw corrupt(object, 'it is not authentic');
  requireVersion(map);
  if (map.integer('n') !== n) throw corrupt(object, 'it is stored under another number');
  const repository = map.bytes('repo', 16);
  const plaintext = openOwn(map.maps('slots', 64), { repository, n, slot, sealing: RING, object });
  const ring = decodeKeyring(plaintext, object);
  if (!ring.repository.equals(repository)) throw corrupt(object, 'it belongs to another repository');
  return ring;
}

function openGrant(map: RecordReader, n: number, slot: OpenSlot, object: string): Keyring {
  const repository = map.bytes('repo', 16);
  if (!map.has('write_only')) throw corrupt(object, 'it says nothing about write-only keys');
  const grants = map.map('write_only');
  const message = grantsMessage(repository, n, grants.encodedWithout('signature'));
  if (!verifyEd25519(slot.ringAuth, message, grants.bytes('signature', 64)))
    throw corrupt(object, 'it is not signed by the administrator key');
  requireVersion(map);
  const plaintext = openOwn(grants.maps('keys', 64), { repository, n, slot, sealing: GRANT, object });
  const grant = decodeGrant(plaintext, object);
  if (!grant.repository.equals(repository)) throw corrupt(object, 'it belongs to another repository');
  return keyringOfGrant(grant);
}

function openOwn(
  sealed: readonly RecordReader[],
  facts: { repository: Buffer; n: number; slot: OpenSlot; sealing: Sealing; object: string },
): Buffer {
  const { repository, n, slot, sealing, object } = facts;
  const slots = sealed.map((one) => ({
    slot: one.bytes('slot', 16),
    epk: one.bytes('epk', 32),
    nonce: one.bytes('nonce', 12),
    ct: one.bytes('ct'),
  }));
  const own = slots.find((one) => one.slot.toString('hex') === slot.slot);
  if (own === undefined) {
    throw new RepositoryError('WRONG_PASSPHRASE', 'This key was removed from the repository', {
      hint: slot.writeOnly
        ? `Make another one on a machine that has the passphrase: ${holdfastElsewhere`keys add --write-only FILE`}`
        : 'Use another passphrase or the recovery code.',
    });
  }
  const wrap = ringWrap(sealing, sharedSecret(slot, own.epk, object), own.slot, n, own.epk);
  return gcmOpen(wrap, own.nonce, ringAssociated(sealing, repository, n, own.slot), own.ct, object);
}

function sharedSecret(slot: OpenSlot, epk: Buffer, object: string): Buffer {
  try {
    return agree(slot.private, epk);
  } catch (cause) {
    throw corrupt(object, 'it was sealed with a public key that gives no secret', cause);
  }
}

/**
 * Costs below this many KiB are affordable on any machine, several at once. Others are stretched one at a time, since
 * opening several destinations together would multiply the memory.
 */
const CHEAP_KIB = 32_768;

async function stretched(secret: Secret, cost: SlotFile['cost']): Promise<Buffer> {
  if (secret.kind !== 'passphrase') return secret.secret;
  // A lone surrogate would be encoded as a replacement character, so that a wrong passphrase could open the slot.
  if (!secret.text.isWellFormed()) throw noText();
  if (cost === undefined) throw corrupt('a key slot', 'it is a passphrase slot without cost parameters');
  const text = Buffer.from(secret.text.normalize('NFC'), 'utf8');
  const { salt } = cost;
  const stretch = async (): Promise<Buffer> => await argon2id(text, salt, cost);
  return cost.m < CHEAP_KIB ? await stretch() : await oneAtATime(stretch);
}

function noText(): RepositoryError {
  return new RepositoryError(
    'WRONG_PASSPHRASE',
    'The passphrase is not text: it contains half of a character',
    {
      hint: 'Enter it again.',
    },
  );
}

function slotKeys(secret: Buffer, slot: Buffer): { kek: Buffer; commit: Buffer } {
  const okm = hkdf(secret, slot, 'hf1/slot/v1', 64);
  return { kek: okm.subarray(0, 32), commit: okm.subarray(32) };
}

function u64(n: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(n));
  return bytes;
}

function ringAssociated({ associated }: Sealing, repository: Buffer, n: number, slot: Buffer): Buffer {
  return Buffer.concat([Buffer.from(associated, 'latin1'), repository, u64(n), slot]);
}

function ringWrap({ wrap }: Sealing, shared: Buffer, slot: Buffer, n: number, epk: Buffer): Buffer {
  return hkdf(shared, slot, Buffer.concat([Buffer.from(wrap, 'latin1'), u64(n), epk]), 32);
}

function gcmSeal(key: Buffer, nonce: Buffer, associated: Buffer, plaintext: Buffer): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG });
  cipher.setAAD(associated);
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

function gcmOpen(key: Buffer, nonce: Buffer, associated: Buffer, sealed: Buffer, object: string): Buffer {
  if (sealed.length < TAG) throw corrupt(object, 'it is cut short');
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG });
  decipher.setAAD(associated);
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG));
  const plaintext = decipher.update(sealed.subarray(0, sealed.length - TAG));
  try {
    return Buffer.concat([plaintext, decipher.final()]);
  } catch (cause) {
    throw corrupt(object, 'it is damaged: it does not authenticate', cause);
  }
}
