/** Tells which files below a directory are opened, by whatever process: what the kernel reports, not what anybody claims. */
import { closeSync, readSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import koffi from 'koffi';
import { errnoOf } from '../../src/base/errors.ts';

const IN_OPEN = 0x20;
const IN_Q_OVERFLOW = 0x4000;
const IN_NONBLOCK = 0o4000;
const IN_CLOEXEC = 0o2000000;
const IN_ISDIR = 0x4000_0000;
const HEAD = 16;

export interface OpenCounter extends Disposable {
  /** How often each file was opened since the last time this was asked, by its path. */
  take(): ReadonlyMap<string, number>;
}

/** Directories that are made later are not seen. */
export function countOpens(root: string): OpenCounter {
  const library = koffi.load(null);
  const init = library.func('int inotify_init1(int flags)') as (flags: number) => number;
  const add = library.func('int inotify_add_watch(int fd, const char *path, uint32_t mask)') as (
    fd: number,
    path: string,
    mask: number,
  ) => number;
  const fd = init(IN_NONBLOCK | IN_CLOEXEC);
  if (fd < 0) throw new Error('inotify_init1 failed');
  const directories = new Map<number, string>();
  for (const directory of [root, ...directoriesBelow(root)]) {
    const watch = add(fd, directory, IN_OPEN);
    if (watch < 0) throw new Error(`inotify_add_watch failed for ${directory}`);
    directories.set(watch, directory);
  }
  return {
    take() {
      const opened = new Map<string, number>();
      for (const { watch, mask, name } of eventsOf(fd)) {
        if ((mask & IN_Q_OVERFLOW) !== 0) throw new Error('the kernel dropped events');
        if ((mask & IN_ISDIR) !== 0 || name === '') continue;
        const path = join(directories.get(watch) ?? '', name);
        opened.set(path, (opened.get(path) ?? 0) + 1);
      }
      return opened;
    },
    [Symbol.dispose]: () => closeSync(fd),
  };
}

function directoriesBelow(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name));
}

interface InotifyEvent {
  readonly watch: number;
  readonly mask: number;
  readonly name: string;
}

function* eventsOf(fd: number): Iterable<InotifyEvent> {
  const buffer = Buffer.alloc(65_536);
  for (;;) {
    const length = readNow(fd, buffer);
    if (length === 0) return;
    for (let at = 0; at < length;) {
      const nameLength = buffer.readUInt32LE(at + 12);
      const end = at + HEAD + nameLength;
      const name = buffer.toString('utf8', at + HEAD, end).replace(/\0+$/, '');
      yield { watch: buffer.readInt32LE(at), mask: buffer.readUInt32LE(at + 4), name };
      at = end;
    }
  }
}

/** 0 when nothing is there now. */
function readNow(fd: number, buffer: Buffer): number {
  try {
    return readSync(fd, buffer);
  } catch (error) {
    if (errnoOf(error) === 'EAGAIN') return 0;
    throw error;
  }
}
