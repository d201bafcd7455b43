/** What a question about snapshots means where it does not say: paths through symbolic links, and the key whose snapshots are asked for. */
import { asByteString } from '../../base/byte-path.ts';
import { RequestError } from '../../base/errors.ts';
import type { NamedPaths } from '../../base/source-names.ts';
import { groupForLatest, type StoredBy, storedByText, storeKey } from '../../base/stored-by.ts';
import { pathText, treePath } from '../../base/tree-path.ts';
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

/** The most keys that an error names. */
const NAMED = 5;

/**
 * Chooses the key whose snapshots are meant when the request does not say: full keys first, and never a mix with those
 * of a write-only key. Returns those that full keys stored, if there are any; otherwise those of the only write-only
 * key.
 * @param ones all candidates
 * @throws {RequestError} SNAPSHOT_NOT_FOUND when several write-only keys stored some, and full keys none
 */
export function meantGroup<T>(ones: readonly T[], byOf: (one: T) => StoredBy): readonly T[] {
  const choice = groupForLatest(ones, byOf);
  if (choice !== undefined) return choice.group;
  const firsts = [...new Map(ones.map((one) => [storeKey(byOf(one)), byOf(one)])).values()];
  const named = firsts.slice(0, NAMED).map(storedByText).join(', ');
  const keys = firsts.slice(0, NAMED).map(storeKey);
  throw new RequestError(
    'SNAPSHOT_NOT_FOUND',
    `Several write-only keys stored snapshots that could be meant, and full keys none: ${named}`,
    {
      hint: `Choose one with stored_by: ${keys.join(' or ')}.`,
      details: { stored_by: keys.join(' ') },
    },
  );
}
