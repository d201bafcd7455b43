/** Backing sources up at once, each to the destinations that it goes to. */
import type { OverviewSource } from '../../../api/schemas/page/overview.ts';
import { ask } from '../../agent/ask.ts';

/** Every destination is named: without one, a backup goes to the default destination. */
export async function backUpNow(
  rows: readonly Pick<OverviewSource, 'path' | 'destination'>[],
): Promise<void> {
  for (const { path: source, destination } of rows)
    await ask('POST', '/backup', { body: { source, destination } });
}
