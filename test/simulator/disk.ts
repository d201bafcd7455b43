/**
 * A file system with the promises of POSIX and no more: what a file holds survives power loss once the file was synced, a
 * name once its directory was. Changes of one directory reach the disk in their order; of several, in any.
 */
import type { SeededRandom } from '../support/seeded-random.ts';

export interface FileNode {
  readonly kind: 'file';
  readonly ino: number;
  data: Buffer;
  /** What power loss leaves of it, or a part of what was written since. */
  synced: Buffer;
  mtimeMs: number;
}

export interface DirectoryNode {
  readonly kind: 'directory';
  readonly ino: number;
  entries: Map<string, Node>;
  durable: Map<string, Node>;
  /** Changes since the last sync. */
  pending: ((entries: Map<string, Node>) => void)[];
  mtimeMs: number;
}

export type Node = FileNode | DirectoryNode;

export class Disk {
  readonly root: DirectoryNode;
  /** Told of the path of each name that comes or goes. */
  onChange: ((path: string) => void) | undefined;
  /** Power losses in which something was lost. */
  losses = 0;
  readonly #chance: SeededRandom;
  readonly #nowMs: () => number;
  #lastIno = 1;

  constructor(chance: SeededRandom, nowMs: () => number) {
    this.#chance = chance;
    this.#nowMs = nowMs;
    this.root = this.#directory();
  }

  /** @throws ENOENT, ENOTDIR */
  find(path: string): Node {
    let node: Node = this.root;
    for (const part of partsOf(path)) {
      if (node.kind !== 'directory') throw systemError('ENOTDIR', path);
      const next: Node | undefined = node.entries.get(part);
      if (next === undefined) throw systemError('ENOENT', path);
      node = next;
    }
    return node;
  }

  directory(path: string): DirectoryNode {
    const node = this.find(path);
    if (node.kind !== 'directory') throw systemError('ENOTDIR', path);
    return node;
  }

  makeDirectory(path: string): void {
    const { parent, name } = this.#place(path);
    if (parent.entries.has(name)) throw systemError('EEXIST', path);
    this.#set(parent, name, this.#directory(), path);
  }

  /** Returns the first directory that was made. */
  makeDirectories(path: string): string | undefined {
    const parts = partsOf(path);
    let first: string | undefined;
    for (let depth = 1; depth <= parts.length; depth += 1) {
      const part = `/${parts.slice(0, depth).join('/')}`;
      try {
        if (this.find(part).kind === 'file') throw systemError('ENOTDIR', path);
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
        this.makeDirectory(part);
        first ??= part;
      }
    }
    return first;
  }

  createFile(path: string): FileNode {
    const { parent, name } = this.#place(path);
    if (parent.entries.has(name)) throw systemError('EEXIST', path);
    this.#lastIno += 1;
    const empty = Buffer.alloc(0);
    const file: FileNode = {
      kind: 'file',
      ino: this.#lastIno,
      data: empty,
      synced: empty,
      mtimeMs: this.#nowMs(),
    };
    this.#set(parent, name, file, path);
    return file;
  }

  write(file: FileNode, bytes: Uint8Array, position: number): void {
    const data = Buffer.alloc(Math.max(file.data.length, position + bytes.length));
    file.data.copy(data);
    data.set(bytes, position);
    file.data = data;
    file.mtimeMs = this.#nowMs();
  }

  link(from: string, to: string): void {
    const node = this.find(from);
    const { parent, name } = this.#place(to);
    if (parent.entries.has(name)) throw systemError('EEXIST', to);
    this.#set(parent, name, node, to);
  }

  rename(from: string, to: string): void {
    const node = this.find(from);
    const source = this.#place(from);
    const target = this.#place(to);
    this.#change(source.parent, (entries) => void entries.delete(source.name));
    this.#set(target.parent, target.name, node, to);
    this.onChange?.(from);
  }

  remove(path: string): void {
    const { parent, name } = this.#place(path);
    if (!parent.entries.has(name)) throw systemError('ENOENT', path);
    this.#change(parent, (entries) => void entries.delete(name));
    this.onChange?.(path);
  }

  removeDirectory(path: string): void {
    if (this.directory(path).entries.size > 0) throw systemError('ENOTEMPTY', path);
    this.remove(path);
  }

  sync(node: Node): void {
    if (node.kind === 'file') {
      node.synced = node.data;
      return;
    }
    node.durable = new Map(node.entries);
    node.pending = [];
  }

  losePower(): void {
    const lost = this.#lose(this.root);
    if (lost) this.losses += 1;
  }

  #lose(node: Node): boolean {
    if (node.kind === 'file') return this.#loseBytes(node);
    const kept = this.#chance.below(node.pending.length + 1);
    const lost = kept < node.pending.length;
    const entries = new Map(node.durable);
    for (const change of node.pending.slice(0, kept)) change(entries);
    node.entries = entries;
    node.durable = new Map(entries);
    node.pending = [];
    let below = false;
    for (const child of entries.values()) below = this.#lose(child) || below;
    return lost || below;
  }

  #loseBytes(file: FileNode): boolean {
    if (file.data === file.synced) return false;
    const kept = this.#chance.below(3);
    // Nothing of what was written since, a part of it, or zeros in its place.
    if (kept === 0) file.data = file.synced;
    if (kept === 1) file.data = file.data.subarray(0, this.#chance.below(file.data.length + 1));
    if (kept === 2) file.data = Buffer.alloc(file.data.length);
    file.synced = file.data;
    return true;
  }

  /** A copy of everything, as a cloned machine has it. */
  cloneFrom(other: Disk): void {
    const copied = copyOf(other.root);
    this.root.entries = copied.entries;
    this.root.durable = copied.durable;
    this.root.pending = [];
  }

  #directory(): DirectoryNode {
    this.#lastIno += 1;
    const entries = new Map<string, Node>();
    return {
      kind: 'directory',
      ino: this.#lastIno,
      entries,
      durable: new Map(),
      pending: [],
      mtimeMs: this.#nowMs(),
    };
  }

  #set(parent: DirectoryNode, name: string, node: Node, path: string): void {
    this.#change(parent, (entries) => void entries.set(name, node));
    this.onChange?.(path);
  }

  #change(parent: DirectoryNode, change: (entries: Map<string, Node>) => void): void {
    change(parent.entries);
    parent.pending.push(change);
    parent.mtimeMs = this.#nowMs();
  }

  #place(path: string): { parent: DirectoryNode; name: string } {
    const parts = partsOf(path);
    const name = parts.pop();
    if (name === undefined) throw systemError('EEXIST', path);
    return { parent: this.directory(`/${parts.join('/')}`), name };
  }
}

function copyOf(node: DirectoryNode): DirectoryNode {
  const entries = new Map<string, Node>();
  for (const [name, child] of node.entries) {
    if (child.kind === 'directory') entries.set(name, copyOf(child));
    else entries.set(name, { ...child, synced: child.data });
  }
  return { ...node, entries, durable: new Map(entries), pending: [] };
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '');
}

export function systemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code, syscall: 'simulated', path });
}
