import { asByteString, type ByteString } from '../base/byte-path.ts';

/** The sources of a run as a tree of path components, so that their common parents are stored once. */
export interface SourceNode {
  readonly path: ByteString;
  /** Everything below is to be backed up. */
  readonly whole: boolean;
  /** Otherwise the children that lead to sources, in byte order. */
  readonly children: readonly { readonly name: ByteString; readonly node: SourceNode }[];
}

/** Arranges absolute, normalised paths. A source inside another one adds nothing. */
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
  if (rests.some((rest) => rest.length === 0)) return { path, whole: true, children: [] };
  const byName = new Map<ByteString, ByteString[][]>();
  for (const rest of rests) {
    const name = rest[0];
    if (name === undefined) continue;
    const group = byName.get(name) ?? [];
    group.push(rest.slice(1));
    byName.set(name, group);
  }
  const names = [...byName.keys()].sort();
  const children = names.map((name) => {
    const below = asByteString(path === '/' ? `/${name}` : `${path}/${name}`);
    return { name, node: arrange(below, byName.get(name) ?? []) };
  });
  return { path, whole: false, children };
}

/** The sources at or below a node. */
export function sourcesBelow(node: SourceNode): readonly ByteString[] {
  return node.whole ? [node.path] : node.children.flatMap((child) => sourcesBelow(child.node));
}
