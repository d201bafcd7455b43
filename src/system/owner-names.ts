/**
 * Names of users and groups from the system's directory services (files, LDAP and others), or from /etc/passwd and
 * /etc/group where `libc` is null. Lookups may use the network, so answers are remembered.
 */

import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { errnoOf } from '../base/errors.ts';
import { libc, type Libc } from './libc.ts';

/** `undefined` means that no user or group has that id or name, or that the directory service did not answer. */
export interface OwnerNames {
  userName(uid: number): string | undefined;
  groupName(gid: number): string | undefined;
  userId(name: string): number | undefined;
  groupId(name: string): number | undefined;
}

/** Each question is asked only once in the lifetime of the result. */
export function ownerNames(): OwnerNames {
  const [users, groups] = directories ?? [fileLookup('/etc/passwd'), fileLookup('/etc/group')];
  return {
    userName: remembered(users.nameOf),
    groupName: remembered(groups.nameOf),
    userId: remembered(users.idOf),
    groupId: remembered(groups.idOf),
  };
}

interface Lookup {
  readonly nameOf: (id: number) => string | undefined;
  readonly idOf: (name: string) => number | undefined;
}

function remembered<Key, Answer>(ask: (key: Key) => Answer | undefined): (key: Key) => Answer | undefined {
  const answers = new Map<Key, Answer | undefined>();
  return (key) => {
    if (!answers.has(key)) answers.set(key, ask(key));
    return answers.get(key);
  };
}

const directories: readonly [Lookup, Lookup] | null =
  libc === null
    ? null
    : [directoryLookup(libc, 'getpwuid_r', 'getpwnam_r'), directoryLookup(libc, 'getgrgid_r', 'getgrnam_r')];

/** The most bytes of a record: enough for the names in a group with thousands of members. */
const largestRecord = 16 * 1024 * 1024;

/**
 * `struct passwd` and `struct group` both begin with pointers to name and password and then the id, on Linux and macOS.
 * The functions ending in `_r` write into the caller's memory, so threads do not interfere.
 */
function directoryLookup(libc: Libc, byIdName: string, byNameName: string): Lookup {
  const rest = ['address', 'address', 'size_t', 'address'] as const;
  const byId = libc.bind(byIdName, 'int', ['uint32_t', ...rest]);
  const byName = libc.bind(byNameName, 'int', ['buffer', ...rest]);
  const record = libc.memory(256);
  const result = libc.memory(8);
  let texts = libc.memory(4096);

  /** True when `record` holds the answer. */
  function ask(call: (texts: number, size: number) => number): boolean {
    for (;;) {
      const errno = call(texts.address, texts.bytes.length);
      if (errno === constants.errno.ERANGE && texts.bytes.length < largestRecord) {
        texts = libc.memory(texts.bytes.length * 4);
      } else if (errno !== constants.errno.EINTR) {
        return errno === 0 && result.bytes.readBigUInt64LE(0) !== 0n;
      }
    }
  }

  return {
    nameOf(id) {
      const found = ask((address, size) => byId(id, record.address, address, size, result.address));
      if (!found) return undefined;
      const start = Number(record.bytes.readBigUInt64LE(0)) - texts.address;
      return texts.bytes.toString('utf8', start, texts.bytes.indexOf(0, start));
    },
    idOf(name) {
      // cut off at the zero byte it would be another name
      if (name.includes('\0')) return undefined;
      const bytes = Buffer.from(`${name}\0`, 'utf8');
      const found = ask((address, size) => byName(bytes, record.address, address, size, result.address));
      return found ? record.bytes.readUInt32LE(16) : undefined;
    },
  };
}

/** In both files the first field is the name and the third the id. The first of several lines applies. */
function fileLookup(path: string): Lookup {
  const names = new Map<number, string>();
  const ids = new Map<string, number>();
  for (const line of linesOf(path)) {
    const [name = '', , id = ''] = line.split(':');
    if (name === '' || name.startsWith('#') || !/^\d+$/.test(id)) continue;
    if (!names.has(Number(id))) names.set(Number(id), name);
    if (!ids.has(name)) ids.set(name, Number(id));
  }
  return { nameOf: (id) => names.get(id), idOf: (name) => ids.get(name) };
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch (error) {
    // Windows has neither file, and a container may lack them
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}
