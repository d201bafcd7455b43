import { closeSync, constants, openSync } from 'node:fs';
import { asByteString, fsPath, type ByteString } from '../base/byte-path.ts';
import { native, type Native } from '../system/native.ts';

/** The kernel takes paths of up to 4,095 bytes; longer ones are opened one directory after the other. */
const PATH_MAX = 4_096;

export function isLongPath(path: ByteString): boolean {
  return path.length >= PATH_MAX;
}

/** Opens an absolute path of any length. Close it with `closeSource`. */
export function openSource(path: ByteString, flags: number): number {
  if (!isLongPath(path)) return openSync(fsPath(path), flags);
  if (native === null)
    throw Object.assign(new Error('the path is too long'), { code: 'ENAMETOOLONG', syscall: 'open' });
  return openLong(native, path, flags);
}

/** Descriptors of long paths were opened behind Node's back and are closed there too. */
export function closeSource(path: ByteString, fd: number): void {
  if (native !== null && isLongPath(path)) native.close(fd);
  else closeSync(fd);
}

function openLong(calls: Native, path: ByteString, flags: number): number {
  const through = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(asByteString);
  let directory = calls.openat(calls.AT_FDCWD, asByteString('/'), through);
  try {
    for (const part of parts.slice(0, -1)) {
      const next = calls.openat(directory, part, through);
      calls.close(directory);
      directory = next;
    }
    return calls.openat(directory, parts.at(-1) ?? asByteString('.'), flags);
  } finally {
    calls.close(directory);
  }
}
