/** Looks up the settings of a source under any of its names, and gives sources names to show. */
import { basename, join, relative } from 'node:path';
import { pathText, treePath } from '../../base/tree-path.ts';
import type { Settings, SourceSettings } from '../../config/settings.ts';
import type { BackupOptions, BackupSpec } from '../../jobs/job.ts';
import { whereItLeads, wherePathLeads } from '../../system/where-it-lies.ts';
import { isInside } from './source-check.ts';

/** Options for a source that the settings do not have. */
const NOTHING_SAID: BackupOptions = {
  compression: 'zstd',
  encryption: true,
  deduplication: true,
  exclude: [],
  tags: [],
  dry_run: false,
};

/** The path as the settings write it. Another name for the same place, such as a symbolic link, means the same source. */
export function configuredPath({ sources }: Pick<Settings, 'sources'>, path: string): string {
  if (sources.some((source) => source.path === path)) return path;
  const lies = whereItLeads(path);
  return sources.find((source) => whereItLeads(source.path) === lies)?.path ?? path;
}

/** A path in terms of its source, whose name may be a symbolic link; undefined for a path outside of it. */
export function pathInSource(source: string, path: string): string | undefined {
  const lies = whereItLeads(source);
  for (const at of [path, ...wherePathLeads(treePath(path)).map(pathText)]) {
    if (isInside(at, source)) return at;
    if (isInside(at, lies)) return join(source, relative(lies, at));
  }
  return undefined;
}

/** The settings of the source for that destination or, if there are none, for any destination. */
export function sourceOf(
  { sources }: Pick<Settings, 'sources'>,
  { source: path, destination }: Pick<BackupSpec, 'source' | 'destination'>,
): SourceSettings | undefined {
  const known = sources.filter((source) => source.path === path);
  return known.find(({ destinations }) => destinations.includes(destination)) ?? known[0];
}

/** The options when a request names none: those of scheduled backups. */
export function storedAs(source: SourceSettings | undefined): BackupOptions {
  if (source === undefined) return NOTHING_SAID;
  const { compression, encryption, deduplication, tags } = source;
  return { ...NOTHING_SAID, compression, encryption, deduplication, tags };
}

/**
 * Display names of sources: shorter than their paths, as long as no two are the same. The home directory is returned as
 * `~`, which the user interface replaces by a word.
 * @param paths of all sources
 */
export function sourceNames(paths: readonly string[], home: string): ReadonlyMap<string, string> {
  const short = (path: string): string => (path === home ? '~' : basename(path) || path);
  const counts = new Map<string, number>();
  for (const path of new Set(paths)) counts.set(short(path), (counts.get(short(path)) ?? 0) + 1);
  return new Map(paths.map((path) => [path, (counts.get(short(path)) ?? 0) > 1 ? path : short(path)]));
}
