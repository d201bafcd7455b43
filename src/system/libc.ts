/**
 * Access to the C library through koffi. Each thread that imports this file has its
 * own bindings, `errno` and memory, so nothing is shared between threads.
 */
import { constants } from 'node:os';
import { getSystemErrorMap } from 'node:util';
import type { LibraryHandle } from 'koffi';
import { type ByteString, textOfBytes } from '../base/byte-path.ts';
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

/** Characters that a byte string for a C function must not contain: the zero byte, and anything that is not a byte. */
const notInCString = /[\0\u0100-\uffff]/;

/**
 * Writes byte strings as zero-terminated C strings into reusable memory. Creates a function that writes paths into
 * memory of its own and returns the address, valid until the next call. It takes 45 ns for a name of 20 bytes. It
 * throws ENAMETOOLONG as the kernel would, and ERR_INVALID_ARG_VALUE for a zero byte, which would silently cut the name
 * short.
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

/**
 * Code and text of every error number. Later entries take precedence: first numbers without a text in libuv, then
 * libuv's own, then those where libuv's would mislead. Built once, since Node makes a new map for each call.
 */
const errors: ReadonlyMap<number, CodeAndText> = new Map<number, CodeAndText>([
  ...Object.entries(constants.errno).map(([code, errno]) => [errno, [code, 'unknown error']] as const),
  ...Array.from(getSystemErrorMap(), ([errno, codeAndText]) => [-errno, codeAndText] as const),
  [constants.errno.ENOTSUP, ['ENOTSUP', 'operation not supported']],
  ...namesOfDarwin(),
]);

type CodeAndText = readonly [code: string, text: string];

function namesOfDarwin(): (readonly [number, CodeAndText])[] {
  const platform = platformTable();
  return platform?.system === 'darwin' ? [[platform.ENOATTR, ['ENOATTR', 'attribute not found']]] : [];
}

/**
 * Turns failed system calls into errors of the same form as those of `node:fs`. `errno` is the C library's positive
 * number; the error carries it as a negative one, as Node's errors do.
 */
export function systemError(
  syscall: string,
  errno: number,
  path?: ByteString,
  dest?: ByteString,
): NodeJS.ErrnoException {
  const [code, text] = errors.get(errno) ?? [`errno ${errno}`, 'unknown error'];
  const names = [path, dest].filter((name) => name !== undefined).map((name) => `'${textOfBytes(name)}'`);
  const error: NodeJS.ErrnoException & { dest?: string } = new Error(
    `${code}: ${text}, ${[syscall, names.join(' -> ')].join(' ').trim()}`,
  );
  error.errno = -errno;
  error.code = code;
  error.syscall = syscall;
  if (path !== undefined) error.path = textOfBytes(path);
  if (dest !== undefined) error.dest = textOfBytes(dest);
  return error;
}
