/**
 * The test vectors of docs/vectors/format-1.json, made by the writer that knows the format from its page alone.
 * As a script it writes the file anew: `node test/support/format-vectors.ts docs/vectors/format-1.json`.
 */

import { writeFileSync } from 'node:fs';
import { hex, objectKey, type Keys } from './independent-objects.ts';
import { ascii, expand, hkdf, join, sha256, u32, u64 } from './independent-primitives.ts';
import { treeVectors } from './format-vectors-tree.ts';
import {
  argon2id,
  bytesOfFields,
  chunkId,
  indexContent,
  pack,
  padded,
  recoveryCode,
  sealPart,
  slotFile,
  svarint,
  varint,
  type PackSegment,
} from './independent-writer.ts';
import { EXAMPLE_KEYS, exampleBytes, exampleBytesOf, workedExample } from './worked-example.ts';

/** SHA-256(seed || u64(0)) || SHA-256(seed || u64(1)) || …, cut off. */
export function pseudoRandom(seed: string, length: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, i) => sha256(join(seed, u64(i))));
  return Buffer.concat(blocks).subarray(0, length);
}

const root = exampleBytes('generation 1');
const KEY_TYPES = { pack: 1, index: 4, snap: 5, config: 6, head: 7, tomb: 8, lease: 9 } as const;

function keyVectors() {
  const argon2 = [
    { passphrase: 'correct horse battery staple', cost: { m: 64, t: 1, p: 1 } },
    // Decomposed: NFC makes five letters of it.
    { passphrase: 'Gro\u0308\u00DFe', cost: { m: 256, t: 2, p: 4 } },
    { passphrase: 'correct horse battery staple', cost: { m: 262_144, t: 3, p: 4 } },
  ].map(({ passphrase, cost }) => {
    const salt = exampleBytes('passphrase salt');
    return { passphrase, salt: hex(salt), ...cost, out: hex(argon2id(passphrase, salt, cost)) };
  });
  const secrets = [Buffer.alloc(32), Buffer.alloc(32, 0xff), exampleBytes('recovery')];
  const slots = ([2, 3] as const).map((kind) => {
    const secret = exampleBytes(`secret of kind ${kind}`);
    const parts = {
      secret,
      private: exampleBytes('slot private'),
      ringAuth: exampleBytes('ring authentication'),
    };
    const id = exampleBytes(`slot of kind ${kind}`, 16);
    const file = slotFile({
      repo: exampleBytes('repository', 16),
      slot: id,
      kind,
      kdf: null,
      label: 'ключ',
      created: 1_700_000_000_000,
      nonce: exampleBytes('slot nonce', 12),
      ...parts,
    });
    return {
      kind,
      secret: hex(secret),
      file: hex(file),
      private: hex(parts.private),
      ring_auth: hex(parts.ringAuth),
    };
  });
  const ring = workedExample().find(({ key }) => key === 'keys/ring-1');
  if (ring === undefined) throw new Error('the example has no ring');
  return {
    argon2id: argon2,
    hkdf: [16, 32, 64].map((length) => ({
      ikm: hex(root),
      salt: hex(exampleBytes('salt')),
      info: 'hf1/slot/v1',
      length,
      out: hex(hkdf(root, exampleBytes('salt'), ascii('hf1/slot/v1'), length)),
    })),
    expand: [32, 100].map((length) => ({
      prk: hex(root),
      info: 'hf1/gear',
      length,
      out: hex(expand(root, ascii('hf1/gear'), length)),
    })),
    recovery_codes: secrets.map((secret) => ({ secret: hex(secret), code: recoveryCode(secret) })),
    slots,
    ring: {
      n: 1,
      slot: hex(exampleBytes('slot', 16)),
      private: hex(exampleBytes('slot private')),
      ring_auth: hex(exampleBytes('ring authentication')),
      file: hex(exampleBytesOf(ring)),
      keyring: hex(bytesOfFields(ring.opened[0]?.fields.slice(1) ?? [])),
    },
    object_keys: Object.entries(KEY_TYPES).map(([name, type]) => {
      const salt = exampleBytes(`salt of type ${type}`);
      const { header, key } = objectKey({ type, cipher: 1, generation: 1, salt }, EXAMPLE_KEYS);
      return {
        name,
        root: hex(root),
        repo: hex(EXAMPLE_KEYS.repo),
        salt: hex(salt),
        key: hex(key ?? u32(0)),
        commitment: hex(header.subarray(44, 76)),
      };
    }),
  };
}

function partVectors() {
  const salt = exampleBytes('salt of a part');
  const plaintext = pseudoRandom('part', 75);
  const cases = [
    { type: 1, cipher: 1, q: 3, context: '', segment: { raw: 200, compression: 1 } },
    { type: 2, cipher: 0, q: 0, context: '', segment: { raw: 75, compression: 0 } },
    { type: 1, cipher: 0, q: 0xffff_fffe, context: '', segment: undefined },
    { type: 1, cipher: 1, q: 0xffff_ffff, context: '', segment: undefined },
    { type: 7, cipher: 1, q: 0, context: hex(pseudoRandom('context', 56)), segment: undefined },
  ];
  return cases.map((one) => {
    const { type, cipher, q, segment } = one;
    const key = objectKey({ type, cipher, generation: 1, salt }, EXAMPLE_KEYS);
    const prefix = join(key.header, Buffer.from(one.context, 'hex'));
    const part =
      segment === undefined ? Buffer.alloc(9) : join(u32(q), u32(segment.raw), segment.compression);
    const sealed = sealPart(key, prefix, EXAMPLE_KEYS.repo, q, plaintext, part);
    const context = { context: one.context, ...(segment === undefined ? {} : { segment }) };
    return {
      type,
      cipher,
      salt: hex(salt),
      q,
      ...context,
      header: hex(key.header),
      plaintext: hex(plaintext),
      sealed: hex(sealed),
    };
  });
}

function numberVectors() {
  const lengths = [1, 2, 3, 8, 9, 100, 208, 1_000, 65_537, 1_000_000, 33_554_432, 33_554_433, 134_217_728];
  const numbers = [0n, 1n, 127n, 128n, 300n, 16_384n, 2n ** 32n - 1n, 2n ** 53n - 1n];
  const seconds = [0n, -1n, 1n, 63n, -64n, 64n, 1_700_000_000n, -(2n ** 48n), 2n ** 63n - 1n, -(2n ** 63n)];
  return {
    padme: lengths.map((length) => [length, padded(length)]),
    varints: numbers.map((value) => [String(value), hex(varint(value))]),
    svarints: seconds.map((value) => [String(value), hex(svarint(value))]),
  };
}

function idVectors() {
  const chunk = pseudoRandom('chunk', 100);
  const salt = exampleBytes('salt of a snapshot', 16);
  const plainTree = expand(EXAMPLE_KEYS.idPlain, ascii('hf1/id/plain-tree'), 32);
  const bases = [
    { of: 'data', plain: false, key: EXAMPLE_KEYS.idData },
    { of: 'tree', plain: false, key: EXAMPLE_KEYS.idTree },
    { of: 'data', plain: true, key: EXAMPLE_KEYS.idPlain },
    { of: 'tree', plain: true, key: plainTree },
  ];
  return {
    id_data: hex(EXAMPLE_KEYS.idData),
    id_tree: hex(EXAMPLE_KEYS.idTree),
    id_plain: hex(EXAMPLE_KEYS.idPlain),
    chunk: hex(chunk),
    ids: bases.flatMap(({ of, plain, key }) => {
      const salted = expand(key, join('hf1/id/salt', salt), 32);
      return [
        { of, plain, key: hex(key), id: hex(chunkId(key, chunk)) },
        { of, plain, salt: hex(salt), key: hex(salted), id: hex(chunkId(salted, chunk)) },
      ];
    }),
  };
}

/** 50 times `to be or not to be, `: 1,000 bytes. */
const FRAME = '28b52ffd60e802d5000070746f206265206f72206e6f74202c0300cc6f5650990baef905';

function packVectors() {
  const repeated = Buffer.from('to be or not to be, '.repeat(50), 'latin1');
  const pieces = [repeated.subarray(0, 400), repeated.subarray(400)];
  const cases: { kind: 1 | 2; cipher: 0 | 1; idKey: Uint8Array; segments: PackSegment[] }[] = [
    {
      kind: 1,
      cipher: 1,
      idKey: EXAMPLE_KEYS.idData,
      segments: [
        { chunks: [ascii('a'), ascii('bc')] },
        { chunks: pieces, compressed: Buffer.from(FRAME, 'hex') },
      ],
    },
    { kind: 1, cipher: 0, idKey: EXAMPLE_KEYS.idPlain, segments: [{ chunks: [ascii('a'), ascii('bc')] }] },
    { kind: 2, cipher: 1, idKey: EXAMPLE_KEYS.idTree, segments: [{ chunks: [Buffer.of(1, 0, 0)] }] },
  ];
  const packs = cases.map(({ kind, cipher, idKey, segments }, i) => {
    const salt = exampleBytes(`salt of pack ${i}`);
    return {
      written: pack(kind, cipher, salt, segments, idKey, EXAMPLE_KEYS),
      kind,
      cipher,
      idKey,
      segments,
      salt,
    };
  });
  const supersedes = [exampleBytes('an old index object')];
  const raw = bytesOfFields(
    indexContent(
      supersedes,
      packs.map(({ written }) => written),
    ),
  );
  return {
    packs: packs.map(({ written, kind, cipher, idKey, segments, salt }) => ({
      kind,
      cipher,
      salt: hex(salt),
      id_key: hex(idKey),
      segments: segments.map(({ chunks, compressed }) => ({
        chunks: chunks.map((chunk) => hex(chunk)),
        ...(compressed === undefined ? {} : { frame: hex(compressed) }),
      })),
      bytes: hex(bytesOfFields(written.fields)),
      name: hex(written.name),
      directory: hex(bytesOfFields(written.directory)),
      index_entry: hex(bytesOfFields(written.indexEntry)),
    })),
    index: { supersedes: supersedes.map((name) => hex(name)), raw: hex(raw) },
    compressed_index: { plaintext: `01${hex(u32(1_000))}${FRAME}`, raw: hex(repeated) },
  };
}

/** Section 8, for one run. */
function cutLengths(data: Buffer, table: Buffer, sizes: { min: number; avg: number; max: number }): number[] {
  const gear = Array.from({ length: 256 }, (_, i) => table.readUInt32BE(i * 4));
  const a = Math.round(Math.log2(sizes.avg));
  const lengths: number[] = [];
  for (let start = 0; start < data.length;) {
    const left = data.length - start;
    let length = Math.min(left, sizes.max);
    if (left > sizes.min) {
      let h = 0;
      for (let at = sizes.min - 32; at < Math.min(left, sizes.max); at += 1) {
        h = ((h << 1) + (gear[data[start + at] ?? 0] ?? 0)) >>> 0;
        const bits = at < sizes.avg ? a + 2 : a - 2;
        if (at < sizes.min || h >>> (32 - bits) !== 0) continue;
        length = at + 1;
        break;
      }
    }
    lengths.push(length);
    start += length;
  }
  return lengths;
}

function chunkerVectors() {
  const cdc = exampleBytes('cdc');
  const table = expand(cdc, ascii('hf1/gear'), 1_024);
  const cases = [
    { seed: 'small chunks', length: 300_000, sizes: { min: 4_096, avg: 8_192, max: 16_384 } },
    { seed: 'other sizes', length: 400_000, sizes: { min: 6_000, avg: 20_000, max: 50_000 } },
    { seed: 'default sizes', length: 4_000_000, sizes: { min: 262_144, avg: 1_048_576, max: 4_194_304 } },
  ];
  return {
    cdc: hex(cdc),
    gear_head: Array.from({ length: 8 }, (_, i) => table.readUInt32BE(i * 4)),
    gear_sha256: hex(sha256(table)),
    cuts: cases.map(({ seed, length, sizes }) => ({
      seed,
      length,
      ...sizes,
      lengths: cutLengths(pseudoRandom(seed, length), table, sizes),
    })),
  };
}

function snapshotVector() {
  const snapshot = workedExample().find(({ key }) => key.startsWith('snapshots/'));
  if (snapshot === undefined) throw new Error('the example has no snapshot');
  return {
    name: snapshot.key.slice('snapshots/'.length),
    object: hex(exampleBytesOf(snapshot)),
    plaintext: hex(bytesOfFields(snapshot.opened[0]?.fields ?? [])),
  };
}

export function formatVectors(keys: Keys = EXAMPLE_KEYS) {
  return {
    format: 1,
    repo: hex(keys.repo),
    root_key: hex(root),
    ...keyVectors(),
    parts: partVectors(),
    ...numberVectors(),
    chunk_ids: idVectors(),
    trees: treeVectors(),
    ...packVectors(),
    snapshot: snapshotVector(),
    chunker: chunkerVectors(),
  };
}

export type FormatVectors = ReturnType<typeof formatVectors>;

if (import.meta.main) {
  const [file] = process.argv.slice(2);
  if (file === undefined) throw new Error('usage: format-vectors.ts FILE');
  writeFileSync(file, `${JSON.stringify(formatVectors(), undefined, 1)}\n`);
}
