/** What the settings say of a source that somebody names, in whichever of its spellings. */
import { join, relative } from 'node:path';
import { bytesOfText, textOfBytes } from '../../base/byte-path.ts';
import type { Settings, SourceSettings } from '../../config/settings.ts';
import type { BackupOptions, BackupSpec } from '../../jobs/job.ts';
import { whereItLeads, wherePathLeads } from '../../system/where-it-lies.ts';
import { isInside } from './source-check.ts';

/** The options of a source that the settings do not have. */
const NOTHING_SAID: BackupOptions = {
  compression: 'zstd',
  encryption: true,
  deduplication: true,
  exclude: [],
  tags: [],
  dry_run: false,
};

/** As the settings write it when they have it: by another name, such as that of a link, it is the same source. */
export function configuredPath({ sources }: Pick<Settings, 'sources'>, path: string): string {
  if (sources.some((source) => source.path === path)) return path;
  const lies = whereItLeads(path);
  return sources.find((source) => whereItLeads(source.path) === lies)?.path ?? path;
}

/** A path as it is called within a source, which may be the name of a link to where the path lies; undefined outside of it. */
export function pathInSource(source: string, path: string): string | undefined {
  const lies = whereItLeads(source);
  for (const at of [path, ...wherePathLeads(bytesOfText(path)).map(textOfBytes)]) {
    if (isInside(at, source)) return at;
    if (isInside(at, lies)) return join(source, relative(lies, at));
  }
  return undefined;
}

/** The settings of the source for that destination, or else for any. */
export function sourceOf(
  { sources }: Pick<Settings, 'sources'>,
  { source: path, destination }: Pick<BackupSpec, 'source' | 'destination'>,
): SourceSettings | undefined {
  const known = sources.filter((source) => source.path === path);
  return known.find(({ destinations }) => destinations.includes(destination)) ?? known[0];
}

/** How it is stored where a request says nothing: as by its schedule. */
export function storedAs(source: SourceSettings | undefined): BackupOptions {
  if (source === undefined) return NOTHING_SAID;
  const { compression, encryption, deduplication, tags } = source;
  return { ...NOTHING_SAID, compression, encryption, deduplication, tags };
}
