import { statSync } from 'node:fs';
import type { ByteString } from '../base/byte-path.ts';
import { fsPath, pathText, treePath } from '../base/tree-path.ts';
import { realTreePath } from '../base/typed-path.ts';
import { errnoOf } from '../base/errors.ts';
import { farPlaceOf } from '../system/far-mounts.ts';
import { whereItLies } from '../system/where-it-lies.ts';

/** The state of a source's root; a symbolic link is followed. */
export interface RootState {
  /** `other`: a file or another kind of entry. */
  readonly kind: 'directory' | 'other' | 'absent';
  /** The real path; when absent, the path as it was named. */
  readonly path: ByteString;
  readonly device: bigint;
  readonly inode: bigint;
}

export function lookAtRoot(root: ByteString): RootState {
  try {
    const stat = statSync(fsPath(root), { bigint: true });
    const path = realTreePath(root);
    return { kind: stat.isDirectory() ? 'directory' : 'other', path, device: stat.dev, inode: stat.ino };
  } catch (error) {
    // The path is missing, a server does not answer, a disk was unplugged, or access was denied.
    if (errnoOf(error) === undefined) throw error;
    return { kind: 'absent', path: root, device: 0n, inode: 0n };
  }
}

export function sameRoot(one: RootState, other: RootState): boolean {
  if (one.kind !== other.kind || one.path !== other.path) return false;
  // A file is often replaced by renaming another over it: that is a change of the file, not of the source.
  return one.kind === 'other' || (one.device === other.device && one.inode === other.inode);
}

/** Resolves symbolic links, also of a path that does not exist. Nothing on a network file system is accessed. */
export function withoutLinks(path: ByteString): ByteString {
  return farPlaceOf(path)?.path ?? treePath(whereItLies(pathText(path)));
}
