import { asByteString, joinBytes, type ByteString } from '../../base/byte-path.ts';

/** The sources of a run as a tree of path components, so that what lies in several sources is stored once. */
export interface SourceNode {
  readonly path: ByteString;
  /** The path is itself a source: everything below is backed up, by rules that begin here. */
  readonly whole: boolean;
  /** The entries that are or lead to sources further down, in byte order. A source may contain others. */
  readonly children: ReadonlyMap<ByteString, SourceNode>;
}

/** Arranges absolute, normalised paths. */
export function arrangeSources(paths: readonly ByteString[]): SourceNode {
  const split = paths.map((path) =>
    path
      .split('/')
      .filter((part) => part !== '')
      .map(asByteString),
  );
  return arrange(asByteString('/'), split);
}

/** Iterative, and without copying the paths for each level: a path may have thousands of levels. */
function arrange(root: ByteString, paths: readonly (readonly ByteString[])[]): SourceNode {
  const top = newNode(root);
  const work = [{ node: top, depth: 0, through: paths }];
  for (let task = work.pop(); task !== undefined; task = work.pop()) {
    const { node, depth } = task;
    const byName = new Map<ByteString, (readonly ByteString[])[]>();
    for (const path of task.through) {
      const name = path[depth];
      if (name === undefined) node.whole = true;
      else {
        const group = byName.get(name) ?? [];
        byName.set(name, group);
        group.push(path);
      }
    }
    for (const name of [...byName.keys()].sort()) {
      const child = newNode(joinBytes(node.path, name));
      node.children.set(name, child);
      work.push({ node: child, depth: depth + 1, through: byName.get(name) ?? [] });
    }
  }
  return top;
}

function newNode(path: ByteString) {
  return { path, whole: false, children: new Map<ByteString, SourceNode>() };
}

/** The sources below a node, not including the node itself. */
export function sourcesBelow({ children }: SourceNode): readonly ByteString[] {
  const found: ByteString[] = [];
  const work = [...children.values()].toReversed();
  for (let node = work.pop(); node !== undefined; node = work.pop()) {
    if (node.whole) found.push(node.path);
    work.push(...[...node.children.values()].toReversed());
  }
  return found;
}

/** The sources below a node, and the node itself if it is a source. */
export function sourcesFrom(node: SourceNode): readonly ByteString[] {
  return node.whole ? [node.path, ...sourcesBelow(node)] : sourcesBelow(node);
}

/** The names in byte order, including those that lead to sources even if the directory does not list them. */
export function namesWithSources(
  names: readonly ByteString[],
  node: SourceNode | undefined,
): readonly ByteString[] {
  if (node === undefined) return names;
  const listed = new Set(names);
  const missing = [...node.children.keys()].filter((name) => !listed.has(name));
  return missing.length === 0 ? names : [...names, ...missing].sort();
}
