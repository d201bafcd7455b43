/**
 * Whether directories are still where they were: what they lie on may be unmounted, and they may be moved or removed.
 * The native watcher then no longer tells of what is in them and does not say so, and what comes back a moment later
 * looks as before.
 */
import { closeSync, readSync } from 'node:fs';
import type { ByteString } from '../base/byte-path.ts';
import { errnoOf } from '../base/errors.ts';
import { libc, type Libc } from '../system/libc.ts';

const IN_DELETE_SELF = 0x400;
const IN_MOVE_SELF = 0x800;
/** Told of whatever is asked for. */
const IN_UNMOUNT = 0x2000;
const O_NONBLOCK = 0x800;
/** Bytes of an event without a name, as all of these are: number of the watch, mask, two fields that say nothing here. */
const EVENT = 16;
const MASK_AT = 4;
const EVENTS_AT_ONCE = 64;

export type DirectoryEnd = 'unmounted' | 'moved';

export interface DirectoryEnds extends Disposable {
  /** What has happened to one of them since they were given, if anything has; a removed one was moved, too. */
  seen(): DirectoryEnd | undefined;
  /** False where nothing would be seen. */
  readonly isWatching: boolean;
}

/**
 * Those that are not there are left out. None of them is ever seen where the system does not tell, or gives no more
 * watches: whoever asks then has what a look now and then can show.
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

/** All of this process: the system gives each user few of them. */
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
  /** By their numbers, of which a directory has one, however often it is asked for. */
  readonly #watches = new Map<number, Set<Ends>>();
  #isOpen = true;

  private constructor(system: Libc, fd: number) {
    this.#fd = fd;
    this.#addWatch = system.bind('inotify_add_watch', 'int', ['int', 'buffer', 'uint32_t']);
    this.#removeWatch = system.bind('inotify_rm_watch', 'int', ['int', 'int']);
  }

  /** Undefined when the system gives none. */
  static open(system: Libc): Queue | undefined {
    const fd = system.bind('inotify_init1', 'int', ['int'])(system.platform.O_CLOEXEC | O_NONBLOCK);
    return fd < 0 ? undefined : new Queue(system, fd);
  }

  /** Undefined when it is not there, or the system gives no more of them. */
  add(path: ByteString, ends: Ends): number | undefined {
    // What has happened until now is not about what is there now.
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
