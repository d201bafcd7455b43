/** zstd-napi and Node's own zstd stand behind one interface: nobody can tell from the answers which of them runs. */
import { constants, zstdCompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { choose } from '../../src/codec/zstd-choice.ts';
import type { Zstd, ZstdSettings } from '../../src/codec/zstd.ts';
import { isPlainFrame } from '../../src/codec/zstd-frame.ts';
import { zstdFrames } from '../support/zstd-frames.ts';

const node = choose('node').zstd;
/** What is installed: the same as `node` where zstd-napi has no binary; the stored frames are its work all the same. */
const installed = choose(undefined).zstd;
const BOTH: readonly Zstd[] = [node, installed];

const settings: fc.Arbitrary<ZstdSettings> = fc.record(
  {
    level: fc.integer({ min: 1, max: 19 }),
    expected: fc.constantFrom(0, 1, 4_096, 2_097_152),
    hashLog: fc.integer({ min: 10, max: 18 }),
    chainLog: fc.integer({ min: 10, max: 18 }),
  },
  { requiredKeys: ['level', 'expected'] },
);

/** Text, noise, runs, and mixtures; up to a quarter of a mebibyte. */
const content: fc.Arbitrary<Buffer> = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 3_000 }),
      fc
        .tuple(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 4_000 }))
        .map(([part, times]) => Buffer.alloc(Math.min(part.length * times, 60_000), part)),
    ),
    { maxLength: 4 },
  )
  .map((parts) => Buffer.concat(parts));

/** The content, or undefined for whatever the codec refuses. */
function answer(zstd: Zstd, frame: Buffer, length: number): string | undefined {
  const target = Buffer.alloc(length);
  if (!isPlainFrame(frame, length)) return undefined;
  try {
    return zstd.decompressor()(target, frame) === length ? target.toString('latin1') : undefined;
  } catch {
    return undefined;
  }
}

function expectSame(frame: Buffer, length: number): string | undefined {
  const [one, other] = BOTH.map((zstd) => answer(zstd, frame, length));
  expect(other === one).toBe(true);
  return one;
}

describe('both implementations of zstd', () => {
  it('write frames that the other reads', () => {
    fc.assert(
      fc.property(content, settings, (raw, chosen) => {
        for (const writer of BOTH) {
          const frame = Buffer.from(writer.compressor(chosen)(raw));
          for (const reader of BOTH) expect(answer(reader, frame, raw.length)).toBe(raw.toString('latin1'));
        }
      }),
      { numRuns: 150 },
    );
  });

  it('write the same bytes while they are of one version', () => {
    fc.assert(
      fc.property(content, settings, (raw, chosen) => {
        const [one, other] = BOTH.map((zstd) => Buffer.from(zstd.compressor(chosen)(raw)));
        expect(node.version !== installed.version || one?.equals(other ?? raw)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  it('judge damaged frames alike: cut, changed, continued, doubled', () => {
    const damage = fc.oneof(
      fc.record({ kind: fc.constant('cut' as const), at: fc.nat() }),
      fc.record({ kind: fc.constant('change' as const), at: fc.nat(), to: fc.integer({ min: 0, max: 255 }) }),
      fc.record({
        kind: fc.constant('continue' as const),
        by: fc.uint8Array({ minLength: 1, maxLength: 30 }),
      }),
      fc.record({ kind: fc.constant('double' as const) }),
    );
    fc.assert(
      fc.property(content, settings, damage, fc.integer({ min: -2, max: 2 }), (raw, chosen, how, off) => {
        const frame = Buffer.from(node.compressor(chosen)(raw));
        const damaged = Buffer.from(frame);
        const at = 'at' in how ? how.at % frame.length : 0;
        if (how.kind === 'change') damaged[at] = how.to;
        const shown = {
          cut: damaged.subarray(0, at),
          change: damaged,
          continue: Buffer.concat([frame, 'by' in how ? how.by : frame]),
          double: Buffer.concat([frame, frame]),
        }[how.kind];
        expectSame(shown, Math.max(0, raw.length + off));
        if (how.kind !== 'change') expect(answer(node, shown, raw.length)).toBeUndefined();
      }),
      { numRuns: 600 },
    );
  });

  it('take and refuse the same bytes that were never a frame', () => {
    const magic = Buffer.of(0x28, 0xb5, 0x2f, 0xfd);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.nat({ max: 300 }), (bytes, length) => {
        expectSame(Buffer.from(bytes), length);
        expectSame(Buffer.concat([magic, bytes]), length);
      }),
      { numRuns: 2_000 },
    );
  });

  it('refuse frames that need a dictionary, a window beyond 8 MiB, or are not frames of content', () => {
    const raw = Buffer.alloc(20_000, 'of the dictionary and of no dictionary, ');
    const plain = zstdCompressSync(raw);
    expect(expectSame(plain, raw.length)).toBe(raw.toString('latin1'));
    const withId = Buffer.concat([
      plain.subarray(0, 4),
      Buffer.of((plain[4] ?? 0) | 1, 7),
      plain.subarray(5),
    ]);
    const skippable = Buffer.concat([Buffer.from('502a4d1804000000', 'hex'), Buffer.from('skip')]);
    for (const frame of [
      withId,
      skippable,
      Buffer.concat([skippable, plain]),
      Buffer.concat([plain, skippable]),
      zstdCompressSync(raw, { dictionary: Buffer.alloc(1_000, 'of the dictionary and ') }),
    ])
      expect(expectSame(frame, raw.length)).toBeUndefined();
    const wide = zstdStream(raw, 27);
    expect(expectSame(wide, raw.length)).toBeUndefined();
    expect(expectSame(zstdStream(raw, 22), raw.length)).toBe(raw.toString('latin1'));
  });

  it('check the checksum of a frame that has one', () => {
    const raw = Buffer.from('a text of some length, a text of some length');
    const frame = zstdCompressSync(raw, CHECKED);
    expect(expectSame(frame, raw.length)).toBe(raw.toString('latin1'));
    frame[frame.length - 1] = (frame.at(-1) ?? 0) ^ 1;
    expect(expectSame(frame, raw.length)).toBeUndefined();
  });

  it('read what zstd-napi stored, and write it again to the byte', () => {
    for (const { level, content: raw, frame } of zstdFrames()) {
      expect(expectSame(frame, raw.length)).toBe(raw.toString('latin1'));
      for (const zstd of BOTH) {
        const again = zstd.compressor({ level, expected: raw.length })(raw);
        expect(zstd.version !== '1.5.7' || again.equals(frame)).toBe(true);
      }
    }
  });
});

const CHECKED = { params: { [constants.ZSTD_c_checksumFlag]: 1 } };

/** A frame as of a stream: its length is not known when it begins, so that it names its window. */
function zstdStream(raw: Buffer, windowLog: number): Buffer {
  const frame = zstdCompressSync(raw, {
    params: { [constants.ZSTD_c_windowLog]: windowLog, [constants.ZSTD_c_contentSizeFlag]: 0 },
  });
  // The library narrows the window to the content; the descriptor is a byte of its own that may say more.
  const wide = Buffer.from(frame);
  wide[5] = (windowLog - 10) << 3;
  return wide;
}
