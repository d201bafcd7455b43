/** Notes about sources at their destinations, other than jobs, which are kept as long as the settings have both. */
import type { Settings } from '../../config/settings.ts';
import type { JobStore } from '../../db/jobs.ts';
import type { SettingStore } from '../../db/settings.ts';
import { protectedSince, sinceKey } from './absence-watch.ts';
import { goodKey } from './good-backups.ts';

/** Removes the notes of other pairs, so that a source or destination that is added again begins anew. */
export function forgetRemoved(
  store: Pick<SettingStore, 'all' | 'set'>,
  { sources }: Pick<Settings, 'sources'>,
): void {
  const pairs = sources.flatMap(({ path, destinations }) =>
    destinations.map((name) => [name, path] as const),
  );
  for (const keyOf of [sinceKey, goodKey]) {
    const kept = new Set(pairs.map(([destination, path]) => keyOf(destination, path)));
    const prefix = keyOf('', '').trimEnd();
    for (const key of store.all().keys())
      if (key.startsWith(`${prefix} `) && !kept.has(key)) store.set(key, undefined);
  }
}

/**
 * When a restore from the destination was last tried or, if never, since when sources are backed up to it; milliseconds
 * since 1970. Null when neither is known.
 */
export function untestedSince(
  destination: string,
  {
    jobs,
    settings,
    notes,
  }: {
    readonly jobs: Pick<JobStore, 'newest'>;
    readonly settings: () => Pick<Settings, 'sources'>;
    readonly notes: Pick<SettingStore, 'get'>;
  },
): number | null {
  const newest = (type: 'drill' | 'restore'): number | null =>
    jobs.newest({ types: [type], destination, status: 'completed' })?.finished_at ?? null;
  const tried = [newest('drill'), newest('restore')].filter((at) => at !== null);
  if (tried.length > 0) return Math.max(...tried);
  const since = settings()
    .sources.filter(({ destinations }) => destinations.includes(destination))
    .flatMap(({ path }) => protectedSince(notes, destination, path) ?? []);
  return since.length === 0 ? null : Math.min(...since);
}
