/** The account of a service of Windows, and the rights of an account on this machine. */
import { createHash } from 'node:crypto';
import { StateError } from '../base/errors.ts';
import { loadKoffi } from '../base/windows-access.ts';

/** The identifier of `NT SERVICE\NAME`, which the system makes of the name: it is the same on every machine. */
export function serviceSid(name: string): string {
  const hash = createHash('sha1').update(name.toUpperCase(), 'utf16le').digest();
  return `S-1-5-80-${[0, 4, 8, 12, 16].map((at) => hash.readUInt32LE(at)).join('-')}`;
}

/** An identifier in the form that the system takes. */
export function sidBytes(sid: string): Buffer {
  const [, revision = '', authority = '', ...parts] = sid.split('-');
  const bytes = Buffer.allocUnsafeSlow(256).fill(0);
  bytes.writeUInt8(Number(revision), 0);
  bytes.writeUInt8(parts.length, 1);
  bytes.writeUIntBE(Number(authority), 2, 6);
  for (const [index, part] of parts.entries()) bytes.writeUInt32LE(Number(part), 8 + 4 * index);
  return bytes;
}

const POLICY_CREATE_ACCOUNT = 0x10;
const POLICY_LOOKUP_NAMES = 0x800;
const STATUS_OBJECT_NAME_NOT_FOUND = 0xc000_0034;

/** Gives or takes a right, as in `SeBackupPrivilege`. For administrators. @throws {StateError} */
export function changeAccountRight(sid: string, right: string, change: 'give' | 'take'): void {
  const koffi = loadKoffi();
  const advapi = koffi.load('advapi32.dll');
  const open = advapi.func('uint32 LsaOpenPolicy(intptr, void *, uint32, _Out_ intptr *)');
  const add = advapi.func('uint32 LsaAddAccountRights(intptr, void *, void *, uint32)');
  const remove = advapi.func('uint32 LsaRemoveAccountRights(intptr, void *, uint8, void *, uint32)');
  const close = advapi.func('uint32 LsaClose(intptr)');

  const attributes = Buffer.allocUnsafeSlow(256).fill(0);
  attributes.writeUInt32LE(48, 0);
  const policy: [number] = [0];
  const opened = open(0, attributes, POLICY_CREATE_ACCOUNT | POLICY_LOOKUP_NAMES, policy);
  if (opened !== 0) throw refused(right, opened);
  try {
    const text = Buffer.from(`${right}\0`, 'utf16le');
    const held = Buffer.allocUnsafeSlow(256).fill(0);
    text.copy(held);
    // A LSA_UNICODE_STRING: length, room, and where it is.
    const name = Buffer.allocUnsafeSlow(256).fill(0);
    name.writeUInt16LE(text.length - 2, 0);
    name.writeUInt16LE(text.length, 2);
    name.writeBigUInt64LE(koffi.address(held), 8);
    const status =
      change === 'give'
        ? add(policy[0], sidBytes(sid), name, 1)
        : remove(policy[0], sidBytes(sid), 0, name, 1);
    const hadNone = change === 'take' && status === STATUS_OBJECT_NAME_NOT_FOUND;
    if (status !== 0 && !hadNone) throw refused(right, status);
  } finally {
    close(policy[0]);
  }
}

function refused(right: string, status: number): StateError {
  const code = `0x${status.toString(16)}`;
  return new StateError('FORBIDDEN', `The right ${right} cannot be granted or revoked (${code})`, {
    hint: 'Run the command in a terminal that was opened with "Run as administrator".',
  });
}

/** Folders whose place a variable of the environment would tell as well, but anybody can set those for a command. */
const FOLDERS = {
  programs: '{6D809377-6AF0-444B-8957-A3773F02200E}',
  data: '{62AB5D82-FDC1-4DC3-A9DD-070D1D495D97}',
  system: '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}',
} as const;

export type WindowsFolder = keyof typeof FOLDERS;

/** `%ProgramFiles%`, `%ProgramData%` or System32, from the system itself. */
export function windowsFolder(folder: WindowsFolder): string {
  const koffi = loadKoffi();
  const ask = koffi
    .load('shell32.dll')
    .func('uint32 SHGetKnownFolderPath(void *, uint32, intptr, _Out_ intptr *)');
  const free = koffi.load('ole32.dll').func('void CoTaskMemFree(intptr)');
  const found: [number] = [0];
  const status = ask(guidBytes(FOLDERS[folder]), 0, 0, found);
  try {
    if (status === 0 && found[0] !== 0) return String(koffi.decode(BigInt(found[0]), 'char16_t', -1));
  } finally {
    free(found[0]);
  }
  throw new StateError('READ_ERROR', `Windows does not say where its folder "${folder}" is`, {
    hint: 'Check whether Windows itself is in order.',
  });
}

/** The first three parts are numbers, in the order of the machine; the rest are bytes. */
export function guidBytes(text: string): Buffer {
  const hex = Buffer.from(text.replaceAll(/[{}-]/g, ''), 'hex');
  const bytes = Buffer.allocUnsafeSlow(256).fill(0);
  hex.copy(bytes);
  bytes.writeUInt32LE(hex.readUInt32BE(0), 0);
  bytes.writeUInt16LE(hex.readUInt16BE(4), 4);
  bytes.writeUInt16LE(hex.readUInt16BE(6), 6);
  return bytes;
}
