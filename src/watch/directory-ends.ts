/**
 * Detects that watched directories are not at their place any more: their file system was unmounted, or they were moved
 * or removed. The native watcher then stops reporting changes in them without saying so, and a directory that is back a
 * moment later looks the same as before.
 */
import { closeSync, readSync } from 'node:fs';
import type { ByteString } from '../base/byte-path.ts';
import { errnoOf } from '../base/errors.ts';
import { libc, type Libc } from '../system/libc.ts';

const IN_DELETE_SELF = 0x400;
const IN_MOVE_SELF = 0x800;
/** Reported without being asked for. */
const IN_UNMOUNT = 0x2000;
const O_NONBLOCK = 0x800;
/** Bytes of an event without a name, which all of these are: watch number, mask, and two fields that are not used here. */
const EVENT = 16;
const MASK_AT = 4;
const EVENTS_AT_ONCE = 64;

export type DirectoryEnd = 'unmounted' | 'moved';

export interface DirectoryEnds extends Disposable {
  /** What has happened to one of the directories since the object was made, if anything. A removed directory counts as moved. */
  seen(): DirectoryEnd | undefined;
  /** False when nothing would be detected. */
  readonly isWatching: boolean;
}

/**
 * Watches directories; missing ones are left out. Nothing is detected on other systems, or when the system gives no
 * more watches: then the caller has to rely on periodic checks.
 */
export function endsOf(paths: readonly ByteString[]): DirectoryEnds {
  if (libc?.platform.system !== 'linux') return NOTHING_SEEN;
  queue ??= Queue.open(libc);
  return new Ends(paths, queue);
}

const NOTHING_SEEN: DirectoryEnds = {
  isWatching: true,
  seen: () => undefined,
  [Symbol.dispose]: () => undefined,
};

/** One queue for the whole process, as the system allows each user only a few. */
let queue: Queue | undefined;

class Ends implements DirectoryEnds {
  readonly #queue: Queue | undefined;
  readonly #watches = new Set<number>();
  #end: DirectoryEnd | undefined;

  constructor(paths: readonly ByteString[], from: Queue | undefined) {
    this.#queue = from;
    for (const path of paths) {
      const watch = from?.add(path, this);
      if (watch !== undefined) this.#watches.add(watch);
    }
  }

  get isWatching(): boolean {
    return this.#watches.size > 0;
  }

  seen(): DirectoryEnd | undefined {
    this.#queue?.read();
    return this.#end;
  }

  tell(end: DirectoryEnd): void {
    if (this.#end !== 'unmounted') this.#end = end;
  }

  [Symbol.dispose](): void {
    for (const watch of this.#watches) this.#queue?.remove(watch, this);
    this.#watches.clear();
  }
}

class Queue {
  readonly #fd: number;
  readonly #addWatch: (fd: number, path: Buffer, mask: number) => number;
  readonly #removeWatch: (fd: number, watch: number) => number;
  readonly #events = Buffer.alloc(EVENTS_AT_ONCE * EVENT);
  /** By watch number. A directory has one number, however often it is watched. */
  readonly #watches = new Map<number, Set<Ends>>();
  #isOpen = true;

  private constructor(system: Libc, fd: number) {
    this.#fd = fd;
    this.#addWatch = system.bind('inotify_add_watch', 'int', ['int', 'buffer', 'uint32_t']);
    this.#removeWatch = system.bind('inotify_rm_watch', 'int', ['int', 'int']);
  }

  /** Undefined when the system allows no further queue. */
  static open(system: Libc): Queue | undefined {
    const fd = system.bind('inotify_init1', 'int', ['int'])(system.platform.O_CLOEXEC | O_NONBLOCK);
    return fd < 0 ? undefined : new Queue(system, fd);
  }

  /** Undefined when the directory is missing, or the system gives no more watches. */
  add(path: ByteString, ends: Ends): number | undefined {
    // Events so far concern what was at this path before.
    this.read();
    const watch = this.#addWatch(this.#fd, Buffer.from(`${path}\0`, 'latin1'), IN_DELETE_SELF | IN_MOVE_SELF);
    if (watch < 0) return undefined;
    const known = this.#watches.get(watch);
    if (known === undefined) this.#watches.set(watch, new Set([ends]));
    else known.add(ends);
    return watch;
  }

  remove(watch: number, ends: Ends): void {
    this.read();
    const known = this.#watches.get(watch);
    if (known?.delete(ends) !== true || known.size > 0) return;
    this.#watches.delete(watch);
    this.#removeWatch(this.#fd, watch);
    if (this.#watches.size > 0) return;
    closeSync(this.#fd);
    this.#isOpen = false;
    if (queue === this) queue = undefined;
  }

  read(): void {
    for (let length = this.#isOpen ? this.#next() : 0; length > 0; length = this.#next())
      for (let at = 0; at < length; at += EVENT)
        this.#tell(this.#events.readInt32LE(at), this.#events.readUInt32LE(at + MASK_AT));
  }

  #tell(watch: number, mask: number): void {
    const known = this.#watches.get(watch) ?? [];
    if ((mask & IN_UNMOUNT) !== 0) for (const ends of known) ends.tell('unmounted');
    if ((mask & (IN_DELETE_SELF | IN_MOVE_SELF)) !== 0) for (const ends of known) ends.tell('moved');
  }

  #next(): number {
    try {
      return readSync(this.#fd, this.#events);
    } catch (error) {
      if (errnoOf(error) === 'EAGAIN') return 0;
      throw error;
    }
  }
}
