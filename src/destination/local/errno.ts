/** What the errors of a file system mean for a destination: one table from errno to kind, hint and retry. */
import { allowWriteCommand, runsAsService } from '../../base/allow-write.ts';
import { causeText } from '../../base/errno-words.ts';
import { DestinationError, errnoOf, isAbort } from '../../base/errors.ts';
import type { DestinationKind, Retry } from '../../base/errors.ts';
import { cannot } from '../failed-action.ts';
import { otherOwnerHint } from './other-owner.ts';

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
  readonly retry: Retry;
  readonly hint: string;
  /** Where the words for every file (src/base/errno-words.ts) do not fit a destination. */
  readonly what: string | undefined;
}

function meaning(kind: DestinationKind, retry: Retry, hint: string, what?: string): Meaning {
  return { kind, retry, hint, what };
}

const freeSpace = 'Free up some space on the destination, or choose another one.';
const permissions = 'Check who owns the directory, its permissions, and who runs the backup.';
const connected = 'Check that the drive or share is connected and mounted.';
const hardware =
  'The drive may be failing: check it, its cable and the system log, and do not rely on its contents.';
const readOnly =
  'Mount it with write access. If it became read-only unexpectedly, the disk may be failing: check the system log.';
const directoryWanted = 'Use a directory, and keep other files out of it.';
const otherFileSystem = 'Use another file system.';
const fileLimit = 'Lift the limit on the size of files (ulimit -f), or use another file system.';

const full = meaning('full', 'later', freeSpace);
const denied = meaning('denied', 'never', permissions);
const misplaced = meaning('unsupported', 'never', directoryWanted);
const incapable = meaning('unsupported', 'never', otherFileSystem);
const broken = meaning('unreachable', 'later', hardware, 'the drive or share reported an error');
const away = meaning('unreachable', 'later', connected, 'the drive or share does not answer');
const busy = meaning('unreachable', 'now', 'Try again, or raise the limit.');

/**
 * EEXIST is not `exists` here: it also comes from creating a directory where a file is. Only the code that
 * publishes an object knows that an object has the key.
 */
const meanings: Readonly<Record<string, Meaning>> = {
  ENOSPC: full,
  EDQUOT: full,
  EACCES: denied,
  EPERM: denied,
  EROFS: meaning('denied', 'never', readOnly),
  ENOENT: meaning('not-found', 'never', connected, 'it does not exist'),
  ENOTDIR: misplaced,
  EISDIR: misplaced,
  EEXIST: misplaced,
  ELOOP: meaning('unsupported', 'never', 'Remove the link.', 'its symbolic links form a loop'),
  ENAMETOOLONG: meaning('unsupported', 'never', 'Choose a directory with a shorter path.'),
  EFBIG: meaning(
    'unsupported',
    'never',
    fileLimit,
    'the file is larger than the file system or a limit allows',
  ),
  EINVAL: incapable,
  ENOTSUP: incapable,
  EOPNOTSUPP: incapable,
  ENOSYS: incapable,
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
  const { kind, retry, hint, what } = meanings[errno] ?? broken;
  const call = cannot(action.op, action.directory, action.key);
  const words = what === undefined ? causeText(error) : `${what} (${errno})`;
  return new DestinationError(kind, `${call}: ${words}`, {
    op: action.op,
    hint: hintOf(errno, hint, error, action),
    retry,
    details: { errno, directory: action.directory, ...(action.key === undefined ? {} : { key: action.key }) },
    cause: error,
  });
}

function hintOf(errno: string, usual: string, error: unknown, action: FileAction): string {
  if (errno === 'EROFS') return `${usual}${whereServiceMayWrite(action)}`;
  if (errno !== 'EACCES' && errno !== 'EPERM') return usual;
  const named: unknown = error instanceof Error ? Reflect.get(error, 'path') : undefined;
  const { directory, key } = action;
  const denied = typeof named === 'string' ? named : key === undefined ? undefined : `${directory}/${key}`;
  return otherOwnerHint(directory, denied) ?? usual;
}

/** A hint for services, as the service's unit makes file systems read-only that are mounted writable. */
function whereServiceMayWrite({ directory }: FileAction): string {
  return runsAsService()
    ? ` If it is, allow the service to write there: ${allowWriteCommand(directory)}`
    : '';
}
