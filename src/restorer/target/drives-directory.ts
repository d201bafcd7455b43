import { lstatSync } from 'node:fs';
import { joinBytes, type ByteString } from '../../base/byte-path.ts';
import { fsPath, isAboveDrives, pathText } from '../../base/tree-path.ts';
import { ABOVE_DRIVES, type EntryStat } from '../../system/entry-stat.ts';
import type { XattrTarget } from '../../system/xattr.ts';
import { PathDirectory, statOfNode } from './path-directory.ts';
import type { TargetDirectory } from './target-directory.ts';

/** Where a system without descriptors of directories restores to. */
export function directoryAt(path: ByteString): TargetDirectory {
  return isAboveDrives(path) ? new DrivesDirectory(path) : new PathDirectory(path);
}

/**
 * A directory above the drives of Windows, which exists in trees alone. It leads to drives and shares, and takes nothing.
 */
class DrivesDirectory implements TargetDirectory {
  readonly #path: ByteString;

  constructor(path: ByteString) {
    this.#path = path;
  }

  find(name: ByteString): EntryStat | undefined {
    const path = joinBytes(this.#path, name);
    if (isAboveDrives(path)) return ABOVE_DRIVES;
    const stat = lstatSync(fsPath(path), { bigint: true, throwIfNoEntry: false });
    return stat === undefined ? undefined : statOfNode(stat);
  }

  openDirectory(name: ByteString): TargetDirectory {
    return directoryAt(joinBytes(this.#path, name));
  }

  stat = (): EntryStat => ABOVE_DRIVES;
  /** It is never listed: what lies beside the drives of a snapshot is none of its business. */
  names = (): ByteString[] => [];
  capacity = (): number => Number.POSITIVE_INFINITY;
  hasRoom = (): boolean => true;
  isMountPoint = (): boolean => true;
  takesEntries = (): boolean => false;
  sync(): void {}
  syncFileSystem = (): boolean => false;
  setOwnOwner(): void {}
  setOwnMode(): void {}
  setOwnTimes(): void {}
  close(): void {}

  createDirectory(name: ByteString): never {
    throw this.#noDrive(name);
  }

  createFile(name: ByteString): never {
    throw this.#noDrive(name);
  }

  openFile(name: ByteString): never {
    throw this.#noDrive(name);
  }

  fstat(): never {
    throw this.#noDrive(this.#path);
  }

  setFileTimes(): never {
    throw this.#noDrive(this.#path);
  }

  closeFile(): never {
    throw this.#noDrive(this.#path);
  }

  rename(from: ByteString): never {
    throw this.#noDrive(from);
  }

  renameNew(from: ByteString): never {
    throw this.#noDrive(from);
  }

  removeFile(name: ByteString): never {
    throw this.#noDrive(name);
  }

  removeDirectory(name: ByteString): never {
    throw this.#noDrive(name);
  }

  createSymlink(_target: ByteString, name: ByteString): never {
    throw this.#noDrive(name);
  }

  readSymlink(name: ByteString): never {
    throw this.#noDrive(name);
  }

  createHardLink(_from: TargetDirectory, _fromName: ByteString, name: ByteString): never {
    throw this.#noDrive(name);
  }

  createNode(name: ByteString): never {
    throw this.#noDrive(name);
  }

  setOwner(name: ByteString): never {
    throw this.#noDrive(name);
  }

  setMode(name: ByteString): never {
    throw this.#noDrive(name);
  }

  setTimes(name: ByteString): never {
    throw this.#noDrive(name);
  }

  xattrsOf(name: ByteString): XattrTarget {
    return joinBytes(this.#path, name);
  }

  get ownXattrs(): XattrTarget {
    return this.#path;
  }

  #noDrive(name: ByteString): Error {
    const path = name === this.#path ? name : joinBytes(this.#path, name);
    return Object.assign(new Error(`this system has no drive or share for ${pathText(path)}`), {
      code: 'ENOENT',
    });
  }
}
