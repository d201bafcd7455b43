/** Turns failed system calls into errors of the same form as those of `node:fs`. */

import { constants } from 'node:os';
import { getSystemErrorMap } from 'node:util';
import { textOfBytes, type ByteString } from '../base/byte-path.ts';
import { platformTable } from './platform.ts';

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

/** `errno` is the C library's positive number; the error carries it as a negative one, as Node's errors do. */
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
