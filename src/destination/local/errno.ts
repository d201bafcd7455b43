/** What the errors of a file system mean for a destination: one table from errno to kind, hint and retry. */
import { allowWriteCommand, runsAsService } from '../../base/allow-write.ts';
import { DestinationError, errnoOf, isAbort } from '../../base/errors.ts';
import type { DestinationKind, Retry } from '../../base/errors.ts';
import { cannot } from '../failed-action.ts';

/** The call that failed, for the message. */
export interface FileAction {
  /** As a verb: "store", "read". */
  readonly op: string;
  /** Absolute path of the destination's directory. */
  readonly directory: string;
  readonly key?: string;
}

interface Meaning {
  readonly kind: DestinationKind;
  readonly what: string;
  readonly hint: string;
  readonly retry: Retry;
}

function meaning(kind: DestinationKind, retry: Retry, what: string, hint: string): Meaning {
  return { kind, retry, what, hint };
}

const freeSpace = 'Free up some space on the destination, or choose another one.';
const permissions = 'Check who owns the directory, its permissions, and who runs the backup.';
const connected = 'Check that the drive or share is connected and mounted.';
const hardware =
  'The drive may be failing: check it, its cable and the system log, and do not rely on its contents.';
const directoryWanted = 'Use a directory, and keep other files out of it.';

const gone = meaning('not-found', 'never', 'it does not exist', connected);
const broken = meaning('unreachable', 'later', 'the drive or share reported an error', hardware);
const away = meaning('unreachable', 'later', 'the drive or share does not answer', connected);
const busy = meaning('unreachable', 'now', 'the system is too busy', 'Try again, or raise the limit.');

/**
 * EEXIST is not `exists` here: it also comes from creating a directory where a file is. Only the code that
 * publishes an object knows that an object has the key.
 */
const meanings: Readonly<Record<string, Meaning>> = {
  ENOSPC: meaning('full', 'later', 'no space left', freeSpace),
  EDQUOT: meaning('full', 'later', 'the disk quota is used up', freeSpace),
  EACCES: meaning('denied', 'never', 'permission denied', permissions),
  EPERM: meaning('denied', 'never', 'operation not permitted', permissions),
  EROFS: meaning(
    'denied',
    'never',
    'the file system is read-only',
    'Mount it with write access. If it became read-only unexpectedly, the disk may be failing: check the system log.',
  ),
  ENOENT: gone,
  ENOTDIR: meaning('unsupported', 'never', 'a file is where a directory should be', directoryWanted),
  EISDIR: meaning('unsupported', 'never', 'a directory is where a file should be', directoryWanted),
  EEXIST: meaning('unsupported', 'never', 'something else has that name', directoryWanted),
  ELOOP: meaning('unsupported', 'never', 'its symbolic links form a loop', 'Remove the link.'),
  ENAMETOOLONG: meaning(
    'unsupported',
    'never',
    'the path is too long',
    'Choose a directory with a shorter path.',
  ),
  EFBIG: meaning(
    'unsupported',
    'never',
    'the file system does not support files this large',
    'Use another file system.',
  ),
  EINVAL: meaning('unsupported', 'never', 'the file system refuses the call', 'Use another file system.'),
  ENOTSUP: meaning('unsupported', 'never', 'the file system cannot do this', 'Use another file system.'),
  EOPNOTSUPP: meaning('unsupported', 'never', 'the file system cannot do this', 'Use another file system.'),
  ENOSYS: meaning('unsupported', 'never', 'the file system cannot do this', 'Use another file system.'),
  EIO: broken,
  ENXIO: broken,
  ENODEV: away,
  ESTALE: away,
  ENOTCONN: away,
  ETIMEDOUT: away,
  EHOSTDOWN: away,
  EHOSTUNREACH: away,
  ECONNRESET: away,
  EMFILE: busy,
  ENFILE: busy,
  ENOMEM: busy,
  EAGAIN: busy,
  EBUSY: busy,
  EINTR: busy,
};

const errnoName = /^E[A-Z0-9]+$/;

/**
 * The error to throw for `error`: a DestinationError when it came from the file system (an unknown errno counts as
 * `unreachable`). An abort, a DestinationError and a programming error are returned as they are.
 */
export function storageError(error: unknown, action: FileAction): unknown {
  const errno = errnoOf(error);
  if (errno === undefined || !errnoName.test(errno)) return error;
  if (error instanceof DestinationError || isAbort(error)) return error;
  const { kind, retry, what, hint } = meanings[errno] ?? broken;
  const call = cannot(action.op, action.directory, action.key);
  return new DestinationError(kind, `${call}: ${what} (${errno})`, {
    op: action.op,
    hint: errno === 'EROFS' ? `${hint}${whereServiceMayWrite(action)}` : hint,
    retry,
    details: { errno, directory: action.directory, ...(action.key === undefined ? {} : { key: action.key }) },
    cause: error,
  });
}

/** A hint for services, as the service's unit makes file systems read-only that are mounted writable. */
function whereServiceMayWrite({ directory }: FileAction): string {
  return runsAsService()
    ? ` If it is, allow the service to write there: ${allowWriteCommand(directory)}`
    : '';
}
