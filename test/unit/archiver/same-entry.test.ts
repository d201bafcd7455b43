import { closeSync, constants, openSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { isSameOrAsOpen, keepsInodes } from '../../../src/archiver/source/same-entry.ts';
import { O_PATH } from '../../../src/system/platform.ts';
import { Reading } from '../../support/read-files.ts';

const isLinux = process.platform === 'linux';
const entry = { dev: 1n, ino: 2n, mode: 0o100644, uid: 3, gid: 4 };

describe.runIf(isLinux)('a file system whose inodes are numbers of the moment', () => {
  test.each([
    ['a directory', '/proc/self', constants.O_RDONLY],
    ['a file', '/proc/version', constants.O_RDONLY],
    ['a link', '/proc/mounts', O_PATH | constants.O_NOFOLLOW],
  ])('is known by %s on it', (_, path, flags) => {
    const fd = openSync(path, flags);
    try {
      expect(keepsInodes(fd)).toBe(false);
      expect(isSameOrAsOpen(fd, entry, { ...entry, ino: 9n })).toBe(true);
      expect(isSameOrAsOpen(fd, entry, { ...entry, ino: 9n, mode: 0o100600 })).toBe(false);
    } finally {
      closeSync(fd);
    }
  });

  test('a file that has another number by the time that it is read is read', () => {
    const reading = new Reading();
    const path = '/proc/sys/kernel/ostype';
    reading.walk(path, (stat) => ({ ...stat, ino: stat.ino + 1n }));
    reading.read();
    expect(reading.entries.get(path)?.type).toBe('file');
  });
});

test('what has the number of an entry and is of another kind is not that entry', () => {
  const fd = openSync('.', constants.O_RDONLY);
  try {
    expect(isSameOrAsOpen(fd, entry, entry)).toBe(true);
    expect(isSameOrAsOpen(fd, { ...entry, mode: 0o040644 }, entry)).toBe(false);
  } finally {
    closeSync(fd);
  }
});
