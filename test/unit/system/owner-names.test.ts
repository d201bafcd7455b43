import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { expect, it } from 'vitest';
import { ownerNames } from '../../../src/system/owner-names.ts';

const windows = process.platform === 'win32';

function known(): { readonly uid: number; readonly username: string | undefined } {
  try {
    return userInfo();
  } catch {
    return { uid: process.getuid?.() ?? 0, username: undefined };
  }
}

it('names the user who runs this, both ways', ({ skip }) => {
  skip(windows, 'no numeric users on Windows');
  const { uid, username } = known();
  skip(username === undefined, 'the system has no name for this user');
  if (username === undefined) return;
  const names = ownerNames();
  expect(names.userName(uid)).toBe(username);
  expect(names.userId(username)).toBe(uid);
});

it('names every user and group of the local files', ({ skip }) => {
  skip(process.platform !== 'linux', 'only on Linux are these files all that is used first');
  const names = ownerNames();
  const seen = { users: 0, groups: 0 };
  for (const [name = '', , uid = ''] of fieldsOf('/etc/passwd')) {
    expect(names.userId(name)).toBe(Number(uid));
    seen.users += 1;
  }
  for (const [name = '', , gid = ''] of fieldsOf('/etc/group')) {
    expect(names.groupId(name)).toBe(Number(gid));
    seen.groups += 1;
  }
  expect(names.userName(0)).toBe('root');
  expect(names.groupName(0)).toBe('root');
  expect(Math.min(seen.users, seen.groups)).toBeGreaterThan(0);
});

it('has no answer for who does not exist, however often it is asked', () => {
  const names = ownerNames();
  for (let round = 0; round < 2; round += 1) {
    expect(names.userName(3_999_999_999)).toBeUndefined();
    expect(names.groupName(3_999_999_999)).toBeUndefined();
    expect(names.userId('no such user, surely')).toBeUndefined();
    expect(names.groupId('no such group, surely')).toBeUndefined();
    expect(names.userId('')).toBeUndefined();
    expect(names.userId('root\0x')).toBeUndefined();
  }
});

function fieldsOf(path: string): string[][] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => /^[^#:]+:[^:]*:\d+:/.test(line)).map((line) => line.split(':'));
}
