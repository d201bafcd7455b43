/** The C functions for extended attributes, in one form for Linux and macOS. */

import type { Libc } from './libc.ts';
import { XATTR_NOFOLLOW } from './platform.ts';

/**
 * `target` is the address of a path, or a descriptor. `name` and `out` are addresses. Returns lengths, or -1; a size of
 * 0 asks for the length only.
 */
export interface XattrCalls {
  list(target: number, out: number, size: number): number;
  get(target: number, name: number, out: number, size: number): number;
  set(target: number, name: number, value: Buffer): number;
  remove(target: number, name: number): number;
}

export interface XattrCallsByTarget {
  /** Links are not followed. */
  readonly byPath: XattrCalls;
  readonly byFd: XattrCalls;
  /** Links are followed. */
  readonly byFollowedPath: XattrCalls;
}

export function bindXattrCalls(libc: Libc): XattrCallsByTarget {
  return libc.platform.system === 'linux'
    ? {
        byPath: linuxCalls(libc, 'l', 'address'),
        byFd: linuxCalls(libc, 'f', 'int'),
        byFollowedPath: linuxCalls(libc, '', 'address'),
      }
    : {
        byPath: darwinCalls(libc, '', 'address', XATTR_NOFOLLOW),
        byFd: darwinCalls(libc, 'f', 'int', 0),
        byFollowedPath: darwinCalls(libc, '', 'address', 0),
      };
}

function linuxCalls(libc: Libc, prefix: 'l' | 'f' | '', target: 'address' | 'int'): XattrCalls {
  const set = libc.bind(`${prefix}setxattr`, 'int', [target, 'address', 'buffer', 'size_t', 'int']);
  return {
    list: libc.bind(`${prefix}listxattr`, 'int64_t', [target, 'address', 'size_t']),
    get: libc.bind(`${prefix}getxattr`, 'int64_t', [target, 'address', 'address', 'size_t']),
    set: (target, name, value) => set(target, name, value, value.length, 0),
    remove: libc.bind(`${prefix}removexattr`, 'int', [target, 'address']),
  };
}

/** macOS has a single set of functions for paths with a flag not to follow links, and positions for resource forks. */
function darwinCalls(libc: Libc, prefix: '' | 'f', target: 'address' | 'int', options: number): XattrCalls {
  const list = libc.bind(`${prefix}listxattr`, 'int64_t', [target, 'address', 'size_t', 'int']);
  const getTypes = [target, 'address', 'address', 'size_t', 'uint32_t', 'int'] as const;
  const get = libc.bind(`${prefix}getxattr`, 'int64_t', getTypes);
  const setTypes = [target, 'address', 'buffer', 'size_t', 'uint32_t', 'int'] as const;
  const set = libc.bind(`${prefix}setxattr`, 'int', setTypes);
  const remove = libc.bind(`${prefix}removexattr`, 'int', [target, 'address', 'int']);
  return {
    list: (target, out, size) => list(target, out, size, options),
    get: (target, name, out, size) => get(target, name, out, size, 0, options),
    set: (target, name, value) => set(target, name, value, value.length, 0, options),
    remove: (target, name) => remove(target, name, options),
  };
}
