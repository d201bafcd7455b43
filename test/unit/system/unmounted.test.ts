import { describe, expect, test } from 'vitest';
import { unmountedAt, type MountLook } from '../../../src/system/unmounted.ts';

const SYSTEM = 1;
const DISK = 2;

function on(devices: Readonly<Record<string, number>>, far: readonly string[] = []): MountLook {
  return {
    roots: ['/mnt', '/media', '/run/media'],
    deviceOf: (path) => devices[path],
    isFar: (path) => far.includes(path),
  };
}

describe('nothing is mounted', () => {
  test.each<[what: string, path: string, devices: Readonly<Record<string, number>>, at: string]>([
    ['and nothing is there', '/mnt/nas/h', { '/': SYSTEM, '/mnt': SYSTEM }, '/mnt/nas'],
    ['and not even the root', '/media/ann/stick', { '/': SYSTEM }, '/media/ann'],
    [
      'at a mount point that is left',
      '/mnt/nas',
      { '/': SYSTEM, '/mnt': SYSTEM, '/mnt/nas': SYSTEM },
      '/mnt/nas',
    ],
    [
      'and a folder was made all the same',
      '/mnt/nas/h',
      { '/': SYSTEM, '/mnt': SYSTEM, '/mnt/nas': SYSTEM, '/mnt/nas/h': SYSTEM },
      '/mnt/nas',
    ],
    ['at the root itself', '/mnt', { '/': SYSTEM, '/mnt': SYSTEM }, '/mnt'],
    [
      'where the root lies in memory',
      '/run/media/ann/stick',
      { '/': SYSTEM, '/run': 9, '/run/media': 9 },
      '/run/media/ann',
    ],
  ])('%s', (_, path, devices, at) => {
    expect(unmountedAt(path, on(devices))).toBe(at);
  });
});

describe('something is mounted, or need not be', () => {
  test.each<[what: string, path: string, devices: Readonly<Record<string, number>>]>([
    ['a disk', '/mnt/nas/h', { '/': SYSTEM, '/mnt': SYSTEM, '/mnt/nas': DISK }],
    ['a disk at the root', '/mnt/h', { '/': SYSTEM, '/mnt': DISK }],
    [
      'a disk below a person',
      '/media/ann/stick/h',
      { '/': SYSTEM, '/media': SYSTEM, '/media/ann': SYSTEM, '/media/ann/stick': DISK },
    ],
    ['a folder elsewhere', '/srv/backup', { '/': SYSTEM, '/srv': SYSTEM }],
    ['a name that only begins alike', '/mnt2/backup', { '/': SYSTEM }],
  ])('%s', (_, path, devices) => {
    expect(unmountedAt(path, on(devices))).toBeUndefined();
  });

  test('a share is not asked, which may hang', () => {
    const asks = { ...on({}, ['/mnt/nas/h']), deviceOf: () => expect.fail('it was asked') };
    expect(unmountedAt('/mnt/nas/h', asks)).toBeUndefined();
  });
});
