/**
 * Lists the names in an open directory. Node accepts only paths, and macOS's /dev/fd provides those for files alone.
 */

import { constants } from 'node:fs';
import { asByteString, type ByteString } from '../base/byte-path.ts';
import type { Libc } from './libc.ts';
import { systemError } from './system-error.ts';

/** @param cutShort called with the error when the remaining names cannot be read; without it the error is thrown */
export type ListDirectory = (dirFd: number, cutShort?: (error: Error) => void) => ByteString[];

/** NAME_MAX is 255 bytes; macOS reserves 1,024. */
const longestName = 1024;

export function bindListDirectory(
  libc: Libc,
  openat: (dirFd: number, name: ByteString, flags: number) => number,
): ListDirectory {
  const { inode64Suffix, direntName } = libc.platform;
  const fdopendir = libc.bind(`fdopendir${inode64Suffix}`, 'address', ['int']);
  const readdir = libc.bind(`readdir${inode64Suffix}`, 'address', ['address']);
  const closedir = libc.bind('closedir', 'int', ['address']);
  const close = libc.bind('close', 'int', ['int']);
  // copies up to and including the first byte equal to `last`; returns the address after it
  const memccpy = libc.bind('memccpy', 'address', ['address', 'address', 'int', 'size_t']);
  const name = libc.memory(longestName);

  return (dirFd, cutShort) => {
    // opened again, since the stream takes over its descriptor and moves its position
    const fd = openat(dirFd, asByteString('.'), constants.O_RDONLY | constants.O_DIRECTORY);
    const stream = fdopendir(fd);
    if (stream === 0) {
      const errno = libc.errno();
      close(fd);
      throw systemError('fdopendir', errno);
    }
    const names: ByteString[] = [];
    try {
      for (;;) {
        libc.clearErrno();
        const entry = readdir(stream);
        if (entry === 0) break;
        const end = memccpy(name.address, entry + direntName, 0, longestName);
        const text = name.bytes.toString('latin1', 0, end - name.address - 1);
        if (text !== '.' && text !== '..') names.push(asByteString(text));
      }
      const errno = libc.errno();
      if (errno !== 0) {
        const error = systemError('readdir', errno);
        if (cutShort === undefined) throw error;
        cutShort(error);
      }
    } finally {
      closedir(stream);
    }
    return names;
  };
}
