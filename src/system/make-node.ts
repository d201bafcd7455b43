/** Binds `mknodat`, under the name that this C library has for it. */

import { constants } from 'node:os';
import type { Libc } from './libc.ts';

/** Returns the errno, or 0. `name` is an address. */
export type MakeNode = (dirFd: number, name: number, mode: number, device: bigint) => number;

export function bindMakeNode(libc: Libc): MakeNode {
  if (libc.has('mknodat')) {
    const deviceType = libc.platform.system === 'linux' ? 'uint64_t' : 'uint32_t';
    const mknodat = libc.bind('mknodat', 'int', ['int', 'address', 'uint32_t', deviceType]);
    return (dirFd, name, mode, device) => (mknodat(dirFd, name, mode, device) < 0 ? libc.errno() : 0);
  }
  // glibc before 2.33 has mknodat only as an inline function around this one; 0 is the version that its headers pass
  if (libc.platform.system === 'linux' && libc.has('__xmknodat')) {
    const xmknodat = libc.bind('__xmknodat', 'int', ['int', 'int', 'address', 'uint32_t', 'address']);
    const { bytes, address } = libc.memory(8);
    return (dirFd, name, mode, device) => {
      bytes.writeBigUInt64LE(device);
      return xmknodat(0, dirFd, name, mode, address) < 0 ? libc.errno() : 0;
    };
  }
  return () => constants.errno.ENOSYS;
}
