/** Section 4 of docs/repository-format.md: from a secret to the keyring. Nothing here comes from src/. */

import { argon2Sync, timingSafeEqual } from 'node:crypto';
import {
  bytes,
  fieldsOf,
  hex,
  integer,
  list,
  names,
  need,
  read,
  type Fields,
  type Keys,
} from './independent-objects.ts';
import {
  ascii,
  gcmOpen,
  hkdf,
  hmac,
  join,
  sha256,
  u64,
  uncbor,
  without,
  x25519,
} from './independent-primitives.ts';

export type StrangerSecret =
  | { readonly passphrase: string }
  | { readonly recoveryCode: string }
  | { readonly machine: Uint8Array };

/** @param weakCost accept passphrase costs below the floor: a repository made for tests */
export function openKeyring(directory: string, secret: StrangerSecret, weakCost: boolean): Keys {
  const kind = 'passphrase' in secret ? 1 : 'recoveryCode' in secret ? 2 : 3;
  const slots = names(directory, 'keys', /^[0-9a-f]{32}$/)
    .map((name) => ({ name, map: uncbor(read(directory, `keys/${name}`)) }))
    .filter(({ name, map }) => hex(bytes(map, 'slot', 16)) === name && integer(map, 'v') === 1)
    .filter(({ map }) => integer(map, 'kind') === kind)
    .sort((a, b) => integer(a.map, 'created') - integer(b.map, 'created'))
    .slice(0, kind === 1 ? 4 : 64);
  for (const { map } of slots) {
    const slot = openSlot(map, secret, weakCost);
    if (slot === undefined) continue;
    const keyring = openNewestRing(directory, slot);
    if (keyring !== undefined) return keyring;
  }
  throw new Error('independent reader: the secret opens no slot');
}

interface Slot {
  readonly id: Uint8Array;
  readonly private: Buffer;
  readonly ringAuth: Buffer;
}

function openSlot(map: Fields, secret: StrangerSecret, weakCost: boolean): Slot | undefined {
  const id = bytes(map, 'slot', 16);
  const okm = hkdf(secretBytes(map, secret, weakCost), id, ascii('hf1/slot/v1'), 64);
  if (!timingSafeEqual(okm.subarray(32), bytes(map, 'commit', 32))) return undefined;
  const aad = join('hf1/slot', without(map, 'ct'));
  const plaintext = gcmOpen(okm.subarray(0, 32), bytes(map, 'nonce', 12), aad, bytes(map, 'ct', 80));
  return { id, private: plaintext.subarray(0, 32), ringAuth: plaintext.subarray(32) };
}

function secretBytes(map: Fields, secret: StrangerSecret, weakCost: boolean): Uint8Array {
  if ('machine' in secret) return secret.machine;
  if ('recoveryCode' in secret) return recoverySecret(secret.recoveryCode);
  const kdf = fieldsOf(map['kdf']);
  const [m, t, p] = [integer(kdf, 'm'), integer(kdf, 't'), integer(kdf, 'p')];
  need((weakCost || m >= 65_536) && m <= 1_048_576 && t >= 1 && t <= 8 && p >= 1 && p <= 8, 'cost');
  return argon2Sync('argon2id', {
    message: Buffer.from(secret.passphrase.normalize('NFC'), 'utf8'),
    nonce: bytes(kdf, 'salt', 32),
    memory: m,
    passes: t,
    parallelism: p,
    tagLength: 32,
  });
}

function recoverySecret(code: string): Buffer {
  const text = code.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('0', 'O').replaceAll('1', 'I');
  let bits = '';
  for (const letter of text.replaceAll('8', 'B'))
    bits += 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0');
  need(/^[01]{280}$/.test(bits), 'recovery code');
  const all = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  need(sha256(all.subarray(0, 32)).subarray(0, 3).equals(all.subarray(32)), 'recovery code');
  return all.subarray(0, 32);
}

/** Undefined when the slot was removed. */
function openNewestRing(directory: string, slot: Slot): Keys | undefined {
  const numbers = names(directory, 'keys', /^ring-[1-9]\d{0,8}$/).map((name) => Number(name.slice(5)));
  for (const n of numbers.sort((a, b) => b - a)) {
    let ring: Fields;
    try {
      ring = uncbor(read(directory, `keys/ring-${n}`));
    } catch {
      continue;
    }
    const auth = hmac(slot.ringAuth, without(ring, 'auth'));
    if (ring['n'] !== n || !auth.equals(bytes(ring, 'auth', 32))) continue;
    need(integer(ring, 'v') === 1, 'ring version');
    const repo = bytes(ring, 'repo', 16);
    const own = list(ring, 'slots')
      .map(fieldsOf)
      .find((one) => hex(bytes(one, 'slot', 16)) === hex(slot.id));
    if (own === undefined) return undefined;
    const epk = bytes(own, 'epk', 32);
    const info = join('hf1/ring/v1', u64(n), epk);
    const wrap = hkdf(x25519(slot.private, epk), slot.id, info, 32);
    const aad = join('hf1/ring', repo, u64(n), slot.id);
    const padded = gcmOpen(wrap, bytes(own, 'nonce', 12), aad, bytes(own, 'ct'));
    need(padded.length % 1_024 === 0, 'keyring padding');
    return keysOf(uncbor(padded.subarray(4, 4 + padded.readUInt32BE(0))), repo);
  }
  throw new Error('independent reader: no ring holds');
}

function keysOf(map: Fields, repo: Uint8Array): Keys {
  need(hex(bytes(map, 'repo', 16)) === hex(repo), 'keyring of another repository');
  need(integer(map, 'min_format') <= 2, 'newer format');
  return {
    repo,
    idData: bytes(map, 'id_data', 32),
    idTree: bytes(map, 'id_tree', 32),
    idPlain: bytes(map, 'id_plain', 32),
    adminPublic: bytes(map, 'admin_public', 32),
    generations: new Map(
      list(map, 'gens')
        .map(fieldsOf)
        .map((one) => [integer(one, 'g'), bytes(one, 'key', 32)]),
    ),
  };
}
