import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { fsPath, type ByteString } from '../base/byte-path.ts';
import { errnoOf } from '../base/errors.ts';

const ABSENT = new Set(['ENOENT', 'ELOOP', 'EISDIR', 'ENXIO', 'ENOTDIR']);

/** The first `limit` bytes of a regular file that holds exclude rules; undefined when it is gone or something else. */
export function readRuleFile(path: ByteString, limit: number): Uint8Array | undefined {
  let fd: number;
  try {
    fd = openSync(fsPath(path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (ABSENT.has(errnoOf(error) ?? '')) return undefined;
    throw error;
  }
  try {
    if (!fstatSync(fd).isFile()) return undefined;
    const buffer = Buffer.allocUnsafe(limit);
    let length = 0;
    while (length < limit) {
      const got = readSync(fd, buffer, length, limit - length, length);
      if (got === 0) break;
      length += got;
    }
    return buffer.subarray(0, length);
  } finally {
    closeSync(fd);
  }
}
