/** Byte strings as the zero-terminated strings C functions take, written to memory that is used again and again. */

import { constants } from 'node:os';
import type { ByteString } from '../base/byte-path.ts';
import type { Libc } from './libc.ts';
import { systemError } from './system-error.ts';

/** Characters no byte string for a C function may have: the zero byte, and whatever is not a byte. */
const notInCString = /[\0\u0100-\uffff]/;

/**
 * A writer of paths into memory of its own: returns the address, good until the next call. 45 ns for a name of 20
 * bytes. Throws ENAMETOOLONG as the kernel would, and ERR_INVALID_ARG_VALUE for a zero byte, which would silently cut
 * the name short.
 */
export function cStringWriter(libc: Libc): (text: ByteString, syscall: string) => number {
  const { bytes, address } = libc.memory(libc.platform.PATH_MAX);
  const limit = libc.platform.PATH_MAX;
  return (text, syscall) => {
    if (notInCString.test(text)) throw notABytePath(text, syscall);
    if (text.length >= limit) throw systemError(syscall, constants.errno.ENAMETOOLONG, text);
    bytes[bytes.write(text, 'latin1')] = 0;
    return address;
  };
}

function notABytePath(text: ByteString, syscall: string): Error {
  return Object.assign(new TypeError(`${syscall}: a name must be of bytes other than zero`), {
    code: 'ERR_INVALID_ARG_VALUE',
    syscall,
    path: text,
  });
}
