/** Destinations that can be reached, but do not have the backups that were stored there. */
import type { Overview } from '../../api/schemas/page/overview.ts';

export type Lost = 'emptied' | 'other_repository';

/** What a backup found in place of the repository at the destination; undefined when it found that, or did not get there. */
export function lostAt(
  name: string,
  { headline, others, sources }: Pick<Overview, 'headline' | 'others' | 'sources'>,
): Lost | undefined {
  for (const { code, reason, to, paths } of [headline, ...others]) {
    const lost = code === 'destination_gone' ? 'emptied' : reason;
    if (lost !== 'emptied' && lost !== 'other_repository') continue;
    const ofSources = sources.filter(({ path }) => paths.includes(path)).map((one) => one.destination);
    // Without destinations all those of the sources are meant.
    if ((to.length > 0 ? to : ofSources).includes(name)) return lost;
  }
  return undefined;
}
