import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Reading } from '../../support/read-files.ts';

/** Above the 128 MiB from which files are read in spans. */
const LARGE = 129 * 1024 * 1024;

function newPlace(): string {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-reader-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** A file of a person, and one of the same name that only root may read. */
function twoFiles(size: number): { place: string; own: string } {
  const place = newPlace();
  for (const [directory, text, mode] of [
    ['home', 'nothing much', 0o644],
    ['private', 'SECRET', 0o600],
  ] as const) {
    mkdirSync(join(place, directory));
    writeFileSync(join(place, directory, 'data'), text);
    truncateSync(join(place, directory, 'data'), size);
    chmodSync(join(place, directory, 'data'), mode);
  }
  return { place, own: join(place, 'home', 'data') };
}

function putLinkInPlaceOfDirectory(place: string): void {
  renameSync(join(place, 'home'), join(place, 'away'));
  symlinkSync(join(place, 'private'), join(place, 'home'));
}

describe.each([
  ['small', 100],
  ['large', LARGE],
])('a %s file', (_, size) => {
  it('is not read by way of a link that took the place of its directory after the walk', () => {
    const { place, own } = twoFiles(size);
    const reading = new Reading();
    reading.walk(own);
    putLinkInPlaceOfDirectory(place);
    reading.read();

    expect(reading.stored.filter((chunk) => chunk.includes('SECRET'))).toEqual([]);
    expect(reading.entries.get(own)).toBeUndefined();
    expect(reading.tally.problems.map(({ code }) => code)).toEqual(['ELOOP']);
  });

  it('that took the place of another one after the walk has the owner and the mode that it has itself', () => {
    const { place, own } = twoFiles(size);
    const reading = new Reading();
    reading.walk(own);
    renameSync(join(place, 'private', 'data'), own);
    reading.read();

    const entry = reading.entries.get(own);
    expect(entry).toMatchObject({ mode: 0o600, inode: statSync(own).ino, changedWhileRead: false });
    expect(reading.stored.some((chunk) => chunk.startsWith('SECRET'))).toBe(true);
  });

  it('that was closed to others after the walk is stored as closed', () => {
    const { own } = twoFiles(size);
    const reading = new Reading();
    reading.walk(own);
    chmodSync(own, 0o600);
    reading.read();

    expect(reading.entries.get(own)?.mode).toBe(0o600);
  });
});
