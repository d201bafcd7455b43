import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openKeyCopies } from '../../../src/cache/key-copies.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-copies-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

const PLACE = 's3://bucket/laptop?endpoint=https://s3.example.org';
const listed = { key: 'keys/ring-1', size: 5, modifiedMs: 1_000 };
const bytes = Buffer.from('bytes');
const known = { complete: true, large: false };

function fileOf(): string {
  const [name = ''] = readdirSync(join(directory, 'cache'));
  return join(directory, 'cache', name);
}

describe('copies of key files', () => {
  it('are there the next time, for the object that was listed and no other', () => {
    openKeyCopies(directory, PLACE).replace([{ listed, bytes }], known);
    const copies = openKeyCopies(directory, PLACE);
    expect(copies.read(listed)).toEqual(bytes);
    expect(copies.known).toEqual({ ...known, listed: [listed] });
    expect(copies.read({ ...listed, modifiedMs: 1_001 })).toBeUndefined();
    expect(copies.read({ ...listed, size: 6 })).toBeUndefined();
    expect(copies.read({ ...listed, key: 'keys/ring-2' })).toBeUndefined();
    expect(openKeyCopies(directory, 's3://bucket/laptop').read(listed)).toBeUndefined();
  });

  it('lie in a file that nobody else may read', () => {
    openKeyCopies(directory, PLACE).replace([{ listed, bytes }], known);
    expect(statSync(fileOf()).mode & 0o777).toBe(0o600);
  });

  it('are forgotten when they are not among those that count', () => {
    openKeyCopies(directory, PLACE).replace([{ listed, bytes }], known);
    openKeyCopies(directory, PLACE).replace([], known);
    expect(openKeyCopies(directory, PLACE).read(listed)).toBeUndefined();
  });

  it('are not written when nothing has changed', () => {
    openKeyCopies(directory, PLACE).replace([{ listed, bytes }], known);
    const { ino } = statSync(fileOf());
    openKeyCopies(directory, PLACE).replace([{ listed, bytes }], known);
    expect(statSync(fileOf()).ino).toBe(ino);
    openKeyCopies(directory, PLACE).replace([{ listed, bytes }], { ...known, large: true });
    expect(openKeyCopies(directory, PLACE).known.large).toBe(true);
  });

  it.each([
    ['bytes that are not as they were', (text: string) => text.replace('Ynl0ZXM=', 'Qnl0ZXM=')],
    ['something else', () => '[1, 2]'],
    ['half a file', (text: string) => text.slice(0, 40)],
    ['another form', (text: string) => text.replace('"version":1', '"version":2')],
  ])('are of no use when the file has %s', (_, change) => {
    openKeyCopies(directory, PLACE).replace([{ listed, bytes }], known);
    const before = readFileSync(fileOf(), 'utf8');
    expect(change(before)).not.toBe(before);
    writeFileSync(fileOf(), change(before));
    expect(openKeyCopies(directory, PLACE).read(listed)).toBeUndefined();
  });

  it('cost nothing but requests where nothing can be written', () => {
    writeFileSync(join(directory, 'cache'), 'a file in the way');
    const copies = openKeyCopies(directory, PLACE);
    copies.replace([{ listed, bytes }], known);
    expect(copies.read(listed)).toBeUndefined();
  });
});
