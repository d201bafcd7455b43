import { fchmodSync, fchownSync } from 'node:fs';
import type { ByteString } from '../../base/byte-path.ts';
import { causeText } from '../../base/errno-words.ts';
import { errnoOf } from '../../base/errors.ts';
import type { EntryMetadata, Xattr } from '../../format/tree.ts';
import type { EntryStat } from '../../system/entry-stat.ts';
import { listXattrs, removeXattr, writeXattr, type XattrTarget } from '../../system/xattr.ts';
import { RECORD, type EntryRecord } from '../target/entry-records.ts';
import { isFull } from '../target/entry-failure.ts';
import type { Omissions } from '../request/tally.ts';
import type { TargetDirectory } from '../target/target-directory.ts';

/** Which metadata is wanted and possible; the same for all threads of a restore. */
export interface MetadataPolicy {
  /** Owners, setuid and setgid bits, devices and privileged attributes are wanted, and this process may set them. */
  readonly privileged: boolean;
  /** Why they are not restored, for the report. */
  readonly unprivilegedBecause: string;
  /** The owner of what this process creates. */
  readonly uid: number;
  readonly gid: number;
  /** Users of the snapshot that have another number on this machine. */
  readonly users: ReadonlyMap<number, number>;
  readonly groups: ReadonlyMap<number, number>;
}

const SET_ID_BITS = 0o6000;
const ACCESS_ACL = 'system.posix_acl_access' as ByteString;
const DEFAULT_ACL = 'system.posix_acl_default' as ByteString;

/** The directory of the entry whose metadata is set, and its path for reports. */
interface Place {
  readonly directory: TargetDirectory;
  readonly path: () => ByteString;
}

/** Windows has no modes: what was set cannot be compared there. */
const TELLS_MODES = process.platform !== 'win32';
const PERMISSIONS = 0o7777;
/** The least difference in time that is reported: a millisecond. */
const NOTICED_NS = 1_000_000n;
/** FAT keeps times to two seconds. Beyond that it is another time. */
const OTHER_TIME_NS = 3_000_000_000n;
const LESS_EXACT = 'the file system stores times less precisely';
const NO_SUCH_TIME = 'the system cannot store a time so far in the past or future';

/** Which of these the system accepted. */
interface SetFacts {
  readonly owner: boolean;
  readonly times: boolean;
  readonly mode: boolean;
}

/** The fields of an entry that are set after its content. */
export type Facts = Pick<EntryMetadata, 'mode' | 'uid' | 'gid' | 'mtimeNs'>;

/**
 * Gives entries their owner, attributes, times and, last, their permissions, which until then say "unfinished". What the
 * system refuses is counted as an omission, and the entry is kept. Only the error that the target is full is thrown:
 * otherwise the entry would look finished, and later restores would leave it alone without what there was no room for.
 */
export class MetadataWriter {
  readonly #policy: MetadataPolicy;
  readonly #omissions: Omissions;
  /** Directories that existed before pass access lists on to what is created in them. */
  #inheritsAcls = false;

  constructor(policy: MetadataPolicy, omissions: Omissions) {
    this.#policy = policy;
    this.#omissions = omissions;
  }

  get inheritsAcls(): boolean {
    return this.#inheritsAcls;
  }

  /** Makes created entries lose the access lists that their snapshot versions do not have. */
  clearInheritedAcls(): void {
    this.#inheritsAcls = true;
  }

  /** @param existed the file existed before: attributes that the snapshot's version lacks are removed */
  file(
    directory: TargetDirectory,
    fd: number,
    record: EntryRecord,
    existed: boolean,
    path: () => ByteString,
  ): void {
    const { uid, gid } = record;
    const place = { directory, path };
    const owner = this.#owner(uid, gid, place, (user, group) => fchownSync(fd, user, group));
    if (record.hasXattrs || existed || this.#inheritsAcls) {
      this.#xattrs(fd, record.hasXattrs ? record.xattrs : [], existed, place);
    }
    const times = this.#times(place, () => directory.setFileTimes(fd, record.mtimeNs));
    const mode = this.#mode(record.mode, place, (bits) => fchmodSync(fd, bits));
    this.#requireKept(record, directory.fstat(fd), { owner, times, mode }, place);
  }

  directory(directory: TargetDirectory, record: EntryRecord, existed: boolean, path: () => ByteString): void {
    const { uid, gid } = record;
    const place = { directory, path };
    const owner = this.#owner(uid, gid, place, (user, group) => directory.setOwnOwner(user, group));
    if (record.hasXattrs || existed || this.#inheritsAcls) {
      this.#xattrs(directory.ownXattrs, record.hasXattrs ? record.xattrs : [], existed, place);
    }
    const times = this.#times(place, () => directory.setOwnTimes(record.mtimeNs));
    const mode = this.#mode(record.mode, place, (bits) => directory.setOwnMode(bits));
    this.#requireKept(record, directory.stat(), { owner, times, mode }, place);
  }

  /** Sets the metadata of a link, FIFO, socket or device by its name. */
  special(
    directory: TargetDirectory,
    name: ByteString,
    entry: EntryMetadata & { readonly type: string },
    path: () => ByteString,
  ): void {
    const { uid, gid, mode, xattrs, mtimeNs }: Facts & Pick<EntryMetadata, 'xattrs'> = entry;
    const place = { directory, path };
    this.#owner(uid, gid, place, (user, group) => directory.setOwner(name, user, group));
    if (xattrs !== undefined || (this.#inheritsAcls && entry.type !== 'symlink')) {
      this.#xattrs(directory.xattrsOf(name), xattrs ?? [], false, place);
    }
    this.#times(place, () => directory.setTimes(name, mtimeNs));
    // Linux has no permissions on links
    if (entry.type !== 'symlink') this.#mode(mode, place, (bits) => directory.setMode(name, bits));
  }

  get privileged(): boolean {
    return this.#policy.privileged;
  }

  get unprivilegedBecause(): string {
    return this.#policy.unprivilegedBecause;
  }

  /**
   * Reports metadata that was not kept: some file systems (FAT, NTFS, network shares) accept a change and silently keep
   * another value.
   */
  #requireKept(wanted: Facts, { mtimeNs, mode, uid, gid }: EntryStat, set: SetFacts, { path }: Place): void {
    const policy = this.#policy;
    const apart = mtimeNs > wanted.mtimeNs ? mtimeNs - wanted.mtimeNs : wanted.mtimeNs - mtimeNs;
    if (set.times && apart >= NOTICED_NS)
      this.#omissions.note('times', apart < OTHER_TIME_NS ? LESS_EXACT : NO_SUCH_TIME, path);
    if (!TELLS_MODES) return;
    if (set.mode && (mode & PERMISSIONS) !== (modeHere(policy, wanted.mode) & PERMISSIONS))
      this.#omissions.note('modes', 'the file system does not store such permissions', path);
    const here = ownerHere(policy, wanted);
    if (set.owner && policy.privileged && (uid !== here.uid || gid !== here.gid))
      this.#omissions.note('ownership', 'the file system does not store owners', path);
  }

  /** This and the following setters return whether the system accepted the value. */
  #owner(uid: number, gid: number, place: Place, set: (uid: number, gid: number) => void): boolean {
    const policy = this.#policy;
    if (!policy.privileged) {
      if (uid !== policy.uid || gid !== policy.gid)
        this.#omissions.note('ownership', policy.unprivilegedBecause, place.path);
      return false;
    }
    const here = ownerHere(policy, { uid, gid });
    return this.#attempt('ownership', place, () => set(here.uid, here.gid));
  }

  #mode(mode: number, place: Place, set: (mode: number) => void): boolean {
    const here = modeHere(this.#policy, mode);
    if (here !== mode) this.#omissions.note('setuid-bits', this.#policy.unprivilegedBecause, place.path);
    return this.#attempt('modes', place, () => set(here));
  }

  #times(place: Place, set: () => void): boolean {
    return this.#attempt('times', place, set);
  }

  #xattrs(target: XattrTarget, wanted: readonly Xattr[], existed: boolean, place: Place): void {
    if (existed) this.#removeOthers(target, wanted, place);
    else if (this.#inheritsAcls) this.#removeAcls(target, wanted, place);
    for (const { name, value } of wanted) {
      if (isPrivileged(name) && !this.#policy.privileged) {
        this.#omissions.note('privileged-xattrs', this.#policy.unprivilegedBecause, place.path);
        continue;
      }
      this.#attempt('xattrs', place, () => writeXattr(target, name, value));
    }
  }

  /** Removes attributes that the snapshot's version does not have. */
  #removeOthers(target: XattrTarget, wanted: readonly Xattr[], place: Place): void {
    const names = new Set(wanted.map(({ name }) => name));
    this.#attempt('xattrs', place, () => {
      for (const name of listXattrs(target)) {
        if (!names.has(name) && isRemovable(name)) removeXattr(target, name);
      }
    });
  }

  #removeAcls(target: XattrTarget, wanted: readonly Xattr[], place: Place): void {
    const present = listXattrs(target);
    for (const acl of [ACCESS_ACL, DEFAULT_ACL]) {
      if (!present.includes(acl) || wanted.some(({ name }) => name === acl)) continue;
      this.#attempt('xattrs', place, () => removeXattr(target, acl));
    }
  }

  /**
   * Runs `act`, and notes an omission if the system refuses it. For an attribute too large for a block ext4 gives the
   * same error as for a full disk, so that error is only taken for a full disk if there is no room.
   * @throws the system error for a full target
   */
  #attempt(
    kind: 'ownership' | 'modes' | 'times' | 'xattrs',
    { directory, path }: Place,
    act: () => unknown,
  ): boolean {
    const isRefused = (error: unknown): boolean => errnoOf(error) === 'ENOSPC' && directory.hasRoom();
    try {
      try {
        act();
      } catch (error) {
        if (!isRefused(error)) throw error;
        // retried once, as room may have become free in between
        act();
      }
      return true;
    } catch (error) {
      const code = errnoOf(error);
      if (!(error instanceof RangeError) && code === undefined) throw error;
      if (isFull(code) && !isRefused(error)) throw error;
      this.#omissions.note(kind, causeText(error), path);
      return false;
    }
  }
}

/** The owner of an entry on this machine, where owners are restored. */
export function ownerHere(
  { users, groups }: MetadataPolicy,
  { uid, gid }: Pick<Facts, 'uid' | 'gid'>,
): Pick<Facts, 'uid' | 'gid'> {
  return { uid: users.get(uid) ?? uid, gid: groups.get(gid) ?? gid };
}

/** The flag for a file that replaces an existing one: when root restores without owners, the file keeps the owner it had. */
export function keptOwner({ privileged, uid }: MetadataPolicy): number {
  return !privileged && uid === 0 ? RECORD.keepsOwner : 0;
}

/** The mode that an entry gets. */
export function modeHere({ privileged }: MetadataPolicy, mode: number): number {
  return privileged ? mode : mode & ~SET_ID_BITS;
}

/** Whether an existing file loses this attribute if the snapshot's version lacks it. Labels of the system are kept. */
export function isRemovable(name: ByteString): boolean {
  return name.startsWith('user.') || name === ACCESS_ACL || name === DEFAULT_ACL;
}

/** Whether the attribute affects what the system lets a file do. */
export function isPrivileged(name: ByteString): boolean {
  return name.startsWith('security.') || name.startsWith('trusted.');
}

/** Whether a directory passes an access list on to what is created in it. */
export function hasDefaultAcl(directory: TargetDirectory): boolean {
  return listXattrs(directory.ownXattrs).includes(DEFAULT_ACL);
}
