/** The one place that turns the errors of the operating system into words for people. */
import { errnoOf, HoldfastError } from './errors.ts';

/** Each continues a sentence about a file, a place or a program: "Cannot write /srv/a: …". */
const WORDS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'the system does not allow it',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space left',
  EDQUOT: 'the disk quota is used up',
  ENOENT: 'no such file or directory',
  ENOTDIR: 'a file is where a directory should be',
  EISDIR: 'a directory is where a file should be',
  EEXIST: 'something with that name already exists',
  ENOTEMPTY: 'the directory is not empty',
  ELOOP: 'a symbolic link is in the way',
  ENAMETOOLONG: 'the path is too long',
  EFBIG: 'it is larger than the file system or a limit (ulimit -f) allows',
  EMLINK: 'the file system does not allow more names for one file',
  EXDEV: 'it is on another file system',
  EIO: 'the drive or share reported an error',
  ENXIO: 'the device is not connected',
  ENODEV: 'the device is not connected',
  ESTALE: 'the network share no longer knows it',
  EINVAL: 'the file system or system refuses it',
  ENOTSUP: 'the file system or system does not support it',
  EOPNOTSUPP: 'the file system or system does not support it',
  ENOSYS: 'the file system or system does not support it',
  EBUSY: 'another program is using it',
  ETXTBSY: 'the program is running',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  ENOMEM: 'there is not enough memory',
  EAGAIN: 'the system is too busy',
  EINTR: 'the system was interrupted',
  E2BIG: 'the command line is too long',
  ENOEXEC: 'it is not a program',
  EPIPE: 'the other side closed the connection',
  ECONNRESET: 'the other side closed the connection',
  ECONNREFUSED: 'the connection was refused',
  ENOTCONN: 'the drive or share does not answer',
  ETIMEDOUT: 'no answer in time',
  EHOSTDOWN: 'the host does not answer',
  EHOSTUNREACH: 'no route leads to the host',
  ENETUNREACH: 'no route leads to the network',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be looked up',
  EADDRINUSE: 'another program uses the address',
  EADDRNOTAVAIL: 'this computer does not have the address',
};

/** Calls that the system refuses with EPERM for what is protected, even to root, or belongs to somebody else. */
const CHANGES: ReadonlySet<string> = new Set(
  'open openat openat2 ftruncate truncate mkdir mkdirat rename renameat renameat2 unlink unlinkat rmdir'.split(
    ' ',
  ),
);

const PROTECTION: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  linux: 'it or its directory is protected against changes (chattr +i or +a; lsattr shows it)',
  darwin: 'it or its directory is protected against changes (chflags; ls -lO shows it)',
};

/** What EPERM of such a call means; undefined for other errors, and where a system has no such protection. */
function protectedText(error: Error, code: string, platform = process.platform): string | undefined {
  const { syscall } = error as NodeJS.ErrnoException;
  if (code !== 'EPERM' || syscall === undefined || !CHANGES.has(syscall)) return undefined;
  const text = PROTECTION[platform];
  return text === undefined ? undefined : `${text}, or the system does not allow it (EPERM)`;
}

/** `permission denied (EACCES)`; a code without words alone. */
export function errnoText(code: string): string {
  return Object.hasOwn(WORDS, code) ? `${WORDS[code]} (${code})` : code;
}

/**
 * What went wrong, for people: `permission denied (EACCES)`. What the system says is only used where Holdfast has no
 * words of its own. An error of another kind is described by its message.
 */
export function causeText(error: unknown): string {
  const code = errnoOf(error) ?? '';
  if (isRaw(error, code)) {
    const known = protectedText(error, code) ?? errnoText(code);
    return Object.hasOwn(WORDS, code) ? known : rawText(error, code);
  }
  if (error instanceof Error && error.message !== '') return error.message;
  if (code !== '') return errnoText(code);
  return typeof error === 'string' && error !== '' ? error : 'unknown error';
}

/** Whether the system failed a call, as Node.js and src/system/libc.ts tell it: such an error has the system's number. */
function isRaw(error: unknown, code: string): error is Error {
  if (!(error instanceof Error) || error instanceof HoldfastError || !/^E[A-Z0-9_]+$/.test(code))
    return false;
  return typeof (error as NodeJS.ErrnoException).errno === 'number';
}

/** `text file busy (EWHAT)` of `EWHAT: text file busy, open '/a'`. */
function rawText({ message }: Error, code: string): string {
  const [, text] = /^[^:]+: ([^,]+)/.exec(message) ?? [];
  return text === undefined ? code : `${text} (${code})`;
}

/** The same with the place that the system names: `/srv/a: permission denied (EACCES)`. */
export function placedCauseText(error: unknown): string {
  const text = causeText(error);
  const code = errnoOf(error) ?? '';
  if (!isRaw(error, code)) return text;
  const place = placeOf(error, code);
  return place === '' ? text : `${place}: ${text}`;
}

/** The path of a call, or the address after the code: `connect ECONNREFUSED 10.0.0.2:22`. */
function placeOf(error: Error, code: string): string {
  const { path, dest } = error as { readonly path?: unknown; readonly dest?: unknown };
  if (typeof path === 'string') return typeof dest === 'string' ? `${path} -> ${dest}` : path;
  const [, after = ''] = error.message.split(`${code} `);
  return after.trim();
}
