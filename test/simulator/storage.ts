/** Where the objects of a simulation really are, whatever the storage tells its clients. */
import type { Disk, DirectoryNode } from './disk.ts';
import { FIRST_MOMENT_MS } from './machine.ts';
import type { World } from './world.ts';

export interface StoredObject {
  readonly body: Buffer;
  /** The storage's clock. */
  readonly modifiedMs: number;
}

/** What the invariants look at. */
export interface Storage {
  keys(): readonly string[];
  get(key: string): StoredObject | undefined;
  /** Keys that came, went or changed since this was last asked. */
  takeChanged(): readonly string[];
}

interface KeptObject extends StoredObject {
  /** Simulated time. */
  readonly storedMs: number;
  /** Lists show it from this time on. */
  readonly listedMs: number;
}

interface RemovedObject extends KeptObject {
  readonly removedMs: number;
}

/** An object store: a map with a clock of its own, and a memory of what was removed, for lists that lag behind. */
export class ObjectStorage implements Storage {
  /** How far the storage's clock is ahead of true time, in milliseconds. */
  offsetMs = 0;
  readonly #world: World;
  readonly #coarse: boolean;
  readonly #objects = new Map<string, KeptObject>();
  readonly #removed = new Map<string, RemovedObject>();
  #changed = new Set<string>();

  constructor(world: World, options: { readonly coarseTimes: boolean }) {
    this.#world = world;
    this.#coarse = options.coarseTimes;
  }

  get #clockMs(): number {
    const nowMs = FIRST_MOMENT_MS + this.#world.nowMs + this.offsetMs;
    return this.#coarse ? Math.floor(nowMs / 1_000) * 1_000 : Math.floor(nowMs);
  }

  put(key: string, body: Uint8Array, options: { readonly hiddenMs?: number } = {}): StoredObject {
    const { nowMs } = this.#world;
    const object = {
      body: Buffer.from(body),
      modifiedMs: this.#clockMs,
      storedMs: nowMs,
      listedMs: nowMs + (options.hiddenMs ?? 0),
    };
    this.#objects.set(key, object);
    this.#changed.add(key);
    return object;
  }

  delete(key: string): void {
    const object = this.#objects.get(key);
    if (object === undefined) return;
    this.#objects.delete(key);
    this.#removed.set(key, { ...object, removedMs: this.#world.nowMs });
    this.#changed.add(key);
  }

  /** A deleted object is there again, as it was. */
  bringBack(key: string): void {
    const removed = this.#removed.get(key);
    if (removed === undefined || this.#objects.has(key)) return;
    this.#objects.set(key, removed);
    this.#changed.add(key);
  }

  get(key: string): StoredObject | undefined {
    return this.#objects.get(key);
  }

  keys(): readonly string[] {
    return [...this.#objects.keys()];
  }

  get size(): number {
    return this.#objects.size;
  }

  /** In the order of keys, as it was `agoMs` ago. */
  list(prefix: string, agoMs: number): { key: string; object: StoredObject }[] {
    const atMs = this.#world.nowMs - agoMs;
    const shown: { key: string; object: StoredObject }[] = [];
    for (const [key, object] of this.#objects)
      if (key.startsWith(prefix) && object.listedMs <= atMs) shown.push({ key, object });
    if (agoMs > 0)
      for (const [key, removed] of this.#removed) {
        if (!key.startsWith(prefix) || removed.listedMs > atMs || removed.removedMs <= atMs) continue;
        if (!shown.some((one) => one.key === key)) shown.push({ key, object: removed });
      }
    return shown.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  takeChanged(): readonly string[] {
    if (this.#changed.size === 0) return [];
    const changed = [...this.#changed];
    this.#changed = new Set();
    return changed;
  }
}

/** A directory of a simulated drive, seen without its file calls. */
export class DriveStorage implements Storage {
  readonly #disk: Disk;
  readonly #root: string;
  #changed = new Set<string>();
  /** Every key that there ever was. */
  readonly #seen = new Set<string>();

  constructor(disk: Disk, root: string) {
    this.#disk = disk;
    this.#root = root;
    disk.onChange = (path) => {
      const key = path.slice(root.length + 1);
      this.#changed.add(key);
      this.#seen.add(key);
    };
  }

  keys(): readonly string[] {
    return keysBelow(this.#disk.directory(this.#root), '');
  }

  get(key: string): StoredObject | undefined {
    try {
      const node = this.#disk.find(`${this.#root}/${key}`);
      return node.kind === 'file' ? { body: node.data, modifiedMs: Math.floor(node.mtimeMs) } : undefined;
    } catch {
      return undefined;
    }
  }

  takeChanged(): readonly string[] {
    const changed = [...this.#changed].filter((key) => !key.includes('.tmp-'));
    this.#changed = new Set();
    return changed;
  }

  /** Power loss may have changed anything. */
  markAllChanged(): void {
    for (const key of this.#seen) this.#changed.add(key);
  }
}

function keysBelow(directory: DirectoryNode, prefix: string): string[] {
  return [...directory.entries].flatMap(([name, node]) => {
    if (node.kind === 'directory') return keysBelow(node, `${prefix}${name}/`);
    return name.startsWith('.tmp-') ? [] : [`${prefix}${name}`];
  });
}

/** Puts objects into a directory of a drive, all of it synced. */
export function fillDrive(drive: Disk, root: string, objects: ReadonlyMap<string, Buffer>): void {
  for (const [key, body] of objects) {
    const path = `${root}/${key}`;
    const directory = path.slice(0, path.lastIndexOf('/'));
    drive.makeDirectories(directory);
    const file = drive.createFile(path);
    drive.write(file, body, 0);
    drive.sync(file);
    for (let at = directory; at !== ''; at = at.slice(0, at.lastIndexOf('/')))
      drive.sync(drive.directory(at));
    drive.sync(drive.root);
  }
}
