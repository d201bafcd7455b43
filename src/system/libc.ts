/**
 * Access to the C library through koffi. Each thread that imports this file has its
 * own bindings, `errno` and memory, so nothing is shared between threads.
 */

import type { LibraryHandle } from 'koffi';
import { platformTable, type PlatformTable } from './platform.ts';

/** Bytes at a fixed address, to be passed to C functions. They live as long as `bytes` is referenced. */
export interface Memory {
  readonly bytes: Buffer;
  /** A plain number (addresses have at most 48 bits), which is cheaper to pass than a Buffer. */
  readonly address: number;
}

/** C types used here. */
export type CType =
  | 'int'
  | 'uint32_t'
  | 'uint64_t'
  | 'int64_t'
  | 'size_t'
  /** Any pointer, given as the number in `Memory.address`. */
  | 'address'
  /** A pointer to the bytes of a Buffer: slower, for data that is not worth copying. */
  | 'buffer'
  /** The end of a variadic function's list: one more argument, an int, preceded by its type. */
  | '...';

type Arguments<Parameters extends readonly CType[]> = Parameters extends readonly [
  infer First,
  ...infer Rest extends readonly CType[],
]
  ? First extends '...'
    ? [type: 'int', value: number]
    : [First extends 'buffer' ? Buffer : First extends 'uint64_t' ? bigint : number, ...Arguments<Rest>]
  : [];

/** Returns integers and addresses as numbers. */
export type CFunction<Parameters extends readonly CType[]> = (...values: Arguments<Parameters>) => number;

export interface Libc {
  readonly platform: PlatformTable;
  /** A C function as a JavaScript one. Throws when the C library does not have it. */
  bind<const Parameters extends readonly CType[]>(
    name: string,
    result: 'int' | 'int64_t' | 'address',
    parameters: Parameters,
  ): CFunction<Parameters>;
  has(name: string): boolean;
  memory(size: number): Memory;
  /**
   * The errno of the last failed call. Read it right after the call, before any other code of ours runs. V8's own work
   * (garbage collection) may run in between, and leaves it alone unless one of its system calls fails.
   */
  errno(): number;
  /** Needed before calls that distinguish a failure from the end by `errno` only. */
  clearErrno(): void;
}

async function openLibc(): Promise<Libc | string> {
  const platform = platformTable();
  if (platform === null) return `not offered on ${process.platform} (${process.arch})`;
  try {
    const koffi = await import('koffi');
    return libcThrough(koffi, koffi.load(null), platform);
  } catch (error) {
    return `koffi could not be loaded: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function libcThrough(koffi: typeof import('koffi'), library: LibraryHandle, platform: PlatformTable): Libc {
  const koffiType = (type: CType): string =>
    type === 'address' ? 'uintptr_t' : type === 'buffer' ? 'const void *' : type;
  return {
    platform,
    bind: (name, result, parameters) => library.func(name, koffiType(result), parameters.map(koffiType)),
    has(name) {
      try {
        library.symbol(name);
        return true;
      } catch {
        return false;
      }
    },
    memory(size) {
      // not from Node's shared pool, and never so small that the garbage collector could move it
      const bytes = Buffer.allocUnsafeSlow(Math.max(size, 256));
      return { bytes, address: Number(koffi.address(bytes)) };
    },
    errno: koffi.errno,
    clearErrno: () => void koffi.errno(0),
  };
}

const opened = await openLibc();

/** Null on Windows, and where koffi has no build for this system. */
export const libc: Libc | null = typeof opened === 'string' ? null : opened;
/** For messages: why `libc` is null; empty when it is available. */
export const libcMissing: string = typeof opened === 'string' ? opened : '';
