/** Who may use a file of Windows, from what the system keeps for it. The lists are those of a Windows 11. */
import { expect, test } from 'vitest';
import {
  AccessListError,
  opennessOf,
  parseAccessList,
  privateDescriptor,
} from '../../../src/base/access-list.ts';
import { problemOf } from '../../../src/base/private-files.ts';

const ANN = 'S-1-5-21-1004336348-1177238915-682003330-1001';
const BEN = 'S-1-5-21-1004336348-1177238915-682003330-1002';
const [SYSTEM, ADMINS, USERS, SIGNED_IN] = ['S-1-5-18', 'S-1-5-32-544', 'S-1-5-32-545', 'S-1-5-11'];
const SERVICE = 'S-1-5-80-1330843935-4026354752-656021322-1287684443-3323034567';
const [FULL, MODIFY, READ, WRITE_DAC] = [0x1f_01ff, 0x13_01bf, 0x12_00a9, 0x4_0000];

interface Entry {
  readonly who: string;
  readonly mask: number;
  readonly type?: number;
  readonly flags?: number;
}

const allow = (who: string, mask: number, type = 0): Entry => ({ who, mask, type });

function sid(text: string): Buffer {
  const [, revision = '', authority = '', ...parts] = text.split('-');
  const bytes = Buffer.alloc(8 + 4 * parts.length);
  bytes.writeUInt8(Number(revision), 0);
  bytes.writeUInt8(parts.length, 1);
  bytes.writeUIntBE(Number(authority), 2, 6);
  for (const [index, part] of parts.entries()) bytes.writeUInt32LE(Number(part), 8 + 4 * index);
  return bytes;
}

function entry({ who, mask, type = 0, flags = 0 }: Entry): Buffer {
  const isOfObject = type === 0x05;
  const head = Buffer.alloc(isOfObject ? 12 + 16 : 8);
  head.writeUInt8(type, 0);
  head.writeUInt8(flags, 1);
  head.writeUInt32LE(mask, 4);
  if (isOfObject) head.writeUInt32LE(1, 8);
  const bytes = Buffer.concat([head, sid(who)]);
  bytes.writeUInt16LE(bytes.length, 2);
  return bytes;
}

function descriptor(owner: string, entries: readonly Entry[] | undefined): Buffer {
  const list = Buffer.concat([Buffer.alloc(8), ...(entries ?? []).map(entry)]);
  list.writeUInt8(2, 0);
  list.writeUInt16LE(list.length, 2);
  list.writeUInt16LE(entries?.length ?? 0, 4);
  const named = sid(owner);
  const head = Buffer.alloc(20);
  head.writeUInt8(1, 0);
  head.writeUInt16LE(0x8004, 2);
  head.writeUInt32LE(20, 4);
  head.writeUInt32LE(entries === undefined ? 0 : 20 + named.length, 16);
  return Buffer.concat([head, named, ...(entries === undefined ? [] : [list])]);
}

const judged = (owner: string, entries: readonly Entry[] | undefined): unknown =>
  opennessOf(parseAccessList(descriptor(owner, entries)), ANN);
const CLOSED = { foreignOwner: undefined, readers: [], changers: [] };

test('what lies in the profile of a user is private', () => {
  const own = [allow(SYSTEM, FULL), allow(ADMINS, FULL), allow(ANN, FULL)];
  expect(judged(ANN, own)).toEqual(CLOSED);
  // An elevated process makes files of the administrators.
  expect(judged(ADMINS, own)).toEqual(CLOSED);
});

test('the state of the service is private for whoever administers it', () => {
  expect(judged(SERVICE, [allow(SYSTEM, FULL), allow(ADMINS, FULL), allow(SERVICE, MODIFY)])).toEqual(CLOSED);
});

test('a new folder on a second drive is open to all who sign in', () => {
  const usual = [allow(ADMINS, FULL), allow(SYSTEM, FULL), allow(SIGNED_IN, MODIFY), allow(USERS, READ)];
  expect(judged(ANN, usual)).toEqual({
    foreignOwner: undefined,
    readers: [SIGNED_IN, USERS],
    changers: [SIGNED_IN],
  });
});

test.each([
  ['of another owner', judged(BEN, [allow(ANN, FULL)]), { ...CLOSED, foreignOwner: BEN }],
  ['without a list', judged(ANN, undefined), { ...CLOSED, readers: ['S-1-1-0'], changers: ['S-1-1-0'] }],
  ['with an empty list', judged(ANN, []), CLOSED],
  ['whose list others may change', judged(ANN, [allow(BEN, WRITE_DAC)]), { ...CLOSED, changers: [BEN] }],
  ['readable under a condition', judged(ANN, [allow(BEN, READ, 0x09)]), { ...CLOSED, readers: [BEN] }],
  ['readable by an entry for objects', judged(ANN, [allow(BEN, READ, 0x05)]), { ...CLOSED, readers: [BEN] }],
  ['which denies somebody', judged(ANN, [allow(BEN, FULL, 0x01)]), CLOSED],
  [
    'with generic rights',
    judged(ANN, [allow(BEN, 0x8000_0000), allow(USERS, 0x1000_0000)]),
    { ...CLOSED, readers: [BEN, USERS], changers: [USERS] },
  ],
  [
    'for its maker, its owner and the sandboxes of its user',
    judged(ANN, [
      { ...allow('S-1-3-0', FULL), flags: 0x0b },
      allow('S-1-3-4', FULL),
      allow('S-1-15-2-1', READ),
      allow('S-1-15-3-1024-1', READ),
    ]),
    CLOSED,
  ],
])('a file %s', (_what, found, wanted) => {
  expect(found).toEqual(wanted);
});

test('half a descriptor is an error, not a private file', () => {
  const whole = descriptor(ANN, [allow(BEN, FULL)]);
  for (let length = 0; length < whole.length; length += 1)
    expect(() => parseAccessList(whole.subarray(0, length))).toThrow(AccessListError);
});

test('what is told names whom, and the command that closes it', () => {
  const open = { foreignOwner: undefined, readers: [SIGNED_IN, USERS], changers: [SIGNED_IN] };
  expect(problemOf(String.raw`D:\hold fast`, 'directory', open, ANN)).toEqual({
    kind: 'changed',
    text: 'can be changed by others (all users who have signed in)',
    command: String.raw`icacls "D:\hold fast" /inheritance:r /grant:r "*S-1-5-18:(OI)(CI)F" "*S-1-5-32-544:(OI)(CI)F" "*${ANN}:(OI)(CI)F" /remove:g "*S-1-5-11" "*S-1-5-32-545"`,
  });
  expect(problemOf('D:\\k', 'file', { ...open, changers: [] }, ANN)).toMatchObject({
    kind: 'read',
    text: 'can be read by others (all users who have signed in, all users of this machine)',
  });
  expect(problemOf('D:\\k', 'file', { ...CLOSED, foreignOwner: BEN }, ANN)?.command).toMatch(
    /^icacls "D:\\k" \/setowner "\*S-1-5-21-[\d-]+-1001", and icacls/,
  );
  expect(problemOf('D:\\k', 'file', CLOSED, ANN)).toBeUndefined();
});

test('what is made is for its user, the system and the administrators', () => {
  expect(privateDescriptor(ANN, 'file')).toBe(`D:P(A;;FA;;;SY)(A;;FA;;;BA)(A;;FA;;;${ANN})`);
  expect(privateDescriptor(ANN, 'directory')).toBe(`D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;${ANN})`);
});
