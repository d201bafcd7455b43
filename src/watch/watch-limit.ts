/** Errors for sources that cannot be watched, in words that help the person. */
import { watch } from 'node:fs';
import { type ByteString } from '../base/byte-path.ts';
import { fsPath, pathText } from '../base/tree-path.ts';
import { causeText } from '../base/errno-words.ts';
import { errnoOf, StateError } from '../base/errors.ts';
import { libc } from '../system/libc.ts';
import { numberIn } from './event-pressure.ts';

const WATCHES = 'fs.inotify.max_user_watches';
const INSTANCES = 'fs.inotify.max_user_instances';
const LEAST_WATCHES = 524_288;
const LEAST_INSTANCES = 512;

/** The error for a source that cannot be watched, from the error of the native watcher or the system. */
export function watchError(root: ByteString, cause: unknown): StateError {
  const said = cause instanceof Error ? cause.message : String(cause);
  const code = errnoOf(cause);
  if (code === 'ENOSPC' || said.includes('No space left on device'))
    return watchLimit(root, WATCHES, LEAST_WATCHES, cause);
  if (code === 'EMFILE' || said.includes('Too many open files'))
    return watchLimit(root, INSTANCES, LEAST_INSTANCES, cause);
  return new StateError(
    'WATCH_FAILED',
    `Holdfast cannot watch ${pathText(root)} for changes: ${causeText(cause)}`,
    {
      hint: 'Scheduled backups continue and check every file. Holdfast tries again every hour.',
      cause,
    },
  );
}

/** The error for a directory whose name cannot be passed to the native watcher. */
export function notText(path: ByteString): StateError {
  return new StateError('WATCH_FAILED', `${pathText(path)} cannot be watched: its name is not valid UTF-8`, {
    hint: 'Scheduled backups continue and check every file.',
  });
}

function watchLimit(root: ByteString, setting: string, least: number, cause: unknown): StateError {
  const lowest = lowestOf(setting);
  const { name, now } = lowest ?? { name: setting, now: undefined };
  const wanted = Math.max(least, (now ?? 0) * 2);
  const what = setting === WATCHES ? 'directories' : 'programs';
  return new StateError(
    'WATCH_LIMIT',
    `${pathText(root)} cannot be watched: the system does not let this user watch more ${what}`,
    {
      hint:
        `Scheduled backups continue and check every file. To raise the limit, run: sudo sysctl -w ${name}=${wanted} ` +
        `(and write "${name}=${wanted}" to /etc/sysctl.d/60-holdfast.conf to keep it after a restart). ` +
        'Holdfast tries again once it is raised, and every hour.',
      details: { setting, wanted, ...(now === undefined ? {} : { now }) },
      cause,
    },
  );
}

/** The lowest limit that applies: a container with its own user namespace may have a lower one than the machine. */
function lowestOf(setting: string): { readonly name: string; readonly now: number } | undefined {
  const names = [setting, setting.replace('fs.inotify.max_user_', 'user.max_inotify_')];
  return names
    .flatMap((name) => {
      const now = numberIn(`/proc/sys/${name.replaceAll('.', '/')}`);
      return now === undefined ? [] : [{ name, now }];
    })
    .sort((a, b) => a.now - b.now)[0];
}

/** Whether the limit of this error has been raised since. */
export function isRaised(error: unknown): boolean {
  if (!isWatchLimit(error) || !(error instanceof StateError)) return false;
  const { setting, now: before } = error.details;
  const now = lowestOf(String(setting))?.now;
  return now !== undefined && typeof before === 'number' && now > before;
}

export function isWatchLimit(error: unknown): boolean {
  return error instanceof StateError && error.code === 'WATCH_LIMIT';
}

/** Checks that one more directory can be watched, as the native watcher does not report its failure. @throws {StateError} */
export function tryToWatch(root: ByteString, path: ByteString): void {
  try {
    watch(fsPath(path), { persistent: false }).close();
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOSPC') throw watchError(root, error);
    if (code === undefined) throw error;
  }
}

/** Whether the system allows this user another event queue. Without one the native watcher would wait for ever. */
export function canOpenQueue(): boolean {
  if (libc?.platform.system !== 'linux') return true;
  const fd = libc.bind('inotify_init1', 'int', ['int'])(libc.platform.O_CLOEXEC);
  if (fd < 0) return false;
  libc.bind('close', 'int', ['int'])(fd);
  return true;
}
