/**
 * Reads and sets who may use a file on Windows, where modes say nothing. The calls are those of the system's libraries,
 * through koffi, which is loaded when the first of them is needed.
 */
import { createRequire } from 'node:module';
import { toNamespacedPath } from 'node:path';
import { BugError, StateError } from './errors.ts';
import { parseAccessList, privateDescriptor, sidAt, type AccessList } from './access-list.ts';

type Koffi = typeof import('koffi');

interface WindowsAccess {
  /** Of a path, behind links; of an open file, by its descriptor. @throws {StateError} READ_ERROR */
  accessList(file: string | number): AccessList;
  /** The user that this process runs as. */
  readonly user: string;
  /** Makes it with its permissions from the first moment on. False when something of the name is there already. */
  create(path: string, kind: 'file' | 'directory', descriptor: string): boolean;
  /** Replaces who may use it, of that entry alone. */
  permit(path: string, descriptor: string): void;
}

/** The owner and the list. */
const OWNER_AND_LIST = 0x1 | 0x4;
/** The list, and that nothing of the directory above is added to it. */
const OWN_LIST = 0x8000_0004;
const ERROR_INSUFFICIENT_BUFFER = 122;
const ERROR_FILE_EXISTS = 80;
const ERROR_ALREADY_EXISTS = 183;
const GENERIC_WRITE = 0x4000_0000;
const CREATE_NEW = 1;
const TOKEN_QUERY = 0x8;
const TOKEN_USER = 1;

let opened: WindowsAccess | undefined;

/** @throws {StateError} UNSUPPORTED when koffi cannot be loaded */
export function windowsAccess(): WindowsAccess {
  opened ??= throughKoffi(loadKoffi());
  return opened;
}

/** @throws {StateError} UNSUPPORTED */
export function loadKoffi(): Koffi {
  try {
    const load: (name: string) => Koffi = createRequire(import.meta.url);
    return load('koffi');
  } catch (cause) {
    throw new StateError('UNSUPPORTED', 'File permissions cannot be read or set on this machine', {
      hint: 'The package koffi cannot be loaded: reinstall Holdfast.',
      cause,
    });
  }
}

function throughKoffi(koffi: Koffi): WindowsAccess {
  const advapi = koffi.load('advapi32.dll');
  const kernel = koffi.load('kernel32.dll');
  const node = koffi.load(null);
  const getFileSecurity = advapi.func('int GetFileSecurityW(str16, uint32, void *, uint32, _Out_ uint32 *)');
  const getKernelObjectSecurity = advapi.func(
    'int GetKernelObjectSecurity(intptr, uint32, void *, uint32, _Out_ uint32 *)',
  );
  const setFileSecurity = advapi.func('int SetFileSecurityW(str16, uint32, intptr)');
  const fromText = advapi.func(
    'int ConvertStringSecurityDescriptorToSecurityDescriptorW(str16, uint32, _Out_ intptr *, void *)',
  );
  const openProcessToken = advapi.func('int OpenProcessToken(intptr, uint32, _Out_ intptr *)');
  const getTokenInformation = advapi.func(
    'int GetTokenInformation(intptr, int, void *, uint32, _Out_ uint32 *)',
  );
  const localFree = kernel.func('intptr LocalFree(intptr)');
  const getLastError = kernel.func('uint32 GetLastError()');
  const closeHandle = kernel.func('int CloseHandle(intptr)');
  const createDirectory = kernel.func('int CreateDirectoryW(str16, void *)');
  const createFile = kernel.func('intptr CreateFileW(str16, uint32, uint32, void *, uint32, uint32, intptr)');
  const osHandle = node.func('intptr uv_get_osfhandle(int)');

  /** Security attributes and what they point to, as long as `use` runs. */
  function withDescriptor<T>(text: string, use: (descriptor: number) => T): T {
    const out: [number] = [0];
    if (fromText(text, 1, out, null) === 0)
      throw new BugError(`No security descriptor: ${text} (${getLastError()})`);
    try {
      return use(out[0]);
    } finally {
      localFree(out[0]);
    }
  }

  function userOfProcess(): string {
    const token: [number] = [0];
    // -1 is this process.
    if (openProcessToken(-1, TOKEN_QUERY, token) === 0)
      throw new BugError(`The token of this process cannot be opened (${getLastError()})`);
    try {
      const bytes = Buffer.allocUnsafeSlow(512);
      if (getTokenInformation(token[0], TOKEN_USER, bytes, bytes.length, [0]) === 0)
        throw new BugError(`The user of this process cannot be asked (${getLastError()})`);
      // A pointer to the identifier, which lies behind it in the same bytes.
      return sidAt(bytes, Number(bytes.readBigUInt64LE(0) - koffi.address(bytes)));
    } finally {
      closeHandle(token[0]);
    }
  }

  return {
    user: userOfProcess(),
    accessList(file) {
      let bytes = Buffer.allocUnsafeSlow(1024);
      for (;;) {
        const needed: [number] = [0];
        const done =
          typeof file === 'string'
            ? getFileSecurity(toNamespacedPath(file), OWNER_AND_LIST, bytes, bytes.length, needed)
            : getKernelObjectSecurity(osHandle(file), OWNER_AND_LIST, bytes, bytes.length, needed);
        if (done !== 0) return parseAccessList(bytes);
        const code = getLastError();
        if (code !== ERROR_INSUFFICIENT_BUFFER && needed[0] <= bytes.length) throw notAsked(file, code);
        bytes = Buffer.allocUnsafeSlow(Math.max(needed[0], bytes.length * 2));
      }
    },
    create(path, kind, text) {
      return withDescriptor(text, (descriptor) => {
        const attributes = securityAttributes(descriptor);
        const name = toNamespacedPath(path);
        const handle =
          kind === 'directory'
            ? createDirectory(name, attributes) === 0
              ? -1
              : undefined
            : createFile(name, GENERIC_WRITE, 0, attributes, CREATE_NEW, 0, 0);
        if (handle === undefined) return true;
        if (handle !== -1) {
          closeHandle(handle);
          return true;
        }
        const code = getLastError();
        if (code === ERROR_FILE_EXISTS || code === ERROR_ALREADY_EXISTS) return false;
        throw new StateError('WRITE_ERROR', `${path} cannot be created (Windows error ${code})`, {
          hint: 'Check that its directory exists and is writable.',
        });
      });
    },
    permit(path, text) {
      withDescriptor(text, (descriptor) => {
        if (setFileSecurity(toNamespacedPath(path), OWN_LIST, descriptor) !== 0) return;
        throw new StateError(
          'WRITE_ERROR',
          `The permissions of ${path} cannot be changed (Windows error ${getLastError()})`,
          { hint: 'Check that it belongs to you, and is on a disk that supports permissions (NTFS).' },
        );
      });
    },
  };
}

/** A SECURITY_ATTRIBUTES of 64 bits; not handed down to other processes. */
function securityAttributes(descriptor: number): Buffer {
  const bytes = Buffer.alloc(24);
  bytes.writeUInt32LE(24, 0);
  bytes.writeBigUInt64LE(BigInt(descriptor), 8);
  return bytes;
}

function notAsked(file: string | number, code: number): StateError {
  const name = typeof file === 'string' ? file : 'an open file';
  return new StateError('READ_ERROR', `The permissions of ${name} cannot be read (Windows error ${code})`, {
    hint: 'Check the disk, and that the user Holdfast runs as can read it.',
  });
}

/** For the user of this process, the system and the administrators. */
export function ownDescriptor(kind: 'file' | 'directory'): string {
  return privateDescriptor(windowsAccess().user, kind);
}
