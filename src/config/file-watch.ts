/**
 * Notices changes of a file by watching its directory: editors replace files, and a watch on the file would end with
 * it.
 */
import { watch } from 'chokidar';
import { basename, dirname, resolve } from 'node:path';
import { StateError, errnoOf } from '../base/errors.ts';

function notWatched(file: string, cause: unknown): StateError {
  return new StateError(
    'WATCH_FAILED',
    `Holdfast notices changes to ${file} within half a minute, not at once`,
    {
      details: { reason: errnoOf(cause) ?? 'unknown' },
      cause,
    },
  );
}

export interface FileWatch {
  close(): Promise<void>;
}

/**
 * Calls `onChange` after every change of the file, including its mode, creation and removal, and possibly more often.
 * Calls `onError` when changes may be missed. The directory need not exist.
 */
export async function watchFile(
  file: string,
  onChange: () => void,
  onError: (error: Error) => void,
): Promise<FileWatch> {
  const path = resolve(file);
  const directory = dirname(path);
  const watcher = watch(directory, {
    depth: 0,
    ignoreInitial: true,
    followSymlinks: false,
    // The state database is in the same directory and is written to all the time.
    ignored: (candidate) => candidate !== directory && candidate !== path,
  });
  watcher.on('all', () => onChange());
  // Changes of mode or owner are reported only by this event, as they do not change the content.
  watcher.on('raw', (_event, name) => {
    if (name === null || basename(name) === basename(path)) onChange();
  });
  watcher.on('error', (cause) => onError(notWatched(file, cause)));
  await new Promise<void>((done) => {
    watcher.once('ready', () => done());
    watcher.once('error', () => done());
  });
  return {
    async close() {
      await watcher.close();
    },
  };
}
