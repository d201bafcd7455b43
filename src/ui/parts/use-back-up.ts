/** The state of a button that backs up rows of the overview, and the outcome. */
import { useState } from 'preact/hooks';
import type { OverviewSource } from '../../api/schemas/page/overview.ts';
import { useOverviewAgain } from '../agent/overview.ts';
import { useAction } from '../agent/use-asked.ts';
import { askedOfRows, backUp, type Begun } from './back-up.ts';

export interface BackUp extends Begun {
  readonly isBusy: boolean;
  readonly run: () => Promise<void>;
}

const NOTHING: Begun = { backups: 0, refusals: [] };

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
