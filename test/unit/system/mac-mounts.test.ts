/** What macOS has mounted, and what it says of files: recorded from macOS 14, as none of it is there to be asked here. */
import { describe, expect, test } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import { accessHint, isDataless, leftOutMounts, tableOf } from '../../../src/system/mac-mounts.ts';
import { isElsewhere, isMadeUp, mountOf, parseMounts } from '../../../src/system/mount-table.ts';

/** As `mount` prints it. */
const TABLE = `/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
devfs on /dev (devfs, local, nobrowse)
/dev/disk3s6 on /System/Volumes/VM (apfs, local, noexec, journaled, noatime, nobrowse)
/dev/disk3s2 on /System/Volumes/Preboot (apfs, local, journaled, nobrowse)
/dev/disk3s5 on /System/Volumes/Data (apfs, local, journaled, nobrowse, protect, root data)
map auto_home on /System/Volumes/Data/home (autofs, automounted, nobrowse)
/dev/disk4s1 on /Volumes/Backup (2) on tape (apfs, local, nodev, nosuid, journaled, noowners)
//ann@nas._smb._tcp.local/media on /Volumes/media (smbfs, nodev, nosuid, mounted by ann)
`;

const path = asByteString;
const mounts = parseMounts(TABLE);

describe('the table of mounts', () => {
  test('names each mount with its file system', () => {
    expect(mounts).toEqual([
      { path: '/', type: 'apfs' },
      { path: '/dev', type: 'devfs' },
      { path: '/System/Volumes/VM', type: 'apfs' },
      { path: '/System/Volumes/Preboot', type: 'apfs' },
      { path: '/System/Volumes/Data', type: 'apfs' },
      { path: '/System/Volumes/Data/home', type: 'autofs' },
      { path: '/Volumes/Backup (2) on tape', type: 'apfs' },
      { path: '/Volumes/media', type: 'smbfs' },
    ]);
    expect(mountOf(path('/Volumes/media/film'), mounts)?.type).toBe('smbfs');
    expect([isElsewhere('smbfs'), isElsewhere('apfs'), isMadeUp('devfs')]).toEqual([true, false, true]);
  });

  test('is read from what getfsstat fills', () => {
    const size = 2168;
    const bytes = Buffer.alloc(2 * size, 0);
    for (const [index, [type = '', on = '', from = '']] of [
      ['apfs', '/', '/dev/disk3s1s1'],
      ['devfs', '/dev', 'devfs'],
    ].entries()) {
      bytes.write(type, index * size + 72, 'latin1');
      bytes.write(on, index * size + 88, 'latin1');
      bytes.write(from, index * size + 1112, 'latin1');
    }
    const table = tableOf(bytes, 2);
    expect(table).toBe('/dev/disk3s1s1 on / (apfs)\ndevfs on /dev (devfs)\n');
    expect(parseMounts(table)).toEqual([
      { path: '/', type: 'apfs' },
      { path: '/dev', type: 'devfs' },
    ]);
    expect(tableOf(bytes, 0)).toBe('');
  });
});

describe('a backup of /', () => {
  const left = (...sources: readonly string[]): readonly string[] =>
    leftOutMounts(mounts, sources.map(path)).map((one) => one.path);

  test('enters no devices, no volume of the system and no other disk', () => {
    expect(left('/')).toEqual([
      '/dev',
      '/System/Volumes/VM',
      '/System/Volumes/Preboot',
      '/System/Volumes/Data',
      '/System/Volumes/Data/home',
      '/Volumes/Backup (2) on tape',
      '/Volumes/media',
    ]);
  });

  test('enters what is a source itself, or has one in it', () => {
    expect(left('/', '/Volumes/media')).not.toContain('/Volumes/media');
    expect(left('/Volumes/Backup (2) on tape/photos')).not.toContain('/Volumes/Backup (2) on tape');
    expect(left('/System/Volumes/Data')).not.toContain('/System/Volumes/Data');
  });
});

test('a file that is in iCloud alone is known by its flag', () => {
  // st_flags of a downloaded file (UF_TRACKED), and of one that is not (UF_TRACKED, UF_COMPRESSED, SF_DATALESS).
  expect([0x40, 0x4000_0060, 0].map(isDataless)).toEqual([false, true, false]);
});

describe('a folder that macOS keeps from programs', () => {
  test.each([
    '/Users/ann/Library/Mail',
    '/Users/ann/Desktop',
    '/Users/ann/Documents/letters',
    '/Users/ann/.Trash',
    '/Volumes/media/film',
  ])('is told as such: %s', (name) => {
    expect(accessHint(name, 'EPERM', 'darwin')).toMatch(
      /Full Disk Access.*System Settings, open Privacy & Security/,
    );
  });

  test.each([
    ['/Users/ann/Desktop', 'EACCES', 'darwin'],
    ['/Users/ann/Desktop', 'EPERM', 'linux'],
    ['/private/etc', 'EPERM', 'darwin'],
  ] as const)('is another thing for %s, %s on %s', (name, failure, platform) => {
    expect(accessHint(name, failure, platform)).toBeUndefined();
  });
});
