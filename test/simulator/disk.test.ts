/** The simulated disk keeps what POSIX promises to keep, and loses the rest. */
import { expect, test } from 'vitest';
import { seededRandom } from '../support/seeded-random.ts';
import { Disk } from './disk.ts';

/** What 200 power losses leave after `write`, each of another disk. */
function leftOver(write: (disk: Disk) => void): ReadonlySet<string> {
  const found = new Set<string>();
  for (let seed = 1; seed <= 200; seed += 1) {
    const disk = new Disk(seededRandom(seed), () => 0);
    write(disk);
    disk.losePower();
    const entry = disk.root.entries.get('file');
    found.add(entry?.kind === 'file' ? entry.data.toString('latin1') : 'nothing');
  }
  return found;
}

const text = Buffer.from('abc');

test('what was synced, file and directory, is there after power loss', () => {
  const left = leftOver((disk) => {
    const file = disk.createFile('/file');
    disk.write(file, text, 0);
    disk.sync(file);
    disk.sync(disk.root);
  });
  expect([...left]).toEqual(['abc']);
});

test('a file without a sync of its directory may be gone', () => {
  const left = leftOver((disk) => {
    const file = disk.createFile('/file');
    disk.write(file, text, 0);
    disk.sync(file);
  });
  expect([...left].sort()).toEqual(['abc', 'nothing']);
});

test('a name without a sync of the file may show nothing, a part, or zeros', () => {
  const left = leftOver((disk) => {
    disk.write(disk.createFile('/file'), text, 0);
    disk.sync(disk.root);
  });
  for (const content of ['', 'ab', '\0\0\0']) expect(left).toContain(content);
});

test('a rename is there whole or not at all', () => {
  const left = leftOver((disk) => {
    const old = disk.createFile('/file');
    disk.write(old, Buffer.from('old'), 0);
    disk.sync(old);
    disk.sync(disk.root);
    const next = disk.createFile('/next');
    disk.write(next, Buffer.from('new'), 0);
    disk.sync(next);
    disk.rename('/next', '/file');
  });
  expect([...left].sort()).toEqual(['new', 'old']);
});

test('a directory can be removed when it is empty', () => {
  const disk = new Disk(seededRandom(1), () => 0);
  disk.makeDirectories('/a/b');
  expect(() => disk.removeDirectory('/a')).toThrow('ENOTEMPTY');
  disk.removeDirectory('/a/b');
  expect(() => disk.removeDirectory('/a/b')).toThrow('ENOENT');
  disk.createFile('/a/file');
  expect(() => disk.removeDirectory('/a/file')).toThrow('ENOTDIR');
});
