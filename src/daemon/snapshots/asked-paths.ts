/** Paths that somebody typed may lead through links of this machine; a snapshot has what lay at their ends. */
import { asByteString, bytesOfText, textOfBytes } from '../../base/byte-path.ts';
import type { NamedPaths } from '../../base/source-names.ts';
import type { AskedPaths, SnapshotSummary } from '../../jobs/agent.ts';
import { wherePathLeads } from '../../system/where-it-lies.ts';

export { wherePathLeads };

/** Of what is asked: a source as text, a path as bytes. */
export function leadsToOf({
  source,
  path,
}: {
  readonly source?: string | undefined;
  readonly path?: string | undefined;
}): AskedPaths['leadsTo'] {
  return {
    source: source === undefined ? [] : wherePathLeads(bytesOfText(source)).map(textOfBytes),
    path: path === undefined ? [] : wherePathLeads(asByteString(path)),
  };
}

export function asNamed({ paths, named }: Pick<SnapshotSummary, 'paths' | 'named'>): NamedPaths {
  return { paths: paths.map(asByteString), named };
}
