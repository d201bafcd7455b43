/** Systems that cannot be told to follow no link when a file is opened: macOS, Windows, Linux before 5.6. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type * as nativeCalls from '../../../src/system/native.ts';
import { Reading } from '../../support/read-files.ts';

vi.mock('../../../src/system/native.ts', async (original) => {
  const { native, nativeMissing } = await original<typeof nativeCalls>();
  return { native: native && { ...native, openWithoutLinks: undefined }, nativeMissing };
});

function twoFiles(): { place: string; own: string } {
  const place = mkdtempSync(join(tmpdir(), 'holdfast-reader-'));
  onTestFinished(() => rmSync(place, { recursive: true }));
  for (const directory of ['home', 'private']) {
    mkdirSync(join(place, directory));
    writeFileSync(join(place, directory, 'data'), `of ${directory}`);
  }
  return { place, own: join(place, 'home', 'data') };
}

function putLinkInPlaceOfDirectory(place: string): void {
  renameSync(join(place, 'home'), join(place, 'away'));
  symlinkSync(join(place, 'private'), join(place, 'home'));
}

describe('where links on the way to a file are followed', () => {
  it('another file than the one that the walk saw is not read', () => {
    const { place, own } = twoFiles();
    const reading = new Reading();
    reading.walk(own);
    putLinkInPlaceOfDirectory(place);
    reading.read();

    expect(reading.stored).toEqual([]);
    expect(reading.entries.get(own)).toBeUndefined();
    expect(reading.tally.problems).toEqual([
      { path: own, code: 'CHANGED', message: 'another file took its place in the meantime' },
    ]);
  });

  it('a file of the same number on another device is not read', () => {
    const { own } = twoFiles();
    const reading = new Reading();
    reading.walk(own, (stat) => ({ ...stat, dev: stat.dev + 1n }));
    reading.read();

    expect(reading.stored).toEqual([]);
    expect(reading.tally.problems.map(({ code }) => code)).toEqual(['CHANGED']);
  });

  it('the file that the walk saw is read, wherever it lies now', () => {
    const { place, own } = twoFiles();
    const reading = new Reading();
    reading.walk(own);
    renameSync(join(place, 'home'), join(place, 'away'));
    symlinkSync(join(place, 'away'), join(place, 'home'));
    reading.read();

    expect(reading.stored).toEqual(['of home']);
    expect(reading.entries.get(own)?.type).toBe('file');
  });
});
