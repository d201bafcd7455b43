/** Resolves paths that somebody typed, as they may lead through symbolic links: snapshots contain the targets of these. */
import { asByteString } from '../../base/byte-path.ts';
import { pathText, treePath } from '../../base/tree-path.ts';
import type { NamedPaths } from '../../base/source-names.ts';
import type { AskedPaths, SnapshotSummary } from '../../jobs/agent.ts';
import { wherePathLeads } from '../../system/where-it-lies.ts';

export { wherePathLeads };

/** For the source, as text, and the path, as bytes, of a question. */
export function leadsToOf({
  source,
  path,
}: {
  readonly source?: string | undefined;
  readonly path?: string | undefined;
}): AskedPaths['leadsTo'] {
  return {
    source: source === undefined ? [] : wherePathLeads(treePath(source)).map(pathText),
    path: path === undefined ? [] : wherePathLeads(asByteString(path)),
  };
}

export function asNamed({ paths, named }: Pick<SnapshotSummary, 'paths' | 'named'>): NamedPaths {
  return { paths: paths.map(asByteString), named };
}
