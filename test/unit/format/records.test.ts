import { describe, expect, it } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import { RepositoryError } from '../../../src/base/errors.ts';
import { encodeCbor, type CborMap } from '../../../src/format/cbor.ts';
import { decodeKeyring, encodeKeyring, type Keyring } from '../../../src/format/keyring.ts';
import { decodeLease, encodeLease } from '../../../src/format/lease-record.ts';
import {
  configMap,
  decodeChainContext,
  decodeConfig,
  decodeHead,
  decodeSnapshot,
  decodeTombstone,
  encodeChainContext,
  encodeHead,
  encodeSigned,
  encodeSnapshot,
  tombstoneMap,
  type ConfigRecord,
  type SnapshotRecord,
} from '../../../src/format/records.ts';
import { uncbor } from '../../support/independent-primitives.ts';
import { secretBytes } from '../../support/test-keys.ts';

const snapshot: SnapshotRecord = {
  tool: 'holdfast',
  host: 'höst',
  user: '',
  paths: [asByteString('/home/\xff\xfe')],
  startedMs: -1,
  finishedMs: 8.64e15,
  root: Buffer.alloc(24, 1),
  plain: true,
  salt: Buffer.alloc(16, 2),
  tags: ['a', 'ä'],
  pinned: true,
  status: 'partial',
  errors: [{ path: asByteString('/\xff'), code: 'EACCES', message: 'denied' }],
  errorsMore: 3,
  counts: {
    files: 1,
    directories: 2,
    links: 3,
    others: 4,
    bytes: 2 ** 53 - 1,
    new: 5,
    changed: 6,
    unchanged: 7,
    failed: 8,
  },
  owners: { users: { '0': 'root', __proto__x: 'y' }, groups: {} },
  omitted: [{ code: 'words', text: 'x', count: 2 }],
  parent: 'ab'.repeat(32),
  original: 'cd'.repeat(32),
  kind: 'stream',
};

const config: ConfigRecord = {
  repository: secretBytes('repository', 16),
  minFormat: 1,
  createdMs: 5,
  chunker: { min: 4_096, avg: 8_192, max: 8_388_608 },
  packTarget: 65_536,
  segmentTarget: 65_536,
  graceSeconds: 0,
};

const sign = (unsigned: Buffer): Buffer => Buffer.concat([unsigned, Buffer.alloc(64)]).subarray(0, 64);

function codeOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof RepositoryError) return error.code;
    throw error;
  }
  return 'read';
}

describe('records', () => {
  it('are read as they were written', () => {
    expect(decodeSnapshot(encodeSnapshot(snapshot), 's')).toEqual(snapshot);
    const { salt: _1, parent: _2, original: _3, ...bare } = snapshot;
    expect(decodeSnapshot(encodeSnapshot(bare), 's')).toEqual({
      ...bare,
      salt: undefined,
      parent: undefined,
      original: undefined,
    });
    const head = { record: 'ef'.repeat(32), live: 7 };
    expect(decodeHead(encodeHead(head), 'h')).toEqual(head);
    const lease = { writer: '0a'.repeat(16), nonce: '0b'.repeat(8), startedMs: 9, host: 'h', pid: 4 };
    expect(decodeLease(encodeLease(lease), 'l')).toEqual(lease);
    const position = { writer: '0c'.repeat(16), seq: 2 ** 40, prev: '0d'.repeat(32) };
    expect(decodeChainContext(encodeChainContext(position))).toEqual(position);
    const tombstone = { kind: 'packs', names: ['0e'.repeat(32)], reason: 'r', atMs: 1, fence: 2 } as const;
    expect(decodeTombstone(encodeSigned(tombstoneMap(tombstone), sign), 't').record).toEqual(tombstone);
    const replaced = { ...tombstone, replacedBy: '1a'.repeat(32) };
    expect(decodeTombstone(encodeSigned(tombstoneMap(replaced), sign), 't').record).toEqual(replaced);
    const inWords = { ...tombstone, reason: `replaced by ${'1b'.repeat(32)}` };
    expect(decodeTombstone(encodeSigned(tombstoneMap(inWords), sign), 't').record).toEqual({
      ...inWords,
      replacedBy: '1b'.repeat(32),
    });
    const placed = { ...tombstone, places: [{ writer: '0f'.repeat(16), seq: 7 }] };
    expect(decodeTombstone(encodeSigned(tombstoneMap(placed), sign), 't').record).toEqual(placed);
    for (const places of [[], [...placed.places, undefined], [{ writer: '0f'.repeat(16), seq: 2 ** 60 }]])
      expect(() => decodeTombstone(encodeSigned(tombstoneMap({ ...tombstone, places }), sign), 't')).toThrow(
        'place',
      );
    expect(decodeConfig(encodeSigned(configMap(config), sign), 'c').record).toEqual(config);
  });

  it('carry signatures over every field of them, known to the reader or not', () => {
    const map = { ...configMap(config), added_later: [1, { x: null }] };
    const { signed, signature } = decodeConfig(encodeSigned(map, sign), 'c');

    expect(signed).toEqual(encodeCbor(map));
    expect(signature).toEqual(sign(encodeCbor(map)));
  });

  it('of a later version ask for a newer program, and say so before anything else', () => {
    const later = (map: CborMap): Buffer => encodeCbor({ ...map, v: 2 });

    expect(codeOf(() => decodeSnapshot(later({}), 's'))).toBe('NEWER_FORMAT');
    expect(codeOf(() => decodeHead(later({}), 'h'))).toBe('NEWER_FORMAT');
    expect(codeOf(() => decodeLease(later({}), 'l'))).toBe('NEWER_FORMAT');
    expect(codeOf(() => decodeTombstone(later({}), 't'))).toBe('NEWER_FORMAT');
    expect(codeOf(() => decodeConfig(later({}), 'c'))).toBe('NEWER_FORMAT');
    for (const v of [0, -1, null, '1'])
      expect(codeOf(() => decodeHead(encodeCbor({ v }), 'h'))).toBe('CORRUPT_DATA');
  });

  it('are damage without any of their fields', () => {
    const map = uncbor(encodeSnapshot(snapshot)) as CborMap;
    const optional = new Set(['salt', 'parent', 'original', 'omitted_codes']);
    for (const field of Object.keys(map)) {
      const rest = Object.fromEntries(Object.entries(map).filter(([name]) => name !== field));
      expect(
        codeOf(() => decodeSnapshot(encodeCbor(rest), 's')),
        field,
      ).toBe(optional.has(field) ? 'read' : 'CORRUPT_DATA');
    }
    expect(Object.keys(map)).toHaveLength(22);
  });

  it('are damage with values that mean nothing', () => {
    const map = uncbor(encodeSnapshot(snapshot)) as CborMap;
    for (const wrong of [
      { status: 'done' },
      { kind: 'x' },
      { root: Buffer.alloc(23) },
      { errors: [1] },
      { salt: Buffer.alloc(15) },
    ])
      expect(codeOf(() => decodeSnapshot(encodeCbor({ ...map, ...wrong }), 's'))).toBe('CORRUPT_DATA');
    const settings = configMap(config);
    for (const wrong of [
      { chunker: { min: 8_192, avg: 4_096, max: 8_192 } },
      { chunker: { min: 4_095, avg: 8_192, max: 8_192 } },
      { pack_target: 134_217_729 },
      { segment_target: 1 },
      { min_format: 0 },
    ]) {
      expect(codeOf(() => decodeConfig(encodeSigned({ ...settings, ...wrong }, sign), 'c'))).toBe(
        'CORRUPT_DATA',
      );
    }
  });
});

describe('a keyring', () => {
  const ring: Keyring = {
    repository: secretBytes('repository', 16),
    idData: secretBytes('1'),
    idTree: secretBytes('2'),
    idPlain: secretBytes('3'),
    cdc: secretBytes('4'),
    admin: undefined,
    adminPublic: secretBytes('5'),
    generations: [
      { g: 1, key: secretBytes('6'), state: 'old' },
      { g: 2, key: secretBytes('7'), state: 'current' },
    ],
    minFormat: 1,
    slots: [
      {
        slot: 'ab'.repeat(16),
        public: secretBytes('8'),
        kind: 'machine',
        label: 'lábel',
        file: secretBytes('9'),
      },
    ],
  };

  it('is read as it was written, and its size tells little', () => {
    const bytes = encodeKeyring(ring);

    expect(decodeKeyring(bytes, 'ring')).toEqual(ring);
    expect(decodeKeyring(encodeKeyring({ ...ring, admin: secretBytes('10') }), 'ring').admin).toEqual(
      secretBytes('10'),
    );
    expect(bytes.length % 1_024).toBe(0);
    const lengths = Array.from({ length: 600 }, (_, i) => {
      const label = 'x'.repeat(i % 128);
      const known = { slot: 'ab'.repeat(16), public: secretBytes('8'), kind: 'recovery', label } as const;
      const slots = Array.from({ length: 1 + Math.floor(i / 128) }, () => known);
      const encoded = encodeKeyring({ ...ring, slots });
      expect(decodeKeyring(encoded, 'ring').slots).toEqual(slots);
      return encoded.length;
    });
    expect(new Set(lengths.map((length) => length % 1_024))).toEqual(new Set([0]));
  });

  it('is damage when its length points beyond it', () => {
    const bytes = encodeKeyring(ring);
    const long = Buffer.from(bytes);
    long.writeUInt32BE(bytes.length, 0);

    for (const wrong of [Buffer.alloc(0), Buffer.alloc(3), long, bytes.subarray(0, 100), Buffer.alloc(1_024)])
      expect(codeOf(() => decodeKeyring(wrong, 'ring'))).toBe('CORRUPT_DATA');
  });
});
