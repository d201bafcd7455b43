/**
 * What node:fs and node:fs/promises give to a simulated program: the disks of its machine instead of real ones. Calls by
 * promise are points at which others run, and at which the machine may die; calls that Node answers at once are for the
 * sources, which are there to be read.
 */
import { systemError, type DirectoryNode, type Disk, type FileNode, type Node } from './disk.ts';
import type { Machine } from './machine.ts';
import type { SourceTree } from './source-tree.ts';

const SOURCE_FD = 1_000_000;

interface OpenFile {
  readonly disk: Disk;
  readonly node: Node;
}

export function fileCalls(machine: () => Machine) {
  const at = (path: string): { disk: Disk; path: string } => machine().place(path);
  const step = async (path: string): Promise<void> => await machine().step(path);
  const node = (path: string): Node => {
    const place = at(path);
    return place.disk.find(place.path);
  };

  async function open(path: string, flags: string) {
    await step(path);
    const { disk, path: inside } = at(path);
    const node = flags === 'wx' ? disk.createFile(inside) : disk.find(inside);
    return handleOf({ disk, node }, async () => await step(path));
  }

  async function readFile(path: string, encoding?: string): Promise<Buffer | string> {
    await step(path);
    const file = asFile(node(path), path);
    return encoding === undefined ? Buffer.from(file.data) : file.data.toString('utf8');
  }

  async function mkdir(path: string, options: { readonly recursive?: boolean }): Promise<string | undefined> {
    await step(path);
    const { disk, path: inside } = at(path);
    if (options.recursive === true) return disk.makeDirectories(inside);
    disk.makeDirectory(inside);
    return undefined;
  }

  async function rm(path: string, { force = false }: { readonly force?: boolean }): Promise<void> {
    await step(path);
    const { disk, path: inside } = at(path);
    try {
      disk.remove(inside);
    } catch (error) {
      if (!force || codeOf(error) !== 'ENOENT') throw error;
    }
  }

  function entriesOf(path: string) {
    const { disk, path: inside } = at(path);
    return [...disk.directory(inside).entries].map(([name, child]) => ({ name, ...kindOf(child) }));
  }

  const two = (act: (disk: Disk, from: string, to: string) => void) => async (from: string, to: string) => {
    await step(to);
    const { disk, path } = at(from);
    act(disk, path, at(to).path);
  };

  return {
    promises: {
      open,
      readFile,
      mkdir,
      rm,
      rename: two((disk, from, to) => disk.rename(from, to)),
      link: two((disk, from, to) => disk.link(from, to)),
      unlink: async (path: string) => {
        await step(path);
        const { disk, path: inside } = at(path);
        disk.remove(inside);
      },
      rmdir: async (path: string) => {
        await step(path);
        const { disk, path: inside } = at(path);
        disk.removeDirectory(inside);
      },
      stat: async (path: string) => {
        await step(path);
        return statsOf(node(path));
      },
      readdir: async (path: string, { withFileTypes = false }: { readonly withFileTypes?: boolean } = {}) => {
        await step(path);
        const entries = entriesOf(path);
        return withFileTypes ? entries : entries.map(({ name }) => name);
      },
      // All names at one moment, as those of a small directory come by one call of the system.
      opendir: async (path: string) => {
        await step(path);
        const entries = entriesOf(path);
        return {
          async *[Symbol.asyncIterator]() {
            yield* entries;
          },
        };
      },
    },
    sync: sourceCalls(() => machine().sources),
  };
}

function handleOf({ disk, node }: OpenFile, step: () => Promise<void>) {
  const file = (): FileNode => asFile(node, 'handle');
  return {
    write: async (bytes: Uint8Array, offset: number, length: number, position: number) => {
      await step();
      disk.write(file(), bytes.subarray(offset, offset + length), position);
      return { bytesWritten: length };
    },
    writeFile: async (content: string | Uint8Array) => {
      await step();
      disk.write(file(), Buffer.from(content), 0);
    },
    read: async (into: Buffer, offset: number, length: number, position: number) => {
      await step();
      return { bytesRead: file().data.copy(into, offset, position, position + length) };
    },
    sync: async () => {
      await step();
      disk.sync(node);
    },
    datasync: async () => {
      await step();
      disk.sync(node);
    },
    stat: async () => statsOf(node),
    close: async () => {},
  };
}

/** What the archiver asks of a source where the C library cannot be called. */
function sourceCalls(sources: () => SourceTree) {
  const opened = new Map<number, string>();
  let last = SOURCE_FD;
  return {
    openSync: (path: string): number => {
      sources().open(path);
      last += 1;
      opened.set(last, path);
      return last;
    },
    closeSync: (fd: number): void => void opened.delete(fd),
    readSync: (fd: number, into: Uint8Array, offset: number, length: number, position: number): number =>
      sources()
        .open(opened.get(fd) ?? '')
        .copy(into, offset, position, position + length),
    fstatSync: (fd: number) => sources().stat(opened.get(fd) ?? ''),
    lstatSync: (path: string, options: { readonly throwIfNoEntry?: boolean } = {}) => {
      const stat = sources().stat(path);
      if (stat === undefined && options.throwIfNoEntry !== false) throw systemError('ENOENT', path);
      return stat;
    },
    readdirSync: (path: string): string[] => sources().names(path),
    readFileSync: (path: string): string => {
      throw systemError('ENOENT', path);
    },
  };
}

function statsOf(node: Node) {
  return {
    ...kindOf(node),
    dev: 1,
    // Of whoever runs the simulator, also where that is root.
    uid: process.geteuid?.() ?? 0,
    ino: node.ino,
    size: node.kind === 'file' ? node.data.length : 0,
    mtimeMs: node.mtimeMs,
  };
}

function kindOf(node: Node) {
  return { isFile: () => node.kind === 'file', isDirectory: () => node.kind === 'directory' };
}

function asFile(node: Node | DirectoryNode, path: string): FileNode {
  if (node.kind === 'file') return node;
  throw systemError('EISDIR', path);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
