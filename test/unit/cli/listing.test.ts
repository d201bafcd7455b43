import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asByteString, bytesOfText } from '../../../src/base/byte-path.ts';
import type { EntrySummary } from '../../../src/browse/entries.ts';
import {
  entryObject,
  entryTime,
  exactTime,
  longLines,
  modeText,
  shortLine,
  sizeText,
} from '../../../src/cli/snapshots/listing.ts';
import { createStyles } from '../../../src/cli/terminal/terminal.ts';

const plain = createStyles(false);
const owners = { users: { '1000': 'ann' }, groups: { '100': 'users' } };
const file: EntrySummary = {
  type: 'file',
  name: asByteString('a.txt'),
  mode: 0o644,
  uid: 1000,
  gid: 100,
  mtimeNs: 1_700_000_000_123_456_789n,
  ctimeNs: 0n,
  inode: 7,
  size: 1536,
};

const zone = process.env['TZ'];
beforeAll(() => {
  process.env['TZ'] = 'Asia/Kolkata';
});
afterAll(() => {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

describe('long lines', () => {
  it('show mode, owner, group, size, local time and name', () => {
    const line = longLines({ owners, styles: plain, exactSizes: false });

    expect(line(asByteString('/home/a.txt'), file)).toBe(
      '-rw-r--r--  ann   users    1.5 KiB  2023-11-15 03:43:20  /home/a.txt\n',
    );
  });

  it('show bytes when asked to, ids where the snapshot knows no name, and where links lead', () => {
    const line = longLines({ owners, styles: plain, exactSizes: true });

    expect(line(asByteString('/x'), { ...file, uid: 5, gid: 6 })).toBe(
      '-rw-r--r--  5     6           1536  2023-11-15 03:43:20  /x\n',
    );
    const { size: _, ...link } = {
      ...file,
      type: 'symlink' as const,
      mode: 0o777,
      target: asByteString('a/b'),
    };
    expect(line(asByteString('/l'), link)).toBe(
      'lrwxrwxrwx  ann   users          -  2023-11-15 03:43:20  /l -> a/b\n',
    );
  });

  it('stay aligned from the first line on that needs more room', () => {
    const line = longLines({
      owners: { users: { '1': 'a-long-user', '2': '日本' }, groups: {} },
      styles: plain,
      exactSizes: true,
    });
    line(asByteString('/1'), { ...file, uid: 1, size: 123_456_789_012 });

    expect(line(asByteString('/2'), { ...file, uid: 2 })).toBe(
      '-rw-r--r--  日本         100            1536  2023-11-15 03:43:20  /2\n',
    );
  });

  it('cannot be broken by names, owners and targets', () => {
    const hostile = { users: { '1000': 'a\u001b[2J' }, groups: {} };
    const line = longLines({ owners: hostile, styles: plain, exactSizes: false });

    const text = line(asByteString('/x\n/etc/passwd\xff'), { ...file, target: bytesOfText('\u202e') });

    expect(text).toContain(String.raw`/x\n/etc/passwd\xff -> \u202e`);
    expect(text).toContain(String.raw`a\x1b[2J`);
    expect(text.indexOf('\n')).toBe(text.length - 1);
  });

  it('tell of files that changed while they were read', () => {
    const line = longLines({ owners, styles: plain, exactSizes: false });

    expect(line(asByteString('/x'), { ...file, changedWhileRead: true })).toMatch(
      /\/x {2}\(changed while it was read\)\n$/,
    );
  });
});

describe('a short line', () => {
  it('is the path, and for a link its target', () => {
    expect(shortLine(asByteString('/a b'), file, plain)).toBe('/a b\n');
    expect(shortLine(asByteString('/l'), { ...file, target: asByteString('t') }, plain)).toBe('/l -> t\n');
    expect(shortLine(asByteString('/d'), { ...file, type: 'directory' }, createStyles(true))).toBe(
      '\u001b[1m/d\u001b[22m\n',
    );
  });
});

describe('modeText', () => {
  it.each([
    ['file', 0o644, '-rw-r--r--'],
    ['directory', 0o2755, 'drwxr-sr-x'],
    ['directory', 0o1777, 'drwxrwxrwt'],
    ['directory', 0o1770, 'drwxrwx--T'],
    ['file', 0o6644, '-rwSr-Sr--'],
    ['symlink', 0o777, 'lrwxrwxrwx'],
    ['fifo', 0, 'p---------'],
    ['socket', 0o7777, 'srwsrwsrwt'],
    ['char-device', 0o620, 'crw--w----'],
    ['block-device', 0o660, 'brw-rw----'],
  ] as const)('shows %s %o as %s', (type, mode, text) => {
    expect(modeText({ type, mode })).toBe(text);
  });
});

describe('sizeText', () => {
  it('is that of all files below a directory, and the numbers of a device', () => {
    const { size: _, ...other } = file;

    expect(sizeText({ ...other, type: 'directory', totals: { files: 2, bytes: 2048, entries: 3 } })).toBe(
      '2.0 KiB',
    );
    expect(sizeText({ ...other, type: 'block-device', major: 8, minor: 1 })).toBe('8, 1');
    expect(sizeText({ ...other, type: 'fifo' })).toBe('-');
  });
});

describe('times', () => {
  it('are exact to the nanosecond in JSON, before 1970 too', () => {
    expect(exactTime(1_700_000_000_000_000_001n)).toBe('2023-11-14T22:13:20.000000001Z');
    expect(exactTime(-1n)).toBe('1969-12-31T23:59:59.999999999Z');
    expect(exactTime(-1_500_000_000n)).toBe('1969-12-31T23:59:58.500000000Z');
  });

  it('that no calendar reaches do not end the list', () => {
    const never = 9_000_000_000_000n * 1_000_000_000n;

    expect(exactTime(never)).toBeNull();
    expect(entryTime(never)).toBe('@9000000000000');
    expect(entryTime(-1_500_000_000n)).toBe('1970-01-01 05:29:58');
  });
});

describe('entryObject', () => {
  it('has everything that is known of an entry', () => {
    expect(
      entryObject(asByteString('/h/a.txt'), { ...file, links: { device: 3, count: 2 } }, owners),
    ).toEqual({
      path: '/h/a.txt',
      name: 'a.txt',
      type: 'file',
      size_bytes: 1536,
      modified_at: '2023-11-14T22:13:20.123456789Z',
      mode: '0644',
      uid: 1000,
      gid: 100,
      user: 'ann',
      group: 'users',
      inode: 7,
      device: 3,
      links: 2,
    });
  });

  it('gives names that are not UTF-8 in base64 too', () => {
    const link = {
      ...file,
      type: 'symlink' as const,
      name: asByteString('\xff'),
      target: asByteString('t\xfe'),
    };

    expect(entryObject(asByteString('/d/\xff'), link, owners)).toMatchObject({
      path: '/d/\ufffd',
      path_b64: Buffer.from('/d/\xff', 'latin1').toString('base64'),
      name: '\ufffd',
      link_target: 't\ufffd',
      link_target_b64: Buffer.from('t\xfe', 'latin1').toString('base64'),
    });
    expect(entryObject(bytesOfText('/ü'), file, owners)).not.toHaveProperty('path_b64');
  });

  it('has the totals of a directory and the numbers of a device', () => {
    const { size: _, ...other } = file;

    expect(
      entryObject(
        asByteString('/d'),
        { ...other, type: 'directory', totals: { files: 2, bytes: 5, entries: 3 } },
        owners,
      ),
    ).toMatchObject({ type: 'directory', files_below: 2, bytes_below: 5, entries_below: 3 });
    expect(
      entryObject(asByteString('/c'), { ...other, type: 'char-device', major: 1, minor: 3 }, owners),
    ).toMatchObject({
      device_major: 1,
      device_minor: 3,
    });
  });
});
