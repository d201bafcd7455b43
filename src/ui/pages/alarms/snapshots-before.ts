/** Finds the newest snapshots of a source from before the event that an alarm reports. */
import type { Snapshot } from '../../../api/schemas/snapshot.ts';
import type { Alarm } from '../../../api/schemas/page/jobs.ts';
import { ask, withQuery } from '../../agent/ask.ts';

interface SnapshotPage {
  readonly items: readonly Snapshot[];
  readonly next_cursor: string | null;
}

const SHOWN = 6;
const LIMIT = 100;
/** The search goes no further back. An older alarm is shown without snapshots. */
const MOST_PAGES = 20;

/** Snapshots of write-only keys are no way back: such a key may claim any source and time. */
const FULL = 'full';

/** For an alarm about a host name: the snapshots that its key stored under that name, the newest first. */
export async function snapshotsOfKey(
  { source, facts }: Pick<Alarm, 'source' | 'facts'>,
  signal: AbortSignal,
): Promise<readonly Snapshot[]> {
  const key = facts['key'];
  if (typeof key !== 'string') return [];
  const page = await ask<SnapshotPage>('GET', withQuery('/snapshots', { stored_by: key, limit: LIMIT }), {
    signal,
  });
  return page.items.filter(({ host }) => host === source).slice(0, SHOWN);
}

export async function snapshotsBefore(
  { source, at, snapshot_before: last }: Pick<Alarm, 'source' | 'at' | 'snapshot_before'>,
  signal: AbortSignal,
): Promise<readonly Snapshot[]> {
  const found: Snapshot[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const page = await ask<SnapshotPage>(
      'GET',
      withQuery('/snapshots', { source, stored_by: FULL, limit: LIMIT, cursor }),
      {
        signal,
      },
    );
    found.push(...page.items.filter(({ created_at: made }) => made <= at));
    const from = found.findIndex(({ id }) => id === last);
    const isEnough = last === null ? found.length >= SHOWN : from >= 0 && found.length >= from + SHOWN;
    if (isEnough || page.next_cursor === null) break;
    cursor = page.next_cursor;
  }
  // Snapshots made between the loss and the alarm lack the same files.
  const first = Math.max(
    0,
    found.findIndex(({ id }) => id === last),
  );
  return found.slice(first, first + SHOWN);
}
