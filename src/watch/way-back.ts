/** How somebody gets back what a source has lost: the command that restores it from the last snapshot from before. */
import { holdfast } from '../base/holdfast-command.ts';

export interface SnapshotPlace {
  readonly snapshot: string;
  /** Name of the destination, or its URL. */
  readonly destination: string;
}

/** In place only what is missing comes back; beside it everything, for what is there and may be damaged. */
export type RestoreTo = 'in-place' | 'beside';

/** In brackets, so that more can be said behind it; how the snapshot is found where it is not known. */
export function wayBack(before: SnapshotPlace | null | undefined, source: string, to: RestoreTo): string {
  if (before === null || before === undefined)
    return `(from the last snapshot before that, which this lists: ${holdfast`snapshots --path ${source}`})`;
  const id = before.snapshot.slice(0, 8);
  const from = before.destination === STANDARD ? [] : ['-r', before.destination];
  return to === 'in-place'
    ? `(${holdfast`restore ${id} --in-place ${from}`})`
    : `(${holdfast`restore ${id} --target DIR ${from}`})`;
}

/** What commands mean that name no destination. */
const STANDARD = 'default';
