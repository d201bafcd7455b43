/**
 * Whether directories are still where they were: what they lie on may be unmounted, and they may be moved or removed.
 * The native watcher then no longer tells of what is in them and does not say so, and what comes back a moment later
 * looks as before.
 */
import { closeSync, readSync } from 'node:fs';
import type { ByteString } from '../base/byte-path.ts';
import { errnoOf } from '../base/errors.ts';
import { libc, type Libc } from '../system/libc.ts';
import { systemError } from '../system/system-error.ts';

const IN_DELETE_SELF = 0x400;
const IN_MOVE_SELF = 0x800;
/** Told of whatever is asked for. */
const IN_UNMOUNT = 0x2000;
const O_NONBLOCK = 0x800;
/** Bytes of an event without a name, as all of these are. */
const EVENT = 16;
const MASK_AT = 4;
const EVENTS_AT_ONCE = 64;

export type DirectoryEnd = 'unmounted' | 'moved';

export interface DirectoryEnds extends Disposable {
  /** What has happened to one of them since they were given, if anything has; a removed one was moved, too. */
  seen(): DirectoryEnd | undefined;
}

/** Those that are not there are left out. Where the system tells of no ends, none is seen. @throws ENOSPC, EMFILE */
export function endsOf(paths: readonly ByteString[]): DirectoryEnds {
  if (libc?.platform.system !== 'linux') return { seen: () => undefined, [Symbol.dispose]: () => undefined };
  const queue = openQueue(libc, paths);
  const events = Buffer.alloc(EVENTS_AT_ONCE * EVENT);
  let isOpen = true;
  let end: DirectoryEnd | undefined;
  return {
    seen() {
      for (let length = isOpen ? readFrom(queue, events) : 0; length > 0; length = readFrom(queue, events)) {
        end ??= 'moved';
        for (let at = 0; at < length; at += EVENT)
          if ((events.readUInt32LE(at + MASK_AT) & IN_UNMOUNT) !== 0) end = 'unmounted';
      }
      return end;
    },
    [Symbol.dispose]() {
      if (isOpen) closeSync(queue);
      isOpen = false;
    },
  };
}

function openQueue(system: Libc, paths: readonly ByteString[]): number {
  const add = system.bind('inotify_add_watch', 'int', ['int', 'buffer', 'uint32_t']);
  const queue = system.bind('inotify_init1', 'int', ['int'])(system.platform.O_CLOEXEC | O_NONBLOCK);
  if (queue < 0) throw systemError('inotify_init1', system.errno());
  for (const path of paths) {
    if (add(queue, Buffer.from(`${path}\0`, 'latin1'), IN_DELETE_SELF | IN_MOVE_SELF) >= 0) continue;
    const error = systemError('inotify_add_watch', system.errno(), path);
    if (errnoOf(error) !== 'ENOSPC') continue;
    closeSync(queue);
    throw error;
  }
  return queue;
}

function readFrom(queue: number, events: Buffer): number {
  try {
    return readSync(queue, events);
  } catch (error) {
    if (errnoOf(error) === 'EAGAIN') return 0;
    throw error;
  }
}
