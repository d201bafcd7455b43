import { realpathSync, statSync } from 'node:fs';
import { asByteString, bytesOfText, fsPath, textOfBytes, type ByteString } from '../base/byte-path.ts';
import { errnoOf } from '../base/errors.ts';
import { farPlaceOf } from '../system/far-mounts.ts';
import { whereItLies } from '../system/where-it-lies.ts';

/** What lies at the root of a source; a link there is followed. */
export interface RootState {
  /** `other`: a file or the like. */
  readonly kind: 'directory' | 'other' | 'absent';
  /** Where it really lies; as it was named when it is absent. */
  readonly path: ByteString;
  readonly device: bigint;
  readonly inode: bigint;
}

export function lookAtRoot(root: ByteString): RootState {
  try {
    const stat = statSync(fsPath(root), { bigint: true });
    const path = asByteString(realpathSync.native(fsPath(root), 'latin1'));
    return { kind: stat.isDirectory() ? 'directory' : 'other', path, device: stat.dev, inode: stat.ino };
  } catch (error) {
    // Nothing there, a server that does not answer, a disk that was pulled out, rights that were taken away.
    if (errnoOf(error) === undefined) throw error;
    return { kind: 'absent', path: root, device: 0n, inode: 0n };
  }
}

export function sameRoot(one: RootState, other: RootState): boolean {
  if (one.kind !== other.kind || one.path !== other.path) return false;
  // A file is often replaced by renaming another over it: that is a change of the file, not of the source.
  return one.kind === 'other' || (one.device === other.device && one.inode === other.inode);
}

/** Where a path leads, or would lead, links resolved; nothing on a file system from elsewhere is touched. */
export function withoutLinks(path: ByteString): ByteString {
  return farPlaceOf(path)?.path ?? bytesOfText(whereItLies(textOfBytes(path)));
}
