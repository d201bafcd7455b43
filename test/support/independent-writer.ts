/**
 * Writes the forms of docs/repository-format.md from that page alone, with every salt and nonce given, so that the same
 * bytes come out every time. Nothing here comes from src/.
 */

import { argon2Sync, sign } from 'node:crypto';
import { hex, objectKey, type Keys, type ObjectKey } from './independent-objects.ts';
import {
  blake3,
  blake3Keyed,
  cbor,
  gcmSeal,
  hkdf,
  hmac,
  join,
  publicOf,
  rawKey,
  sha256,
  u16,
  u24,
  u32,
  u64,
  x25519,
} from './independent-primitives.ts';

/** A stretch of bytes and what it is. */
export type Field = readonly [what: string, bytes: Buffer];

export const bytesOfFields = (fields: readonly Field[]): Buffer =>
  Buffer.concat(fields.map(([, bytes]) => bytes));

// --- section 2 ---

export function varint(value: bigint | number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt(value);
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}

export function svarint(value: bigint | number): Buffer {
  const n = BigInt(value);
  return varint(BigInt.asUintN(64, (n << 1n) ^ (n >> 63n)));
}

// --- section 4 ---

export interface Cost {
  readonly m: number;
  readonly t: number;
  readonly p: number;
}

export function argon2id(passphrase: string, salt: Buffer, { m, t, p }: Cost): Buffer {
  const message = Buffer.from(passphrase.normalize('NFC'), 'utf8');
  return argon2Sync('argon2id', {
    message,
    nonce: salt,
    memory: m,
    passes: t,
    parallelism: p,
    tagLength: 32,
  });
}

export function recoveryCode(secret: Buffer): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...join(secret, sha256(secret).subarray(0, 3))]
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('');
  const letters = (bits.match(/.{5}/g) ?? []).map((five) => alphabet[Number.parseInt(five, 2)]).join('');
  return (letters.match(/.{7}/g) ?? []).join('-');
}

export interface SlotParts {
  readonly repo: Buffer;
  readonly slot: Buffer;
  readonly kind: number;
  readonly kdf: (Cost & { readonly salt: Buffer }) | null;
  readonly label: string;
  readonly created: number;
  readonly nonce: Buffer;
  /** The 32 bytes that open it. */
  readonly secret: Buffer;
  /** X25519. */
  readonly private: Buffer;
  readonly ringAuth: Buffer;
}

export function slotFile(parts: SlotParts): Buffer {
  const { repo, slot, kind, kdf, label, created, nonce, secret } = parts;
  const okm = hkdf(secret, slot, join('hf1/slot/v1'), 64);
  const map = {
    v: 1,
    repo,
    slot,
    kind,
    kdf,
    label,
    created,
    commit: okm.subarray(32),
    nonce,
    public: publicOf('X25519', parts.private),
  };
  const plaintext = join(parts.private, parts.ringAuth);
  return cbor({ ...map, ct: gcmSeal(okm.subarray(0, 32), nonce, join('hf1/slot', cbor(map)), plaintext) });
}

/** The plaintext of a ring's slots. */
export function keyringBytes(keyring: Record<string, unknown>): Buffer {
  const map = cbor(keyring);
  return join(u32(map.length), map, Buffer.alloc((1_024 - ((4 + map.length) % 1_024)) % 1_024));
}

export function ringFile(
  repo: Buffer,
  n: number,
  keyring: Buffer,
  ringAuth: Buffer,
  slots: readonly { slot: Buffer; public: Buffer; ephemeral: Buffer; nonce: Buffer }[],
): Buffer {
  const sealed = slots.map(({ slot, public: slotPublic, ephemeral, nonce }) => {
    const epk = publicOf('X25519', ephemeral);
    const wrap = hkdf(x25519(ephemeral, slotPublic), slot, join('hf1/ring/v1', u64(n), epk), 32);
    return { slot, epk, nonce, ct: gcmSeal(wrap, nonce, join('hf1/ring', repo, u64(n), slot), keyring) };
  });
  const map = { v: 1, repo, n, slots: sealed };
  return cbor({ ...map, auth: hmac(ringAuth, cbor(map)) });
}

export function signed(map: Record<string, unknown>, domain: string, repo: Buffer, admin: Buffer): Buffer {
  const message = join(domain, repo, cbor(map));
  return cbor({ ...map, signature: sign(null, message, rawKey('Ed25519', 'private', admin)) });
}

export const chunkId = (key: Uint8Array, chunk: Buffer): Buffer => blake3Keyed(key, chunk).subarray(0, 24);

// --- section 5 ---

export function sealPart(
  { key }: ObjectKey,
  prefix: Buffer,
  repo: Uint8Array,
  q: number,
  plaintext: Buffer,
  part: Buffer = Buffer.alloc(9),
): Buffer {
  const associated = join(prefix, repo, u64(q), part);
  if (key === undefined) return join(plaintext, blake3(associated, plaintext).subarray(0, 16));
  return gcmSeal(key, join(u32(0), u64(q)), associated, plaintext);
}

function headerFields(header: Buffer): Field[] {
  return [
    ['magic, format, type, cipher, wrap', header.subarray(0, 8)],
    ['key generation', header.subarray(8, 12)],
    ['salt', header.subarray(12, 44)],
    ['ObjCommit', header.subarray(44, 76)],
    ['reserved', header.subarray(76)],
  ];
}

/** An object of one part. */
export function sealedObject(
  type: number,
  salt: Buffer,
  context: readonly Field[],
  plaintext: Buffer,
  keys: Keys,
): Field[] {
  const key = objectKey({ type, cipher: 1, generation: 1, salt }, keys);
  const prefix = join(key.header, bytesOfFields(context));
  const sealed = sealPart(key, prefix, keys.repo, 0, plaintext);
  return [...headerFields(key.header), ...context, ['part 0: ciphertext, tag', sealed]];
}

export function chainContext(writer: Buffer, seq: number, prev: Buffer): Field[] {
  return [
    ['writer', writer],
    ['seq', u64(seq)],
    ['prev', prev],
  ];
}

/** Rounds up to a Padmé length. */
export function padded(length: number): number {
  const exponent = 31 - Math.clz32(length);
  const significant = 32 - Math.clz32(exponent);
  const step = 2 ** Math.max(0, exponent - significant);
  return Math.ceil(length / step) * step;
}

export interface PackSegment {
  readonly chunks: readonly Buffer[];
  /** The frame to store; the chunks themselves when there is none. */
  readonly compressed?: Buffer;
}

/** A pack and its entry in an index object. */
export interface WrittenPack {
  readonly name: Buffer;
  readonly fields: readonly Field[];
  readonly directory: readonly Field[];
  readonly indexEntry: readonly Field[];
}

export function pack(
  kind: 1 | 2,
  cipher: 0 | 1,
  salt: Buffer,
  segments: readonly PackSegment[],
  idKey: Uint8Array,
  keys: Keys,
): WrittenPack {
  const key = objectKey({ type: kind, cipher, generation: 1, salt }, keys);
  const parts: Field[] = [];
  const entries: Field[] = [];
  const all = segments.flatMap(({ chunks }) => chunks);
  for (const [i, { chunks, compressed }] of segments.entries()) {
    const raw = Buffer.concat(chunks);
    const compression = compressed === undefined ? 0 : 1;
    const part = join(u32(i), u32(raw.length), compression);
    const sealed = sealPart(key, key.header, keys.repo, i, compressed ?? raw, part);
    parts.push([`segment ${i}`, sealed]);
    entries.push([
      `segment ${i}`,
      join(u32(sealed.length), u32(raw.length), compression, u24(chunks.length)),
    ]);
  }
  const counts = join(u16(segments.length), u32(all.length));
  const lengths: Field = ['chunk lengths', join(...all.map((chunk) => u24(chunk.length)))];
  const ids = all.map((chunk) => chunkId(idKey, chunk));
  const used = 80 + bytesOfFields(parts).length;
  const directoryLength = 12 + entries.length * 12 + all.length * 27 + 16;
  const length = padded(used + 16 + directoryLength + 16);
  const paddingLength = length - used - directoryLength - 16;
  const directory: Field[] = [
    ['version, kind', Buffer.of(1, kind)],
    ['segments, chunks', counts],
    ['length of the pack', u32(length)],
    ...entries,
    lengths,
    ...ids.map((id, i): Field => [`id of chunk ${i}`, id]),
  ];
  const seal = (q: number, plaintext: Buffer): Buffer => sealPart(key, key.header, keys.repo, q, plaintext);
  const fields: Field[] = [
    ...headerFields(key.header),
    ...parts,
    ['padding', seal(0xffff_fffe, Buffer.alloc(paddingLength - 16))],
    ['directory', seal(0xffff_ffff, bytesOfFields(directory))],
    ['tail', join(u32(used + paddingLength), u32(directoryLength), u32(paddingLength), 'HF1T')],
  ];
  const name = sha256(bytesOfFields(fields));
  const indexEntry: Field[] = [
    ['pack name', name],
    ['kind, cipher', Buffer.of(kind, cipher)],
    ['segments, chunks', counts],
    ['pack length', u32(length)],
    ['key generation', u32(1)],
    ['salt', salt],
    ...entries,
    lengths,
    ...ids.map((id, i): Field => [`id of chunk ${i}, cut`, id.subarray(0, 16)]),
  ];
  return { name, fields, directory, indexEntry };
}

export function packKey(name: Buffer): string {
  return `packs/${hex(name.subarray(0, 1))}/${hex(name)}`;
}

/** The raw content of an index object. */
export function indexContent(supersedes: readonly Buffer[], packs: readonly WrittenPack[]): Field[] {
  return [
    ['version, zeros', Buffer.of(1, 0, 0, 0)],
    ['superseded', join(u32(supersedes.length), ...supersedes)],
    ['packs', u32(packs.length)],
    ...packs.flatMap(({ indexEntry }) => indexEntry),
  ];
}

// --- section 6 ---

/** What every entry begins with. Times are seconds and nanoseconds. */
export interface EntryParts {
  readonly type: number;
  readonly flags: number;
  readonly name: Buffer;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly mtime: readonly [bigint | number, number];
  readonly ctime: readonly [bigint | number, number];
  readonly inode: number;
  /** Device and number of links, xattrs, then what the type has. */
  readonly rest: readonly Field[];
}

export function entryFields(entry: EntryParts): Field[] {
  const { type, flags, name, mode, uid, gid, mtime, ctime, inode, rest } = entry;
  return [
    ['type, flags', join(type, varint(flags))],
    ['name', join(varint(name.length), name)],
    ['mode, uid, gid', join(varint(mode), varint(uid), varint(gid))],
    ['mtime', join(svarint(mtime[0]), varint(mtime[1]))],
    ['ctime', join(svarint(ctime[0]), varint(ctime[1]))],
    ['inode', varint(inode)],
    ...rest,
  ];
}

export function leaf(entries: readonly EntryParts[]): Field[] {
  return [
    ['version, form', Buffer.of(1, 0)],
    ['entries', varint(entries.length)],
    ...entries.flatMap((entry) => entryFields(entry)),
  ];
}

export function branch(level: number, children: readonly { first: Buffer; id: Buffer }[]): Buffer {
  const items = children.map(({ first, id }) => join(varint(first.length), first, id));
  return join(1, 1, level, varint(children.length), ...items);
}

export function idList(ids: readonly Buffer[]): Buffer {
  return join(1, 2, varint(ids.length), ...ids);
}
