import { createCipheriv, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { HEAD_BYTES, looksEncrypted } from '../../../src/engine/looks-encrypted.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const head = (content: Buffer): boolean | undefined => looksEncrypted(content.subarray(0, HEAD_BYTES));
const prose = readFileSync(join(root, 'README.md'));

function encrypted(content: Buffer): Buffer {
  const cipher = createCipheriv('aes-256-ctr', randomBytes(32), randomBytes(16));
  return Buffer.concat([cipher.update(content), cipher.final()]);
}

test('encrypted content of any length does', () => {
  for (const length of [128, 200, 500, 1_000, 4_096, 20_000]) {
    const all = Array.from({ length: 100 }, () => head(encrypted(Buffer.alloc(length))));
    // One in a thousand begins as a compressed format does.
    expect([length, all.filter(Boolean).length > 95]).toEqual([length, true]);
  }
});

test('too few bytes tell nothing', () => {
  expect(head(randomBytes(127))).toBeUndefined();
  expect(head(Buffer.alloc(0))).toBeUndefined();
});

test('what people and programs write does not', () => {
  const source = readFileSync(import.meta.filename);
  const chinese = Buffer.from(
    Array.from({ length: 90 }, (_, n) => String.fromCodePoint(0x4e00 + ((n * n) % 900))).join(''),
  );
  for (const content of [prose, source, chinese, readFileSync(process.execPath)]) {
    expect(head(content)).toBe(false);
    expect(head(content.subarray(0, 128))).toBe(false);
    expect(head(Buffer.from(content.subarray(0, 9_000).toString('base64')))).toBe(false);
  }
});

test('what is compressed does not, where its format says so', () => {
  expect(head(readFileSync(join(root, 'docs/ui/overview.light.png')))).toBe(false);
  expect(head(gzipSync(prose))).toBe(false);
  expect(head(deflateSync(prose))).toBe(false);
  expect(head(zstdCompressSync(prose))).toBe(false);
  for (const start of ['ffd8ffe0', '504b0304', '494433', '0000001866747970', 'fffb9064', '52494646'])
    expect([start, head(Buffer.concat([Buffer.from(start, 'hex'), randomBytes(5_000)]))]).toEqual([
      start,
      false,
    ]);
  // No format: nothing tells it from what is encrypted. It looked so before, too.
  expect(head(brotliCompressSync(prose))).toBe(true);
});
