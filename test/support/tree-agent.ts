/** An agent whose snapshots are trees in memory: what the folder of snapshots is tested on alone. */
import { FULL_KEYS } from '../../src/base/stored-by.ts';
import { asByteString, bytesOfText, textOfBytes, type ByteString } from '../../src/base/byte-path.ts';
import { treePath } from '../../src/base/tree-path.ts';
import { RequestError } from '../../src/base/errors.ts';
import type { Agent, FileItem, SnapshotSummary } from '../../src/jobs/agent.ts';

/** Text is a file, an object a directory. Names are bytes as Latin-1. */
export interface Tree {
  readonly [name: string]: string | Tree;
}

export const A_LINK = 'link to somewhere';

export interface TreeSnapshot extends SnapshotSummary {
  /** From `/` down. */
  readonly tree: Tree;
}

export interface TreeAgent extends Pick<Agent, 'snapshots' | 'entry' | 'files' | 'content'> {
  /** Newest first. */
  readonly kept: TreeSnapshot[];
  /** Snapshots whose files cannot be read, or not to their end. */
  readonly failing: Map<string, 'at once' | 'midway'>;
  /** What was asked of it, by the names of its functions. */
  readonly asked: string[];
}

export const MODIFIED = Date.UTC(2026, 0, 1, 12, 0, 0, 500);

export function treeSnapshot(
  id: string,
  source: string,
  tree: Tree,
  changes: Partial<TreeSnapshot> = {},
): TreeSnapshot {
  return {
    id: id.repeat(64).slice(0, 64),
    source,
    paths: [treePath(source)],
    destination: 'default',
    host: 'desk',
    stored_by: FULL_KEYS,
    said_at: null,
    tags: [],
    pinned: false,
    partial: false,
    unread: { paths: [], count: 0 },
    created_at: Date.UTC(2026, 0, 2),
    files: 1,
    size_bytes: 1,
    rank: Number.parseInt(id, 36),
    unreadable: 0,
    backup_id: null,
    tree,
    ...changes,
  };
}

export function treeAgent(): TreeAgent {
  const kept: TreeSnapshot[] = [];
  const asked: string[] = [];
  const failing: TreeAgent['failing'] = new Map();
  const listed = new WeakMap<Tree, readonly (readonly [string, string | Tree])[]>();
  const entriesOf = (directory: Tree): readonly (readonly [string, string | Tree])[] => {
    const entries = listed.get(directory) ?? Object.entries(directory);
    listed.set(directory, entries);
    return entries;
  };
  const find = (id: string, path: string): string | Tree => {
    const snapshot = kept.find((one) => one.id === id);
    if (snapshot === undefined) throw new RequestError('SNAPSHOT_NOT_FOUND', `There is no snapshot ${id}`);
    let at: string | Tree = snapshot.tree;
    for (const name of path.split('/').filter((one) => one !== '')) {
      const next: string | Tree | undefined =
        typeof at === 'object' && Object.hasOwn(at, name) ? at[name] : undefined;
      if (next === undefined) throw new RequestError('PATH_NOT_IN_SNAPSHOT', `${path} is not in the backup`);
      at = next;
    }
    return at;
  };
  return {
    kept,
    asked,
    failing,
    snapshots: async () => {
      asked.push('snapshots');
      return await Promise.resolve(kept);
    },
    entry: async (id, path) => {
      asked.push('entry');
      return await Promise.resolve(itemOf(asByteString(path), find(id, path)));
    },
    files: async ({ snapshot, path = '/', limit, after }) => {
      asked.push('files');
      const directory = find(snapshot, path);
      const begin = Number(after ?? 0);
      const items = typeof directory === 'object' ? entriesOf(directory) : [];
      return await Promise.resolve({
        items: items
          .slice(begin, begin + limit)
          .map(([name, below]) => itemOf(asByteString(`${path === '/' ? '' : path}/${name}`), below)),
        unreadable: 0,
        next: begin + limit < items.length ? String(begin + limit) : null,
      });
    },
    content: async (id, path) => {
      asked.push('content');
      const file = find(id, path);
      const bytes = Buffer.from(typeof file === 'string' ? file : '');
      if (failing.get(id) === 'at once') throw new RequestError('DESTINATION_ERROR', 'The drive is away');
      return await Promise.resolve({
        name: path.slice(path.lastIndexOf('/') + 1),
        size: bytes.length,
        async *read(range) {
          if (failing.get(id) === 'midway') {
            yield bytes.subarray(0, 1);
            throw new RequestError('DESTINATION_ERROR', 'The drive was pulled out');
          }
          yield await Promise.resolve(bytes.subarray(range?.start ?? 0, range?.end ?? bytes.length));
        },
      });
    },
  };
}

function itemOf(path: ByteString, at: string | Tree): FileItem {
  const text = textOfBytes(path);
  const isText = bytesOfText(text) === path;
  return {
    path: text,
    path_b64: isText ? null : Buffer.from(path, 'latin1').toString('base64'),
    name: text.slice(text.lastIndexOf('/') + 1),
    type: typeof at === 'object' ? 'directory' : at === A_LINK ? 'symlink' : 'file',
    size_bytes: typeof at === 'object' ? 0 : Buffer.byteLength(at),
    modified_at: MODIFIED,
    mode: 0o644,
    link_target: null,
    children_count: null,
    snapshot_id: '',
    backup_id: null,
    source: '',
    stored_by: FULL_KEYS,
    backed_up_at: 0,
  };
}
