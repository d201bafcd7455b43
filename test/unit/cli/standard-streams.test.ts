import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { requireContent, standardInput } from '../../../src/cli/terminal/standard-streams.ts';

const { signal } = new AbortController();
let directory: string;
let fd: number | undefined;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-streams-'));
});
afterEach(() => {
  if (fd !== undefined) closeSync(fd);
  fd = undefined;
  rmSync(directory, { recursive: true });
});

/** What Node.js makes of a descriptor of a kind that it does not know, as of a disk: a stream with nothing in it. */
function withoutContent(path: string): Readable & { readonly fd: number } {
  fd = openSync(path, 'r');
  return Object.assign(Readable.from([]), { fd });
}

test.skipIf(process.platform === 'win32')('what Node.js cannot read is read all the same', async () => {
  const content = Buffer.alloc(3_000_000, 'disk');
  const path = join(directory, 'disk');
  writeFileSync(path, content);
  const stdin = withoutContent(path);
  requireContent(stdin, '');
  expect((await buffer(standardInput(stdin, signal))).equals(content)).toBe(true);
});

test.skipIf(process.platform === 'win32')('what gives nothing is refused before anything is made', () => {
  expect(() => requireContent(withoutContent(devNull), '')).toThrow('Standard input is closed');
  closeSync(fd ?? 0);
  expect(() => requireContent(withoutContent(directory), '')).toThrow('is a directory');
  const terminal = Object.assign(new PassThrough(), { isTTY: true });
  expect(() => requireContent(terminal, 'cat x | holdfast')).toThrow('is a terminal');
});
