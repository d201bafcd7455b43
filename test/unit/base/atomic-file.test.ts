import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readFileIfPresent, writeFileAtomically } from '../../../src/base/atomic-file.ts';
import { StateError } from '../../../src/base/errors.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'holdfast-atomic-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

describe('a file written atomically', () => {
  it('replaces what was there, is for its owner alone, and leaves nothing beside it', async () => {
    const file = path.join(directory, 'a', 'b', 'file');
    await writeFileAtomically(file, 'first');
    await writeFileAtomically(file, Buffer.from('second'));

    expect(readFileSync(file, 'utf8')).toBe('second');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
    expect(readdirSync(path.dirname(file))).toEqual(['file']);
    expect(await readFileIfPresent(file)).toEqual(Buffer.from('second'));
  });

  it('that cannot be written is a StateError and leaves what was there', async () => {
    const file = path.join(directory, 'file');
    writeFileSync(file, 'in the way');

    await expect(writeFileAtomically(path.join(file, 'below'), 'x')).rejects.toThrow(StateError);
    expect(readFileSync(file, 'utf8')).toBe('in the way');
    expect(readdirSync(directory)).toEqual(['file']);
  });
});

describe('a file that may be absent', () => {
  it('is undefined when it is, and a StateError when it cannot be read', async () => {
    expect(await readFileIfPresent(path.join(directory, 'absent'))).toBeUndefined();
    await expect(readFileIfPresent(directory)).rejects.toThrow(StateError);
  });
});
