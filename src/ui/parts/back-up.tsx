import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { OverviewSource } from '../../api/schemas/page/overview.ts';
import { ask, type AskError } from '../agent/ask.ts';
import { useOverviewAgain } from '../agent/overview.ts';
import { asAskError, useAction } from '../agent/use-asked.ts';
import { Path } from '../components/own-text.tsx';
import { Problem } from '../components/problem.tsx';

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

interface Begun {
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

export interface BackUp extends Begun {
  readonly isBusy: boolean;
  readonly run: () => Promise<void>;
}

const NOTHING: Begun = { backups: 0, refusals: [] };

/** The state of a button that backs up rows of the overview, and the outcome. */
export function useBackUp(rows: readonly Pick<OverviewSource, 'path' | 'destination'>[]): BackUp {
  const again = useOverviewAgain();
  const [begun, setBegun] = useState(NOTHING);
  const { isBusy, run } = useAction(async () => {
    setBegun(NOTHING);
    setBegun(await backUp(askedOfRows(rows)));
    again();
  });
  return { ...begun, isBusy, run };
}

/** Shows which sources are not backed up although the user asked for it, and why. */
export function Refusals({ of: refusals }: { readonly of: readonly Refusal[] }): JSX.Element {
  // Groups equal reasons, as a fault of the agent is the same for all sources.
  const groups = Map.groupBy(refusals, ({ error: { code, message } }) => `${code} ${message}`);
  return (
    <>
      {[...groups].map(([reason, alike]) => (
        <Problem key={reason} error={alike[0]?.error}>
          <ul class="plain-list">
            {alike.map(({ path }) => (
              <li key={path}>
                <Path>{path}</Path>
              </li>
            ))}
          </ul>
        </Problem>
      ))}
    </>
  );
}
