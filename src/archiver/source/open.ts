import { closeSync, constants, openSync } from 'node:fs';
import { asByteString, type ByteString } from '../../base/byte-path.ts';
import { fsPath } from '../../base/tree-path.ts';
import { native, type Native } from '../../system/native.ts';

/** The kernel takes paths of up to 4,095 bytes. Longer ones are opened one directory after the other. */
const PATH_MAX = 4_096;
const THROUGH = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

export function isLongPath(path: ByteString): boolean {
  return path.length >= PATH_MAX;
}

/**
 * Whether `openSource` follows no link on the way to a file, even one put there meanwhile. Where the system cannot
 * guarantee that, callers have to compare what was opened with what was seen.
 */
export function opensWithoutLinks(path: ByteString): boolean {
  return isLongPath(path) || native?.openWithoutLinks !== undefined;
}

/** Opens an absolute path of any length. Close it with `closeSource`. */
export function openSource(path: ByteString, flags: number): number {
  if (isLongPath(path)) return openLong(nativeForLongPaths(), path, flags);
  return native?.openWithoutLinks?.(path, flags) ?? openSync(fsPath(path), flags);
}

/** Calls `act` with the opened directory and the name of an entry whose path is too long for one call. */
export function fromItsDirectory<T>(
  path: ByteString,
  act: (calls: Native, directory: number, name: ByteString) => T,
): T {
  const calls = nativeForLongPaths();
  const slash = path.lastIndexOf('/');
  const directory = openLong(calls, asByteString(path.slice(0, slash)), THROUGH);
  try {
    return act(calls, directory, asByteString(path.slice(slash + 1)));
  } finally {
    calls.close(directory);
  }
}

function nativeForLongPaths(): Native {
  if (native !== null) return native;
  throw Object.assign(new Error('the path is too long'), { code: 'ENAMETOOLONG', syscall: 'open' });
}

/** A descriptor that was opened without Node is also closed without it. */
export function closeSource(path: ByteString, fd: number): void {
  if (native !== null && opensWithoutLinks(path)) native.close(fd);
  else closeSync(fd);
}

function openLong(calls: Native, path: ByteString, flags: number): number {
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(asByteString);
  let directory = calls.openat(calls.AT_FDCWD, asByteString('/'), THROUGH);
  try {
    for (const part of parts.slice(0, -1)) {
      const next = calls.openat(directory, part, THROUGH);
      calls.close(directory);
      directory = next;
    }
    return calls.openat(directory, parts.at(-1) ?? asByteString('.'), flags);
  } finally {
    calls.close(directory);
  }
}
