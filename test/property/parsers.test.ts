/** Whatever bytes stand in a repository, reading them gives a value or a RepositoryError, soon and in little memory. */
// Turn 4 of 8.

import { zstdCompressSync } from 'node:zlib';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RepositoryError } from '../../src/base/errors.ts';
import { generateKeys } from '../../src/codec/curves.ts';
import { SegmentDecompressor } from '../../src/codec/compress.ts';
import { parseRecoveryCode } from '../../src/codec/recovery-code.ts';
import { decodeCborMap, encodeCbor, type CborMap, type CborValue } from '../../src/format/cbor.ts';
import { decodeHeader } from '../../src/format/header.ts';
import { decodeIndexObject } from '../../src/format/index-object.ts';
import { decodeKeyring } from '../../src/format/keyring.ts';
import { decodePackDirectory, decodeTail } from '../../src/format/pack.ts';
import { decodeLease } from '../../src/format/lease-record.ts';
import { decodeConfig, decodeHead, decodeSnapshot, decodeTombstone } from '../../src/format/records.ts';
import { decodeTreeChunk } from '../../src/format/tree-decode.ts';
import { openRing, type OpenSlot } from '../../src/repository/slots/key-slots.ts';
import { compressRecord, decompressRecord, openObject } from '../../src/repository/objects/objects.ts';
import { readTreeChunk } from '../support/independent-tree.ts';
import { uncbor } from '../support/independent-primitives.ts';
import type { FormatVectors } from '../support/format-vectors.ts';
import { exampleBytesOf, workedExample, type ExampleObject } from '../support/worked-example.ts';
import { testKeys, secretBytes } from '../support/test-keys.ts';
import { decodeSlot } from '../../src/repository/slots/slot-file.ts';

interface Parser {
  readonly name: string;
  readonly parse: (bytes: Buffer) => unknown;
  readonly valid: readonly Buffer[];
}

const example = workedExample();
const found = (key: string): ExampleObject => {
  const object = example.find((one) => one.key.startsWith(key));
  if (object === undefined) throw new Error(`the example has no ${key}`);
  return object;
};
/** The plaintext of the n-th opened part of an example object. */
const opened = (key: string, n = 0): Buffer =>
  Buffer.concat((found(key).opened[n]?.fields ?? []).map(([, bytes]) => bytes));
const stored = (key: string): Buffer => exampleBytesOf(found(key));

const vectors: FormatVectors = JSON.parse(
  readFileSync(new URL('../../docs/vectors/format-1.json', import.meta.url), 'utf8'),
);
const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const tombstone = encodeCbor({
  v: 1,
  kind: 'packs',
  names: [secretBytes('pack')],
  reason: 'unused',
  at: 1,
  fence: 2,
  signature: Buffer.alloc(64),
});
const lease = encodeCbor({
  v: 1,
  writer: Buffer.alloc(16),
  nonce: Buffer.alloc(8),
  started: 0,
  host: 'h',
  pid: 1,
});
const pack = hex(vectors.packs[0]?.bytes ?? '');

const records: readonly Parser[] = [
  { name: 'snapshot', parse: (bytes) => decodeSnapshot(bytes, 'o'), valid: [opened('snapshots/')] },
  { name: 'tombstone', parse: (bytes) => decodeTombstone(bytes, 'o'), valid: [tombstone] },
  { name: 'config', parse: (bytes) => decodeConfig(bytes, 'o'), valid: [opened('config/')] },
  { name: 'head', parse: (bytes) => decodeHead(bytes, 'o'), valid: [opened('heads/')] },
  { name: 'lease', parse: (bytes) => decodeLease(bytes, 'o'), valid: [lease] },
  {
    name: 'slot',
    parse: (bytes) => decodeSlot(bytes, 'o'),
    valid: vectors.slots.map(({ file }) => hex(file)),
  },
];

const ringSlot: OpenSlot = {
  slot: vectors.ring.slot,
  private: hex(vectors.ring.private),
  ringAuth: hex(vectors.ring.ring_auth),
  writeOnly: false,
};

const parsers: readonly Parser[] = [
  ...records,
  { name: 'CBOR map', parse: (bytes) => decodeCborMap(bytes, 'o').fields(), valid: [opened('snapshots/')] },
  { name: 'ring', parse: (bytes) => openRing(bytes, 1, ringSlot), valid: [stored('keys/ring-1')] },
  {
    name: 'keyring',
    parse: (bytes) => decodeKeyring(bytes, 'o'),
    valid: [Buffer.concat([opened('keys/ring-1'), Buffer.alloc(200)])],
  },
  {
    name: 'header',
    parse: (bytes) => decodeHeader(bytes, 'o'),
    valid: [pack.subarray(0, 80), stored('heads/')],
  },
  { name: 'tail', parse: (bytes) => decodeTail(bytes, pack.length, 'o'), valid: [pack.subarray(-16)] },
  {
    name: 'directory of a pack',
    parse: (bytes) => decodePackDirectory(bytes, 'o'),
    valid: vectors.packs.map(({ directory }) => hex(directory)),
  },
  { name: 'index object', parse: (bytes) => decodeIndexObject(bytes, 'o'), valid: [hex(vectors.index.raw)] },
  {
    name: 'compressed record',
    parse: (bytes) => decompressRecord(bytes, 'o'),
    valid: [compressRecord(Buffer.alloc(5_000, 'abc')), compressRecord(secretBytes('random'))],
  },
  {
    name: 'segment',
    parse: (bytes) => new SegmentDecompressor().decompressInto(Buffer.alloc(5_000), bytes),
    valid: [zstdCompressSync(Buffer.alloc(5_000, 'abc'))],
  },
  {
    name: 'tree chunk',
    parse: (bytes) => decodeTreeChunk(bytes, 'o'),
    valid: [vectors.trees.leaf.bytes, vectors.trees.branch.bytes, vectors.trees.list.bytes].map((one) =>
      hex(one),
    ),
  },
  {
    name: 'sealed object',
    parse: (bytes) => openObject(testKeys(), 5, bytes, 'o'),
    valid: [stored('snapshots/')],
  },
];

/** True when the bytes are a value to the parser. Anything but a RepositoryError is thrown on. */
function isValue({ parse }: Parser, bytes: Buffer): boolean {
  try {
    parse(bytes);
    return true;
  } catch (error) {
    if (!(error instanceof RepositoryError)) throw error;
    expect(['CORRUPT_DATA', 'NEWER_FORMAT', 'WRONG_PASSPHRASE']).toContain(error.code);
    return false;
  }
}

type Change = readonly [kind: string, at: number, value: number];

const changes: fc.Arbitrary<Change[]> = fc.array(
  fc.tuple(fc.constantFrom('flip', 'set', 'cut', 'insert', 'repeat', 'number'), fc.nat(), fc.nat(255)),
  { minLength: 1, maxLength: 4 },
);

function changed(bytes: Buffer, list: readonly Change[]): Buffer {
  let result = Buffer.from(bytes);
  for (const [kind, anywhere, value] of list) {
    const at = result.length === 0 ? 0 : anywhere % result.length;
    if (kind === 'flip' && result.length > 0) result[at] = (result[at] ?? 0) ^ (1 << (value & 7));
    else if (kind === 'set' && result.length > 0) result[at] = value;
    else if (kind === 'cut') result = result.subarray(0, at);
    else if (kind === 'insert')
      result = Buffer.concat([result.subarray(0, at), Buffer.of(value), result.subarray(at)]);
    else if (kind === 'repeat')
      result = Buffer.concat([result.subarray(0, at), result.subarray(Math.max(0, at - value))]);
    else if (result.length >= 8)
      result.writeUInt32BE(0xffff_ffff >>> (value & 31), Math.min(at, result.length - 4));
  }
  return result;
}

describe.each(parsers)('reading a $name', (parser) => {
  it('takes valid bytes', () => {
    if (parser.name === 'sealed object') return;
    for (const bytes of parser.valid) expect(isValue(parser, bytes)).toBe(true);
  });

  it('gives a value or a RepositoryError for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        isValue(parser, Buffer.from(bytes));
      }),
      { numRuns: 300 },
    );
  });

  it('gives a value or a RepositoryError for valid bytes that were changed', () => {
    fc.assert(
      fc.property(fc.constantFrom(...parser.valid), changes, (bytes, list) => {
        isValue(parser, changed(bytes, list));
      }),
      { numRuns: 500 },
    );
  });

  it('takes little memory and time however much is announced', () => {
    const before = process.memoryUsage();
    const started = performance.now();
    for (const bytes of parser.valid) {
      for (let at = 0; at < Math.min(bytes.length, 400); at += 1) {
        for (const announced of ['ffffffff', 'ffffffffffffff0f', '9bffffffffffffffff', '00ffffff']) {
          const bomb = Buffer.concat([
            bytes.subarray(0, at),
            hex(announced),
            bytes.subarray(at + announced.length / 2),
          ]);
          isValue(parser, bomb);
        }
      }
    }
    const after = process.memoryUsage();
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(128 * 1024 * 1024);
    expect(performance.now() - started).toBeLessThan(20_000);
  });
});

const cborValue: fc.Arbitrary<CborValue> = fc.letrec<{ value: CborValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<CborValue>(null, true, false, '', 0, 1, -1, 2 ** 53 - 1, 2n ** 64n - 1n, 1.5, Number.NaN),
    fc.integer(),
    fc.string({ maxLength: 40 }),
    fc.constantFrom(16, 24, 32, 80).map((length) => Buffer.alloc(length, 5)),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.string({ maxLength: 10 }), tie('value'), { maxKeys: 4 }),
  ),
})).value;

describe.each(records)('reading a $name with fields of any kind', (parser) => {
  it('gives a value or a RepositoryError', () => {
    const [bytes] = parser.valid;
    if (bytes === undefined) throw new Error('there is no valid one');
    const map = uncbor(bytes) as CborMap;
    const fields = Object.keys(map);
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...fields), cborValue, { maxKeys: 2 }), (others) => {
        isValue(parser, encodeCbor({ ...map, ...others }));
      }),
      { numRuns: 300 },
    );
    expect(isValue(parser, encodeCbor({ ...map, unknown: [1, 'of', { any: null }] }))).toBe(true);
  });
});

describe('reading a ring that whoever knows the authentication key has made', () => {
  const map = uncbor(stored('keys/ring-1')) as CborMap;
  const authentic = (fields: CborMap): Buffer => {
    const { auth: _, ...rest } = fields;
    const auth = createHmac('sha256', ringSlot.ringAuth).update(encodeCbor(rest)).digest();
    return encodeCbor({ ...rest, auth });
  };
  const parser: Parser = { name: 'ring', parse: (bytes) => openRing(bytes, 1, ringSlot), valid: [] };

  it('gives a keyring or a RepositoryError whatever its fields are', () => {
    const slotFields = fc.record({
      slot: fc.constantFrom<CborValue>(hex(ringSlot.slot), Buffer.alloc(16), 1),
      epk: fc.constantFrom<CborValue>(
        Buffer.alloc(32),
        Buffer.alloc(32, 0xff),
        generateKeys('x25519').public,
        'epk',
      ),
      nonce: fc.constantFrom<CborValue>(Buffer.alloc(12), Buffer.alloc(11)),
      ct: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    });
    fc.assert(
      fc.property(
        fc.array(slotFields, { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('repo', 'n', 'v', 'slots'), cborValue, { maxKeys: 1 }),
        (slots, others) => {
          isValue(parser, authentic({ ...map, slots, ...others }));
        },
      ),
      { numRuns: 300 },
    );
    expect(isValue(parser, authentic(map))).toBe(true);
    expect(isValue(parser, authentic({ ...map, unknown: 1 }))).toBe(true);
    expect(isValue(parser, authentic({ ...map, n: 2 }))).toBe(false);
  });
});

describe('reading a tree chunk', () => {
  it('takes nothing that a reader who knows the page alone does not take', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...(parsers.find(({ name }) => name === 'tree chunk')?.valid ?? [])),
        changes,
        (bytes, list) => {
          const other = changed(bytes, list);
          let chunk: unknown;
          try {
            chunk = decodeTreeChunk(other, 'o');
          } catch {
            return;
          }
          expect(chunk).toMatchObject({ form: ['leaf', 'branch', 'list'][readTreeChunk(other).form] });
        },
      ),
      { numRuns: 800 },
    );
  });
});

describe('reading a recovery code', () => {
  it('gives a secret or WRONG_PASSPHRASE for any text', () => {
    const parser: Parser = {
      name: '',
      parse: (bytes) => parseRecoveryCode(bytes.toString('utf8')),
      valid: [],
    };
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (text) => {
        isValue(parser, Buffer.from(text));
      }),
      { numRuns: 300 },
    );
  });
});
