/** Tells when a file changes, by watching its directory: editors replace files, and a watch on a file ends with it. */
import { watch } from 'chokidar';
import { basename, dirname, resolve } from 'node:path';
import { StateError, errnoOf } from '../base/errors.ts';

function notWatched(file: string, cause: unknown): StateError {
  return new StateError(
    'WATCH_FAILED',
    `Changes of ${file} are not noticed at once, but within half a minute`,
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
 * Calls `onChange` after every change of the file, its mode and its coming and going included, perhaps more often.
 * `onError` is told when changes may be missed. The directory need not exist.
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
    // The state database lies in the same directory and is written all the time.
    ignored: (candidate) => candidate !== directory && candidate !== path,
  });
  watcher.on('all', () => onChange());
  // A changed mode or owner is no change of the content, and is told in this way only.
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
