/** The command that restores lost files from the last snapshot before the loss. */
import { holdfast } from '../base/holdfast-command.ts';

export interface SnapshotPlace {
  readonly snapshot: string;
  /** Name of the destination, or its URL. */
  readonly destination: string;
}

/** In place restores only what is missing; a restore elsewhere brings everything, as existing files may be damaged. */
export type RestoreTo = 'in-place' | 'beside';

/**
 * The command in brackets, so that it can be part of a sentence. Where the snapshot is unknown, the command that lists snapshots.
 */
export function wayBack(before: SnapshotPlace | null | undefined, source: string, to: RestoreTo): string {
  if (before === null || before === undefined)
    return `(from the last snapshot before that, which this lists: ${holdfast`snapshots --path ${source}`})`;
  const id = before.snapshot.slice(0, 8);
  const from = before.destination === STANDARD ? [] : ['-r', before.destination];
  return to === 'in-place'
    ? `(${holdfast`restore ${id} --in-place ${from}`})`
    : `(${holdfast`restore ${id} --target DIR ${from}`})`;
}

/** The destination of commands that name none. */
const STANDARD = 'default';
