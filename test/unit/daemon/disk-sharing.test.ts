/** Which destinations are lost together with the files, and that this is remembered while they are away. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defaultSettings, defaultSource } from '../../../src/config/effective-settings.ts';
import type { Place } from '../../../src/daemon/places/destinations.ts';
import { DiskSharing } from '../../../src/daemon/places/disk-sharing.ts';
import { sourceNames } from '../../../src/daemon/sources/configured-source.ts';
import { StateRoom } from '../../../src/daemon/state/disk.ts';
import { areOnSameDisk, disksOf } from '../../../src/system/disk-identity.ts';

let directory: string;
let kept: Map<string, string>;
let places: Place[];
let isThere: boolean;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-disks-'));
  mkdirSync(join(directory, 'usb', 'keys'), { recursive: true });
  kept = new Map();
  places = [place('usb')];
  isThere = true;
});
afterEach(() => rmSync(directory, { recursive: true }));

function place(name: string): Place {
  const path = join(directory, name);
  return {
    name,
    url: `file://${path}`,
    location: path,
    shown: path,
    directory: path,
    passphrase: null,
    access: undefined,
  };
}

/** Disks are called by the first letter of what lies on them. */
function sharing(sameDisk: (a: string, b: string) => boolean): DiskSharing {
  const context = { home: directory, stateDirectory: directory };
  const settings = defaultSettings(context);
  const sources = ['/photos', '/music'].map((path) => ({
    ...defaultSource(path, settings, context),
    destinations: ['usb'],
  }));
  return new DiskSharing({
    settings: () => ({ sources }),
    destinations: { all: () => places, isPresent: () => isThere, repositoryId: () => 'id' },
    store: {
      all: () => kept,
      get: (key) => kept.get(key),
      set: (key, value) => void (value === undefined ? kept.delete(key) : kept.set(key, value)),
    },
    stateDirectory: '/state',
    sameDisk,
  });
}

test('is told of each source, and of the disk of the agent', () => {
  const disks = sharing((_, other) => other === '/photos');
  disks.look();
  expect([disks.sharesDisk('usb', '/photos'), disks.sharesDisk('usb', '/music')]).toEqual([true, false]);
  expect(disks.isOfSystem('usb')).toBe(false);
  const ofSystem = sharing((_, other) => other === '/state');
  ofSystem.look();
  expect(ofSystem.isOfSystem('usb')).toBe(true);
});

test('is remembered while the destination is away, also where its empty mount point is in view', () => {
  const disks = sharing(() => false);
  disks.look();
  isThere = false;
  sharing(() => true).look();
  isThere = true;
  rmSync(join(directory, 'usb', 'keys'), { recursive: true });
  sharing(() => true).look();
  expect(disks.sharesDisk('usb', '/photos')).toBe(false);
});

test('is forgotten with the destination, and when it lies elsewhere', () => {
  const disks = sharing(() => true);
  disks.look();
  places = [{ ...place('usb'), url: 'file:///elsewhere' }];
  expect(disks.sharesDisk('usb', '/photos')).toBe(false);
  places = [];
  disks.look();
  expect([...kept]).toEqual([]);
});

test('what is on one file system is on one disk, whether it is there yet or not', () => {
  expect(areOnSameDisk(directory, join(directory, 'not', 'yet'))).toBe(true);
  expect(disksOf(directory).size).toBeGreaterThan(0);
});

test.runIf(process.platform === 'linux')('what is no file system of a disk is on none', () => {
  expect(areOnSameDisk(directory, '/proc/self')).toBe(false);
});

test('sources are called by their last name, unless two would be called the same', () => {
  expect([
    ...sourceNames(['/home/ana', '/srv/www', '/a/Photos', '/b/Photos', '/'], '/home/ana').values(),
  ]).toEqual(['~', 'www', '/a/Photos', '/b/Photos', '/']);
});

test('room is scarce when little is left, and while nobody knows it is not', async () => {
  let bytes: number | null = null;
  const room = new StateRoom({
    stateDirectory: '/state',
    freeBytes: async () => await Promise.resolve(bytes),
    trouble: () => undefined,
  });
  const found: (number | null)[] = [];
  const full: boolean[] = [];
  for (bytes of [null, 5_000_000, 5_000_000_000, 0]) {
    await room.look();
    found.push(room.scarceBytes());
    full.push(room.isFull());
  }
  expect(found).toEqual([null, 5_000_000, null, 0]);
  expect(full).toEqual([false, false, false, true]);
});
