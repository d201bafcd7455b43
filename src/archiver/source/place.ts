/**
 * A directory of a source, held open. Everything asked about its entries is asked relative to this descriptor, and
 * about the very entry that was looked at, even if something else is put at the path of either meanwhile.
 */
import { constants, readlinkSync } from 'node:fs';
import { asByteString, joinBytes, type ByteString } from '../../base/byte-path.ts';
import { fsPath } from '../../base/tree-path.ts';
import { errnoOf } from '../../base/errors.ts';
import type { OmittedKind } from '../../format/omission.ts';
import type { Xattr } from '../../format/tree.ts';
import { native, type Native } from '../../system/native.ts';
import { O_PATH } from '../../system/platform.ts';
import type { XattrTarget } from '../../system/xattr.ts';
import { refuseHung } from './hung-mounts.ts';
import { isNotAsMet, isSameOrAsOpen, replacedError } from './same-entry.ts';
import { closeSource, openSource } from './open.ts';
import { statPath } from './stat.ts';
import { capturedXattrs, unreadXattrs } from './xattrs.ts';
import type { EntryStat } from '../../system/entry-stat.ts';

/** Flags for holding the directory: this needs no permission to read it, just as looking at a path needs none. */
const HELD =
  (process.platform === 'linux' ? O_PATH : constants.O_RDONLY) | constants.O_DIRECTORY | constants.O_NOFOLLOW;

const ITSELF = asByteString('');
/** Looking up this name fails exactly where looking up any name in the directory would. */
const DOT = asByteString('.');

export class SourcePlace implements Disposable {
  readonly path: ByteString;
  readonly #seen: EntryStat | undefined;
  #fd: number | undefined;
  #lent: number | undefined;
  /** The error for everything in the directory, once known, so that it is not asked again for each name. */
  #refusal: unknown;

  /** @param seen the directory as seen from the one above it; undefined if nobody has looked */
  constructor(path: ByteString, seen: EntryStat | undefined) {
    this.path = path;
    this.#seen = seen;
  }

  /**
   * Undefined when there is no such entry. Links are not followed.
   * @throws a system error; REPLACED if another directory has taken the place of this one
   */
  stat(name: ByteString): EntryStat | undefined {
    const path = joinBytes(this.path, name);
    refuseHung(path);
    if (native !== null) return native.findEntry(this.#open(native), name);
    const stat = statPath(path);
    this.itself();
    return stat;
  }

  /**
   * The directory as it is now.
   * @throws as `stat` does for any entry in it
   */
  itself(): EntryStat {
    refuseHung(this.path);
    if (native !== null) return native.fstat(this.#open(native));
    const stat = statPath(this.path);
    if (stat === undefined || (this.#seen !== undefined && stat.ino !== this.#seen.ino))
      throw replacedError(this.path);
    return stat;
  }

  /** The target of the link that was looked at. */
  linkTarget(name: ByteString, seen: EntryStat): ByteString {
    const path = joinBytes(this.path, name);
    if (native === null) return asByteString(readlinkSync(fsPath(path), 'latin1'));
    const calls = native;
    return this.#withEntry(calls, name, seen, (fd) =>
      fd === undefined ? calls.readlinkat(this.#open(calls), name) : calls.readlinkat(fd, ITSELF),
    );
  }

  /** The extended attributes of the entry that was looked at. */
  xattrs(
    name: ByteString,
    seen: EntryStat,
    read: (target: XattrTarget) => readonly Xattr[] | undefined,
  ): readonly Xattr[] | undefined {
    if (native === null) return undefined;
    const calls = native;
    return this.#withEntry(calls, name, seen, (fd) =>
      read(fd === undefined ? { dirFd: this.#open(calls), name } : { held: fd, name }),
    );
  }

  /** Lends a descriptor of the same directory that is open anyway; it is used until another one or none is lent. */
  lend(fd: number | undefined): void {
    this.#lent = fd;
  }

  [Symbol.dispose](): void {
    if (this.#fd !== undefined) closeSource(this.path, this.#fd);
    this.#fd = undefined;
    this.#refusal = undefined;
  }

  #open(calls: Native): number {
    const open = this.#lent ?? this.#fd;
    if (open !== undefined) return open;
    if (this.#refusal !== undefined) throw this.#refusal;
    try {
      this.#fd = this.#openAsMet(calls);
      return this.#fd;
    } catch (error) {
      if (errnoOf(error) !== undefined && !isNotAsMet(error)) this.#refusal = error;
      throw error;
    }
  }

  #openAsMet(calls: Native): number {
    const fd = openSource(this.path, HELD);
    try {
      if (this.#seen !== undefined && !isSameOrAsOpen(fd, calls.fstat(fd), this.#seen))
        throw replacedError(this.path);
      calls.lstatat(fd, DOT);
      return fd;
    } catch (error) {
      closeSource(this.path, fd);
      throw error;
    }
  }

  /** @param act gets undefined where entries cannot be held open: it then finds the entry by name in the directory */
  #withEntry<T>(calls: Native, name: ByteString, seen: EntryStat, act: (fd: number | undefined) => T): T {
    const directory = this.#open(calls);
    if (process.platform !== 'linux') return act(undefined);
    const fd = calls.openat(directory, name, O_PATH | constants.O_NOFOLLOW);
    try {
      if (!isSameOrAsOpen(fd, calls.fstat(fd), seen)) throw replacedError(name);
      return act(fd);
    } finally {
      calls.close(fd);
    }
  }
}

/**
 * All readable extended attributes of an entry that was looked at. `omit` is called for those that cannot be read.
 * @param isLastLook do not throw if something else has taken the entry's place either, but omit its attributes
 */
export function placedXattrs(
  place: SourcePlace,
  name: ByteString,
  seen: EntryStat,
  omit: (what: OmittedKind) => void,
  isLastLook = true,
): readonly Xattr[] | undefined {
  try {
    return place.xattrs(name, seen, (target) => capturedXattrs(target, omit));
  } catch (error) {
    if (isNotAsMet(error) && !isLastLook) throw error;
    omit(unreadXattrs(error));
    return undefined;
  }
}
