/** Backing sources up at once, each to the destinations that it goes to. */
import type { OverviewSource } from '../../api/schemas/page/overview.ts';
import { ask, type AskError } from '../agent/ask.ts';
import { asAskError } from '../agent/use-asked.ts';

export interface AskedBackup {
  readonly path: string;
  /** That the settings name for it; none for the default one. */
  readonly destinations: readonly string[];
}

/** Why a source is not backed up. */
export interface Refusal {
  readonly path: string;
  readonly error: AskError;
}

export interface Begun {
  /** How many are on their way: one to each destination. */
  readonly backups: number;
  readonly refusals: readonly Refusal[];
}

/** Of the rows of the overview: one for each destination of a source. */
export function askedOfRows(
  rows: readonly Pick<OverviewSource, 'path' | 'destination'>[],
): readonly AskedBackup[] {
  return [...Map.groupBy(rows, ({ path }) => path)].map(([path, ofPath]) => ({
    path,
    destinations: ofPath.map(({ destination }) => destination),
  }));
}

/**
 * One request for each source, whether those before it were taken or not. Several destinations are not named: the agent
 * then reads the source once for all of them. A single one is, as it would be the default one else.
 */
export async function backUp(sources: readonly AskedBackup[]): Promise<Begun> {
  const refusals: Refusal[] = [];
  let backups = 0;
  for (const { path, destinations } of sources) {
    const [destination, ...others] = destinations;
    const named = destination === undefined || others.length > 0 ? {} : { destination };
    try {
      await ask('POST', '/backup', { body: { source: path, ...named } });
      backups += Math.max(1, destinations.length);
    } catch (error) {
      refusals.push({ path, error: asAskError(error) });
    }
  }
  return { backups, refusals };
}
