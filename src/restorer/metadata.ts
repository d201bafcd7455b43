import { fchmodSync, fchownSync } from 'node:fs';
import type { ByteString } from '../base/byte-path.ts';
import { errnoOf } from '../base/errors.ts';
import type { EntryMetadata, Xattr } from '../format/tree.ts';
import { listXattrs, removeXattr, writeXattr, type XattrTarget } from '../system/xattr.ts';
import { RECORD, type EntryRecord } from './entry-records.ts';
import type { Omissions } from './omissions.ts';
import type { TargetDirectory } from './target-directory.ts';

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

/** The fields of an entry that are set after its content. */
export type Facts = Pick<EntryMetadata, 'mode' | 'uid' | 'gid' | 'mtimeNs'>;

/**
 * Gives entries their owner, attributes, times and, last, their permissions, which until then say "unfinished". What the
 * system refuses is counted as an omission; the entry stands all the same.
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
    this.#owner(uid, gid, path, (user, group) => fchownSync(fd, user, group));
    if (record.hasXattrs || existed || this.#inheritsAcls) {
      this.#xattrs(fd, record.hasXattrs ? record.xattrs : [], existed, path);
    }
    this.#times(path, () => directory.setFileTimes(fd, record.mtimeNs));
    this.#mode(record.mode, path, (mode) => fchmodSync(fd, mode));
  }

  directory(directory: TargetDirectory, record: EntryRecord, existed: boolean, path: () => ByteString): void {
    const { uid, gid } = record;
    this.#owner(uid, gid, path, (user, group) => directory.setOwnOwner(user, group));
    if (record.hasXattrs || existed || this.#inheritsAcls) {
      this.#xattrs(directory.ownXattrs, record.hasXattrs ? record.xattrs : [], existed, path);
    }
    this.#times(path, () => directory.setOwnTimes(record.mtimeNs));
    this.#mode(record.mode, path, (mode) => directory.setOwnMode(mode));
  }

  /** A link, FIFO, socket or device, by its name. */
  special(
    directory: TargetDirectory,
    name: ByteString,
    entry: EntryMetadata & { readonly type: string },
    path: () => ByteString,
  ): void {
    const { uid, gid, mode, xattrs, mtimeNs }: Facts & Pick<EntryMetadata, 'xattrs'> = entry;
    this.#owner(uid, gid, path, (user, group) => directory.setOwner(name, user, group));
    if (xattrs !== undefined || (this.#inheritsAcls && entry.type !== 'symlink')) {
      this.#xattrs(directory.xattrsOf(name), xattrs ?? [], false, path);
    }
    this.#times(path, () => directory.setTimes(name, mtimeNs));
    // Linux has no permissions on links
    if (entry.type !== 'symlink') this.#mode(mode, path, (bits) => directory.setMode(name, bits));
  }

  get privileged(): boolean {
    return this.#policy.privileged;
  }

  #owner(uid: number, gid: number, path: () => ByteString, set: (uid: number, gid: number) => void): void {
    const policy = this.#policy;
    if (!policy.privileged) {
      if (uid !== policy.uid || gid !== policy.gid)
        this.#omissions.note('ownership', policy.unprivilegedBecause, path);
      return;
    }
    const here = ownerHere(policy, { uid, gid });
    this.#attempt('ownership', path, () => set(here.uid, here.gid));
  }

  #mode(mode: number, path: () => ByteString, set: (mode: number) => void): void {
    const here = modeHere(this.#policy, mode);
    if (here !== mode) this.#omissions.note('setuid-bits', this.#policy.unprivilegedBecause, path);
    this.#attempt('modes', path, () => set(here));
  }

  #times(path: () => ByteString, set: () => void): void {
    this.#attempt('times', path, set);
  }

  #xattrs(target: XattrTarget, wanted: readonly Xattr[], existed: boolean, path: () => ByteString): void {
    if (existed) this.#removeOthers(target, wanted, path);
    else if (this.#inheritsAcls) this.#removeAcls(target, wanted, path);
    for (const { name, value } of wanted) {
      if (isPrivileged(name) && !this.#policy.privileged) {
        this.#omissions.note('privileged-xattrs', this.#policy.unprivilegedBecause, path);
        continue;
      }
      this.#attempt('xattrs', path, () => writeXattr(target, name, value));
    }
  }

  /** Attributes that a file has and its snapshot version has not. */
  #removeOthers(target: XattrTarget, wanted: readonly Xattr[], path: () => ByteString): void {
    const names = new Set(wanted.map(({ name }) => name));
    this.#attempt('xattrs', path, () => {
      for (const name of listXattrs(target)) {
        if (!names.has(name) && isRemovable(name)) removeXattr(target, name);
      }
    });
  }

  #removeAcls(target: XattrTarget, wanted: readonly Xattr[], path: () => ByteString): void {
    const present = listXattrs(target);
    for (const acl of [ACCESS_ACL, DEFAULT_ACL]) {
      if (!present.includes(acl) || wanted.some(({ name }) => name === acl)) continue;
      this.#attempt('xattrs', path, () => removeXattr(target, acl));
    }
  }

  #attempt(
    kind: 'ownership' | 'modes' | 'times' | 'xattrs',
    path: () => ByteString,
    act: () => unknown,
  ): void {
    try {
      act();
    } catch (error) {
      if (!(error instanceof RangeError) && errnoOf(error) === undefined) throw error;
      this.#omissions.note(kind, error instanceof Error ? error.message : String(error), path);
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
