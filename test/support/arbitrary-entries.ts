/** Entries of directories as fast-check makes them: every kind, odd names, far times, large numbers. */

import * as fc from 'fast-check';
import { asByteString, type ByteString } from '../../src/base/byte-path.ts';
import type { Entry, EntryMetadata, Hole } from '../../src/format/tree.ts';

const SAFE = Number.MAX_SAFE_INTEGER;

/** Numbers of every size that a varint can have. */
const number = fc.oneof(fc.nat(200), fc.maxSafeNat());

/** One character a byte, without those that no name may have. */
export const nameBytes: fc.Arbitrary<ByteString> = fc
  .oneof(
    fc.string({ minLength: 1, maxLength: 12 }),
    fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    fc.constantFrom('a'.repeat(4_096), '\xff', '...', '.a', ' ', '\n', '\xc3\xa9', '-', '~'),
  )
  .map((text) => asByteString(Buffer.from(text, 'latin1').toString('latin1').replaceAll(/[/\0]/g, '_')))
  .filter((name) => name !== '.' && name !== '..');

const nanoseconds = fc
  .tuple(
    fc.oneof(
      fc.integer().map(BigInt),
      fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n, 2n ** 48n, -(2n ** 48n), 2n ** 53n, -1n, 0n),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    ),
    fc.nat(999_999_999),
  )
  .map(([seconds, ns]) => seconds * 1_000_000_000n + BigInt(ns));

const xattrs = fc
  .uniqueArray(fc.tuple(nameBytes, fc.uint8Array({ maxLength: 40 })), {
    maxLength: 4,
    selector: ([name]) => name,
  })
  .map((list) =>
    list.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => ({ name, value: Buffer.from(value) })),
  )
  .map((list) => (list.length === 0 ? undefined : list));

const metadata: fc.Arbitrary<EntryMetadata> = fc.record({
  name: nameBytes,
  mode: fc.nat(0o7777),
  uid: fc.nat(0xffff_ffff),
  gid: fc.nat(0xffff_ffff),
  mtimeNs: nanoseconds,
  ctimeNs: nanoseconds,
  inode: number,
  links: fc.option(fc.record({ device: number, count: number }), { nil: undefined }),
  xattrs,
});

const layout = fc
  .array(fc.tuple(fc.oneof(fc.nat(100_000), fc.nat(2 ** 40)), fc.integer({ min: 1, max: 2 ** 40 })), {
    maxLength: 5,
  })
  .map((gaps) => {
    const holes: Hole[] = [];
    let end = 0;
    for (const [gap, length] of gaps) {
      holes.push({ offset: end + gap, length });
      end += gap + length;
    }
    return { holes: holes.length === 0 ? undefined : holes, end };
  });

const idBytes = (count: fc.Arbitrary<number>): fc.Arbitrary<Buffer> =>
  fc
    .tuple(count, fc.uint8Array({ minLength: 24, maxLength: 24 }))
    .map(([n, id]) =>
      Buffer.concat(Array.from({ length: n }, (_, i) => Buffer.from(id.map((byte) => byte ^ i)))),
    );

const file: fc.Arbitrary<Entry> = fc
  .record({
    metadata,
    layout,
    more: fc.oneof(fc.constant(0), fc.nat(1_000_000), fc.constant(SAFE)),
    content: idBytes(fc.nat(5)),
    indirect: fc.boolean(),
    changedWhileRead: fc.boolean(),
  })
  .map(({ metadata: common, layout: { holes, end }, more, content, indirect, changedWhileRead }) => {
    const size = Math.min(SAFE, end + more);
    return { type: 'file' as const, ...common, size, holes, content, indirect, changedWhileRead };
  });

const totals = fc.record({ files: number, bytes: number, entries: number });

export const arbitraryEntry: fc.Arbitrary<Entry> = fc.oneof(
  file,
  fc
    .record({ metadata, id: idBytes(fc.constant(1)), totals })
    .map(({ metadata: common, ...rest }) => ({ type: 'directory' as const, ...common, ...rest })),
  fc
    .record({ metadata, target: nameBytes })
    .map(({ metadata: common, ...rest }) => ({ type: 'symlink' as const, ...common, ...rest })),
  fc
    .record({ metadata, type: fc.constantFrom('fifo', 'socket') })
    .map(({ metadata: common, type }) => ({ type, ...common })),
  fc
    .record({ metadata, type: fc.constantFrom('char-device', 'block-device'), major: number, minor: number })
    .map(({ metadata: common, ...rest }) => ({ ...rest, ...common })),
);

/** In the order of their names, no name twice. */
export const arbitraryEntries: fc.Arbitrary<Entry[]> = fc
  .uniqueArray(arbitraryEntry, { maxLength: 12, selector: ({ name }) => name })
  .map((entries) => entries.sort((a, b) => (a.name < b.name ? -1 : 1)));
