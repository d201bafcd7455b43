import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { asByteString, type ByteString } from '../../src/base/byte-path.ts';
import { decodeLease, encodeLease } from '../../src/format/lease-record.ts';
import type { Omission } from '../../src/format/omission.ts';
import {
  decodeChainContext,
  decodeHead,
  decodeSnapshot,
  decodeTombstone,
  encodeChainContext,
  encodeHead,
  encodeSigned,
  encodeSnapshot,
  tombstoneMap,
  type SnapshotRecord,
} from '../../src/format/records.ts';
import { openObject, sealObject } from '../../src/repository/objects/objects.ts';
import { testKeys } from '../support/test-keys.ts';

const keys = testKeys();

/** What JavaScript text becomes when it is stored: UTF-8 has no lone surrogates. */
const text = fc.string({ unit: 'binary', maxLength: 12 }).map((any) => any.toWellFormed());
const bytes = (length: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((array) => Buffer.from(array));
const hex = (length: number): fc.Arbitrary<string> => bytes(length).map((buffer) => buffer.toString('hex'));
const path: fc.Arbitrary<ByteString> = fc
  .uint8Array({ maxLength: 20 })
  .map((array) => asByteString(Buffer.from(array).toString('latin1')));
const count = fc.maxSafeNat();
const omission: fc.Arbitrary<Omission> = fc.oneof(
  fc.record({ code: fc.constant('xattr'), name: path, reason: text, count }),
  fc.record({ code: fc.constant('xattrs'), reason: text, count }),
  fc.record({ code: fc.constantFrom('trusted_xattrs', 'windows_metadata', 'entries', 'more'), count }),
  fc.record({ code: fc.constant('words'), text: text, count }),
);
const ms = fc.integer({ min: -8.64e15, max: 8.64e15 });
const names = fc.dictionary(fc.nat(0xffff_ffff).map(String), text, { maxKeys: 4, noNullPrototype: true });
const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });

const snapshot: fc.Arbitrary<SnapshotRecord> = fc.record({
  tool: text,
  host: text,
  user: text,
  paths: fc.array(path, { maxLength: 3 }),
  startedMs: ms,
  finishedMs: ms,
  root: bytes(24),
  plain: fc.boolean(),
  salt: optional(bytes(16)),
  tags: fc.array(text, { maxLength: 3 }),
  pinned: fc.boolean(),
  status: fc.constantFrom('complete', 'partial'),
  errors: fc.array(fc.record({ path, code: text, message: text }), { maxLength: 3 }),
  errorsMore: count,
  counts: fc.record({
    files: count,
    directories: count,
    links: count,
    others: count,
    bytes: count,
    new: count,
    changed: count,
    unchanged: count,
    failed: count,
  }),
  owners: fc.record({ users: names, groups: names }),
  omitted: fc.array(omission, { maxLength: 3 }),
  parent: optional(hex(32)),
  original: optional(hex(32)),
  kind: fc.constantFrom('files', 'stream'),
});

it('gives back any snapshot as it was, sealed and opened', () => {
  const chain = fc.record({
    writer: hex(16),
    seq: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    prev: hex(32),
  });
  fc.assert(
    fc.property(snapshot, chain, (record, position) => {
      const sealed = sealObject(keys, 5, encodeChainContext(position), encodeSnapshot(record));
      const { context, plaintext } = openObject(keys, 5, sealed.bytes, 'snapshot', sealed.name);
      expect(decodeSnapshot(plaintext, 'snapshot')).toEqual(record);
      expect(decodeChainContext(context)).toEqual(position);
    }),
    { numRuns: 200 },
  );
});

it('gives back heads, leases and tombstones as they were', () => {
  const head = fc.record({ record: hex(32), live: count });
  const lease = fc.record({ writer: hex(16), nonce: hex(8), startedMs: count, host: text, pid: count });
  const place = fc.record({ writer: hex(16), seq: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }) });
  const named = fc.array(fc.tuple(hex(32), fc.option(place, { nil: undefined })), { maxLength: 5 });
  const tombstone = fc
    .record({
      kind: fc.constantFrom('snapshots' as const, 'packs' as const),
      named,
      hasPlaces: fc.boolean(),
      reason: text,
      atMs: count,
      fence: count,
    })
    .map(({ named, hasPlaces, ...rest }) => ({
      ...rest,
      names: named.map(([name]) => name),
      ...(hasPlaces ? { places: named.map(([, place]) => place) } : {}),
    }));
  fc.assert(
    fc.property(head, lease, tombstone, bytes(64), (one, other, third, signature) => {
      expect(decodeHead(encodeHead(one), 'h')).toEqual(one);
      expect(decodeLease(encodeLease(other), 'l')).toEqual(other);
      const read = decodeTombstone(
        encodeSigned(tombstoneMap(third), () => signature),
        't',
      );
      expect(read.record).toEqual(third);
      expect(read.signature).toEqual(signature);
    }),
    { numRuns: 150 },
  );
});
