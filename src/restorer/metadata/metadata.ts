import { fchmodSync, fchownSync } from 'node:fs';
import type { ByteString } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import type { EntryMetadata, Xattr } from '../../format/tree.ts';
import type { EntryStat } from '../../system/entry-stat.ts';
import { listXattrs, removeXattr, writeXattr, type XattrTarget } from '../../system/xattr.ts';
import { RECORD, type EntryRecord } from '../target/entry-records.ts';
import { isFull } from '../target/full-target.ts';
import type { Omissions } from '../request/omissions.ts';
import type { TargetDirectory } from '../target/target-directory.ts';

/** What of an entry's metadata is wanted and possible, the same for all threads of a restore. */
export interface MetadataPolicy {
  /** Owners, setuid and setgid bits, devices, privileged attributes: asked for, and this process may. */
  readonly privileged: boolean;
  /** Why not, for the report. */
  readonly unprivilegedBecause: string;
  /** Who owns what this process creates. */
  readonly uid: number;
  readonly gid: number;
  /** Owners of the snapshot that have another number here. */
  readonly users: ReadonlyMap<number, number>;
  readonly groups: ReadonlyMap<number, number>;
}

const SET_ID_BITS = 0o6000;
const ACCESS_ACL = 'system.posix_acl_access' as ByteString;
const DEFAULT_ACL = 'system.posix_acl_default' as ByteString;

/** Where an entry is whose metadata is set: on the file system of a directory, and by which path it is told of. */
interface Place {
  readonly directory: TargetDirectory;
  readonly path: () => ByteString;
}

/** Windows has none, and times without fractions of a microsecond. */
const TELLS_MODES = process.platform !== 'win32';
const PERMISSIONS = 0o7777;
/** A difference that is worth telling: a millisecond. */
const NOTICED_NS = 1_000_000n;

/** What the system has taken. */
interface SetFacts {
  readonly owner: boolean;
  readonly times: boolean;
  readonly mode: boolean;
}

/** The fields of an entry that are set after its content. */
export type Facts = Pick<EntryMetadata, 'mode' | 'uid' | 'gid' | 'mtimeNs'>;

/**
 * Gives entries their owner, attributes, times and, last, their permissions, which until then say "unfinished". What the
 * system refuses is counted as an omission; the entry stands all the same. Only that the target is full is thrown: what
 * looked finished without what there was no room for would be left alone from then on.
 */
export class MetadataWriter {
  readonly #policy: MetadataPolicy;
  readonly #omissions: Omissions;
  /** Directories that existed before hand access lists down to what is created in them. */
  #inheritsAcls = false;

  constructor(policy: MetadataPolicy, omissions: Omissions) {
    this.#policy = policy;
    this.#omissions = omissions;
  }

  get inheritsAcls(): boolean {
    return this.#inheritsAcls;
  }

  /** From now on what is created loses the access lists that its snapshot version does not have. */
  clearInheritedAcls(): void {
    this.#inheritsAcls = true;
  }

  /** @param existed the file stood in the target before: attributes that it should not have are removed */
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

  /** A link, FIFO, socket or device, by its name. */
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

  /** Some file systems (FAT, NTFS, network shares) take a change without a word and keep something else. */
  #requireKept(wanted: Facts, { mtimeNs, mode, uid, gid }: EntryStat, set: SetFacts, { path }: Place): void {
    if (!TELLS_MODES) return;
    const policy = this.#policy;
    const apart = mtimeNs > wanted.mtimeNs ? mtimeNs - wanted.mtimeNs : wanted.mtimeNs - mtimeNs;
    if (set.times && apart >= NOTICED_NS)
      this.#omissions.note('times', 'the file system keeps times less exactly', path);
    if (set.mode && (mode & PERMISSIONS) !== (modeHere(policy, wanted.mode) & PERMISSIONS))
      this.#omissions.note('modes', 'the file system keeps no such permissions', path);
    const here = ownerHere(policy, wanted);
    if (set.owner && policy.privileged && (uid !== here.uid || gid !== here.gid))
      this.#omissions.note('ownership', 'the file system keeps no owners', path);
  }

  /** Each of these returns whether the system took it. */
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

  /** Attributes that a file has and its snapshot version has not. */
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
   * ext4 says of an attribute that no block can hold what it says of a full disk, and says it again while there is room.
   * @throws what the system says of a full target
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
        // there may be room since
        act();
      }
      return true;
    } catch (error) {
      const code = errnoOf(error);
      if (!(error instanceof RangeError) && code === undefined) throw error;
      if (isFull(code) && !isRefused(error)) throw error;
      this.#omissions.note(kind, error instanceof Error ? error.message : String(error), path);
      return false;
    }
  }
}

/** Who is to own an entry on this machine, where owners are restored. */
export function ownerHere(
  { users, groups }: MetadataPolicy,
  { uid, gid }: Pick<Facts, 'uid' | 'gid'>,
): Pick<Facts, 'uid' | 'gid'> {
  return { uid: users.get(uid) ?? uid, gid: groups.get(gid) ?? gid };
}

/** The flag of a file that root makes anew in the place of one that may be anybody's, where owners are not restored. */
export function keptOwner({ privileged, uid }: MetadataPolicy): number {
  return !privileged && uid === 0 ? RECORD.keepsOwner : 0;
}

/** The mode that an entry is to get. */
export function modeHere({ privileged }: MetadataPolicy, mode: number): number {
  return privileged ? mode : mode & ~SET_ID_BITS;
}

/** Whether a file that stands loses an attribute which its snapshot version has not; labels of the system stay. */
export function isRemovable(name: ByteString): boolean {
  return name.startsWith('user.') || name === ACCESS_ACL || name === DEFAULT_ACL;
}

/** Attributes that change what the system lets a file do. */
export function isPrivileged(name: ByteString): boolean {
  return name.startsWith('security.') || name.startsWith('trusted.');
}

/** Whether a directory hands an access list down to what is created in it. */
export function hasDefaultAcl(directory: TargetDirectory): boolean {
  return listXattrs(directory.ownXattrs).includes(DEFAULT_ACL);
}
