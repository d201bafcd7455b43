/**
 * The test vectors of docs/vectors/write-only.json, made from docs/repository-format.md alone.
 * As a script it writes the file anew: `node test/support/write-only-vectors.ts docs/vectors/write-only.json`.
 */

import { sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { hex, markOf, openPart, sealedKeys } from './independent-objects.ts';
import {
  ascii,
  cbor,
  expand,
  gcmSeal,
  hkdf,
  hmac,
  join,
  publicOf,
  rawKey,
  u32,
  u64,
  x25519,
} from './independent-primitives.ts';
import { keyringBytes, recoveryCode, sealPart } from './independent-writer.ts';
import { EXAMPLE_KEYS, exampleBytes } from './worked-example.ts';

const NUMBER = 3;
const root = exampleBytes('generation 1');
const repo = Buffer.from(EXAMPLE_KEYS.repo);
const admin = exampleBytes('admin');
const typeKey = (type: string): Buffer => expand(root, ascii(`hf1/key/${type}`), 32);

/** A head of the first record of a writer, sealed with a key that was made for it alone. */
function sealedHead() {
  const ownPrivate = exampleBytes('own of a head');
  const own = publicOf('X25519', ownPrivate);
  const okm = sealedKeys(root, NUMBER, own, join('hf1/sealed/head', repo));
  const start = join('HF1\0', 1, 7, 1, 1, u32(1), own);
  const header = join(start, okm.subarray(32), u32(NUMBER));
  const writer = join(markOf(repo, NUMBER).writer, exampleBytes('rest of a writer', 8));
  const prefix = join(header, writer, u64(1), Buffer.alloc(32));
  const plaintext = cbor({ v: 1, record: exampleBytes('record'), live: 0 });
  const key = { header, key: okm.subarray(0, 32) };
  const object = join(prefix, sealPart(key, prefix, repo, 0, plaintext));
  if (!openPart(key, prefix, repo, 0, object.subarray(prefix.length)).equals(plaintext))
    throw new Error('unsound');
  return {
    own_private: hex(ownPrivate),
    own: hex(own),
    key: hex(okm.subarray(0, 32)),
    commitment: hex(okm.subarray(32)),
    writer: hex(writer),
    plaintext: hex(plaintext),
    object: hex(object),
  };
}

/** Ring 2 with nothing in it but what a write-only key gets. */
function grant() {
  const { salt } = markOf(repo, NUMBER);
  const salted = (key: Uint8Array): Buffer => expand(key, join('hf1/id/salt', salt), 32);
  const map = {
    repo,
    number: NUMBER,
    id_data: salted(exampleBytes('id data')),
    id_tree: salted(exampleBytes('id tree')),
    cdc: salted(exampleBytes('cdc')),
    admin_public: publicOf('Ed25519', admin),
    gens: [{ g: 1, config: typeKey('config'), tomb: typeKey('tomb'), lease: typeKey('lease') }],
    current: {
      g: 1,
      public: publicOf('X25519', typeKey('seal')),
      sealer: expand(root, join('hf1/key/sealer', u32(NUMBER)), 32),
    },
    min_format: 2,
  };
  const [slot, slotPrivate] = [exampleBytes('slot', 16), exampleBytes('slot private')];
  const [ephemeral, nonce] = [exampleBytes('ephemeral'), exampleBytes('ring nonce', 12)];
  const epk = publicOf('X25519', ephemeral);
  const shared = x25519(ephemeral, publicOf('X25519', slotPrivate));
  const wrap = hkdf(shared, slot, join('hf1/grant/v1', u64(2), epk), 32);
  const ct = gcmSeal(wrap, nonce, join('hf1/grant', repo, u64(2), slot), keyringBytes(map));
  const grants = { keys: [{ slot, epk, nonce, ct }] };
  const message = join('hf1/grants', repo, u64(2), cbor(grants));
  const signature = sign(null, message, rawKey('Ed25519', 'private', admin));
  const ring = { v: 1, repo, n: 2, slots: [], write_only: { ...grants, signature } };
  const auth = hmac(exampleBytes('ring authentication'), cbor(ring));
  return {
    n: 2,
    slot: hex(slot),
    slot_private: hex(slotPrivate),
    admin_public: hex(publicOf('Ed25519', admin)),
    plaintext: hex(cbor(map)),
    ring: hex(cbor({ ...ring, auth })),
  };
}

export function writeOnlyVectors() {
  const mark = markOf(repo, NUMBER);
  const secret = exampleBytes('secret of kind 4');
  return {
    repo: hex(repo),
    root_key: hex(root),
    number: NUMBER,
    key: { secret: hex(secret), text: `holdfast-write-only:${recoveryCode(secret)}` },
    sealing: { private: hex(typeKey('seal')), public: hex(publicOf('X25519', typeKey('seal'))) },
    sealer: hex(expand(root, join('hf1/key/sealer', u32(NUMBER)), 32)),
    salt: hex(mark.salt),
    writer: hex(mark.writer),
    head: sealedHead(),
    grant: grant(),
  };
}

export type WriteOnlyVectors = ReturnType<typeof writeOnlyVectors>;

if (import.meta.main) {
  const [file] = process.argv.slice(2);
  if (file === undefined) throw new Error('usage: write-only-vectors.ts FILE');
  writeFileSync(file, `${JSON.stringify(writeOnlyVectors(), undefined, 1)}\n`);
}
