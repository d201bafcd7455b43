import { asByteString, joinBytes, type ByteString } from '../base/byte-path.ts';

/** The sources of a run as a tree of path components, so that what lies in several of them is stored once. */
export interface SourceNode {
  readonly path: ByteString;
  /** It was named itself: everything below is to be backed up, by rules that begin here. */
  readonly whole: boolean;
  /** The entries that are, or lead to, sources further down, in byte order; a source may have others inside it. */
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

function arrange(path: ByteString, rests: readonly (readonly ByteString[])[]): SourceNode {
  const byName = new Map<ByteString, ByteString[][]>();
  for (const [name, ...rest] of rests) {
    if (name === undefined) continue;
    const group = byName.get(name) ?? [];
    byName.set(name, group);
    group.push(rest);
  }
  const children = new Map<ByteString, SourceNode>();
  for (const name of [...byName.keys()].sort())
    children.set(name, arrange(joinBytes(path, name), byName.get(name) ?? []));
  return { path, whole: rests.some((rest) => rest.length === 0), children };
}

/** The sources that lie below a node, itself not among them. */
export function sourcesBelow({ children }: SourceNode): readonly ByteString[] {
  return [...children.values()].flatMap(sourcesFrom);
}

/** The same with the node itself, where that is one. */
export function sourcesFrom(node: SourceNode): readonly ByteString[] {
  return node.whole ? [node.path, ...sourcesBelow(node)] : sourcesBelow(node);
}

/** The names in byte order, with those that lead to sources even where the directory does not have them. */
export function namesWithSources(
  names: readonly ByteString[],
  node: SourceNode | undefined,
): readonly ByteString[] {
  if (node === undefined) return names;
  const listed = new Set(names);
  const missing = [...node.children.keys()].filter((name) => !listed.has(name));
  return missing.length === 0 ? names : [...names, ...missing].sort();
}
