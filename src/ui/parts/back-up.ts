/** Backs sources up at once, each to its own destinations. */
import type { OverviewSource } from '../../api/schemas/page/overview.ts';
import { ask, type AskError } from '../agent/ask.ts';
import { asAskError } from '../agent/use-asked.ts';

export interface AskedBackup {
  readonly path: string;
  /** The destinations that the settings name for it; empty for the default one. */
  readonly destinations: readonly string[];
}

/** Why a source is not backed up. */
export interface Refusal {
  readonly path: string;
  readonly error: AskError;
}

export interface Begun {
  /** How many backups were started: one to each destination. */
  readonly backups: number;
  readonly refusals: readonly Refusal[];
}

/** The backups for rows of the overview, of which each source has one per destination. */
export function askedOfRows(
  rows: readonly Pick<OverviewSource, 'path' | 'destination'>[],
): readonly AskedBackup[] {
  return [...Map.groupBy(rows, ({ path }) => path)].map(([path, ofPath]) => ({
    path,
    destinations: ofPath.map(({ destination }) => destination),
  }));
}

/**
 * Sends one request for each source, even if earlier ones were refused. Several destinations are not named, as the
 * agent then reads the source once for all of them. A single one is named, as the agent would use the default one
 * otherwise.
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
