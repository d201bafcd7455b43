/** What a simulated machine has to back up. Small files in a few directories, changed by the scenario between runs. */
import type { BigIntStats } from 'node:fs';
import { systemError } from './disk.ts';

interface SourceFile {
  readonly kind: 'file';
  readonly ino: bigint;
  data: Buffer;
  timeNs: bigint;
  /** The errno with which it cannot be opened. */
  unreadable: string | undefined;
}

interface SourceDirectory {
  readonly kind: 'directory';
  readonly ino: bigint;
  timeNs: bigint;
}

type SourceNode = SourceFile | SourceDirectory;

/** What a snapshot must give back, by absolute path. */
export interface Manifest {
  readonly files: ReadonlyMap<string, Buffer>;
  /** What cannot be read is there only when the parent had it, and then as it was. */
  readonly unreadable: ReadonlyMap<string, Buffer>;
}

const DIRECTORY_MODE = 0o040755n;
const FILE_MODE = 0o100644n;

export class SourceTree {
  readonly root: string;
  readonly #nodes = new Map<string, SourceNode>();
  readonly #nowMs: () => number;
  #lastIno = 0n;

  constructor(root: string, nowMs: () => number) {
    this.root = root;
    this.#nowMs = nowMs;
    this.#add(root, (ino, timeNs) => ({ kind: 'directory', ino, timeNs }));
  }

  /** Becomes what the other one is. */
  copyFrom(other: SourceTree): void {
    this.#nodes.clear();
    for (const [path, node] of other.#nodes) this.#nodes.set(path, { ...node });
    this.#lastIno = other.#lastIno;
  }

  /** Writes a file, and makes the directories above it. */
  write(path: string, data: Buffer): void {
    const known = this.#nodes.get(path);
    if (known?.kind === 'file') {
      known.data = data;
      known.timeNs = this.#timeNs();
      return;
    }
    this.#ensure(path.slice(0, path.lastIndexOf('/')));
    this.#add(path, (ino, timeNs) => ({ kind: 'file', ino, timeNs, data, unreadable: undefined }));
    this.#touch(path.slice(0, path.lastIndexOf('/')));
  }

  /** Other bytes under the same times, as nobody can write them there. */
  forge(path: string, data: Buffer): void {
    const known = this.#nodes.get(path);
    if (known?.kind === 'file') known.data = data;
  }

  remove(path: string): void {
    if (!this.#nodes.delete(path)) return;
    this.#touch(path.slice(0, path.lastIndexOf('/')));
  }

  setUnreadable(path: string, errno: string | undefined): void {
    const node = this.#nodes.get(path);
    if (node?.kind === 'file') node.unreadable = errno;
  }

  files(): string[] {
    return [...this.#nodes].flatMap(([path, node]) => (node.kind === 'file' ? [path] : []));
  }

  manifest(): Manifest {
    const files = new Map<string, Buffer>();
    const unreadable = new Map<string, Buffer>();
    for (const [path, node] of this.#nodes) {
      if (node.kind === 'directory') continue;
      if (node.unreadable === undefined) files.set(path, node.data);
      else unreadable.set(path, node.data);
    }
    return { files, unreadable };
  }

  open(path: string): Buffer {
    const node = this.#nodes.get(path);
    if (node?.kind !== 'file') throw systemError('ENOENT', path);
    if (node.unreadable !== undefined) throw systemError(node.unreadable, path);
    return node.data;
  }

  names(path: string): string[] {
    const prefix = `${path}/`;
    const below = [...this.#nodes.keys()].filter((one) => one.startsWith(prefix));
    return below.map((one) => one.slice(prefix.length)).filter((name) => !name.includes('/'));
  }

  stat(path: string): BigIntStats | undefined {
    const node = this.#nodes.get(path);
    if (node !== undefined) return statsOf(node);
    // What lies above the source.
    if (path === '/' || this.root.startsWith(`${path}/`))
      return statsOf({ kind: 'directory', ino: 0n, timeNs: 0n });
    return undefined;
  }

  #ensure(path: string): void {
    if (this.#nodes.has(path)) return;
    this.#ensure(path.slice(0, path.lastIndexOf('/')));
    this.#add(path, (ino, timeNs) => ({ kind: 'directory', ino, timeNs }));
    this.#touch(path.slice(0, path.lastIndexOf('/')));
  }

  #touch(path: string): void {
    const node = this.#nodes.get(path);
    if (node !== undefined) node.timeNs = this.#timeNs();
  }

  #add(path: string, make: (ino: bigint, timeNs: bigint) => SourceNode): void {
    this.#lastIno += 1n;
    this.#nodes.set(path, make(this.#lastIno, this.#timeNs()));
  }

  #timeNs(): bigint {
    return BigInt(Math.floor(this.#nowMs() * 1_000)) * 1_000n;
  }
}

function statsOf(node: SourceNode): BigIntStats {
  const isFile = node.kind === 'file';
  const size = isFile ? BigInt(node.data.length) : 0n;
  const stats: Pick<
    BigIntStats,
    'mode' | 'nlink' | 'uid' | 'gid' | 'size' | 'blocks' | 'dev' | 'ino' | 'mtimeNs' | 'ctimeNs' | 'rdev'
  > = {
    mode: isFile ? FILE_MODE : DIRECTORY_MODE,
    nlink: 1n,
    uid: 1_000n,
    gid: 1_000n,
    size,
    blocks: (size + 511n) / 512n,
    dev: 1n,
    ino: node.ino,
    mtimeNs: node.timeNs,
    ctimeNs: node.timeNs,
    rdev: 0n,
  };
  return stats as BigIntStats;
}
