import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { asByteString, bytesOfText } from '../../../src/base/byte-path.ts';
import { decodeCborMap, encodeCbor, type CborMap } from '../../../src/format/cbor.ts';
import { omissionText, type Omission } from '../../../src/format/omission.ts';
import { decodeSnapshot, encodeSnapshot, type SnapshotRecord } from '../../../src/format/records.ts';
import { uncbor } from '../../support/independent-primitives.ts';

const none = {
  files: 0,
  directories: 0,
  links: 0,
  others: 0,
  bytes: 0,
  new: 0,
  changed: 0,
  unchanged: 0,
  failed: 0,
};
const emptySnapshot: SnapshotRecord = {
  tool: 'holdfast',
  host: 'host',
  user: 'user',
  paths: [],
  startedMs: 0,
  finishedMs: 0,
  root: Buffer.alloc(24),
  plain: false,
  tags: [],
  pinned: false,
  status: 'complete',
  errors: [],
  errorsMore: 0,
  counts: none,
  owners: { users: {}, groups: {} },
  omitted: [],
  kind: 'files',
};

const OMITTED: readonly Omission[] = [
  { code: 'xattr', name: asByteString('user.a: b'), reason: 'EACCES', count: 3 },
  { code: 'xattrs', reason: 'E2BIG', count: 1 },
  { code: 'trusted_xattrs', count: 1 },
  { code: 'entries', count: 2 },
  { code: 'more', count: 4_000 },
  { code: 'words', text: 'the phase of the moon (full)', count: 7 },
];
/** The code is younger than the field of codes: no snapshot has it in words alone. */
const WINDOWS: Omission = { code: 'windows_metadata', count: 1 };

function stored(omitted: readonly Omission[]): CborMap {
  return uncbor(encodeSnapshot({ ...emptySnapshot, omitted })) as CborMap;
}

it('is stored as codes, and in words for readers that know no codes', () => {
  const map = stored([...OMITTED, WINDOWS]);
  expect(map['omitted']).toEqual([
    'extended attribute user.a: b: EACCES (3)',
    'extended attributes: E2BIG (1)',
    'extended attributes trusted.*: CAP_SYS_ADMIN is missing (1)',
    'entries of a kind that cannot be stored (2)',
    'more of other kinds (4000)',
    'the phase of the moon (full) (7)',
    'owners, access lists, alternate streams and attributes of Windows (hidden, system, sparse, compressed, encrypted) (1)',
  ]);
  expect(decodeSnapshot(encodeCbor(map), 'it').omitted).toEqual([...OMITTED, WINDOWS]);
});

it('is understood from the words of snapshots that have no codes', () => {
  const { omitted_codes: _, ...older } = stored(OMITTED);
  expect(decodeSnapshot(encodeCbor(older), 'it').omitted).toEqual(OMITTED);
  const strange = { ...older, omitted: ['extended attribute user.ü: EIO', 'nothing that is known'] };
  expect(decodeSnapshot(encodeCbor(strange), 'it').omitted).toEqual([
    { code: 'xattr', name: asByteString('user.ü'), reason: 'EIO', count: 1 },
    { code: 'words', text: 'nothing that is known', count: 1 },
  ]);
});

it('is what it was when a snapshot of before is sealed anew, whatever its words are', () => {
  const { omitted_codes: _, ...older } = stored(OMITTED);
  const count = fc.oneof(fc.nat(), fc.constantFrom('0', '007', '9007199254740993', '99999999999999999'));
  const what = fc.oneof(
    fc.string(),
    fc.constantFrom('extended attributes: ', 'extended attribute a: ', 'extended attribute : '),
    fc.constant(`extended attribute user.a: ${'E'.repeat(70_000)}`),
  );
  const words = fc.tuple(what, count).map(([text, times]) => `${text} (${times})`);
  fc.assert(
    fc.property(fc.array(words, { maxLength: 3 }), (omitted) => {
      const before = decodeSnapshot(encodeCbor({ ...older, omitted }), 'it');
      expect(decodeSnapshot(encodeSnapshot(before), 'it').omitted).toEqual(before.omitted);
    }),
    { numRuns: 200 },
  );
});

it('goes by the words where a later version has codes of its own', () => {
  const map = { ...stored([]), omitted: ['holes (12)'], omitted_codes: [{ code: 'holes', count: 12 }] };
  expect(decodeSnapshot(encodeCbor(map), 'it').omitted).toEqual([
    { code: 'words', text: 'holes', count: 12 },
  ]);
});

it('is damage with another number of codes than words', () => {
  const map = { ...stored(OMITTED), omitted: ['more of other kinds (1)'] };
  expect(() => decodeSnapshot(encodeCbor(map), 'it')).toThrow('a code for each omission');
});

it('adds nothing to a snapshot that lacks nothing', () => {
  expect(decodeCborMap(encodeSnapshot(emptySnapshot), 'it').has('omitted_codes')).toBe(false);
});

it('names attributes as people see them', () => {
  const name = bytesOfText('user.größe');
  expect(omissionText({ code: 'xattr', name, reason: 'EIO', count: 1 })).toContain('user.größe: EIO');
});
