/**
 * The sources that a restored snapshot does not have. Each source has snapshots of its own, so whoever restores all of
 * `latest` after a loss could take one source for everything that was backed up.
 */
import { isWithin } from '../../base/byte-path.ts';
import { holdfastThere } from '../../base/holdfast-command.ts';
import { isFull } from '../../base/stored-by.ts';
import type { Snapshot } from '../../repository/snapshots.ts';
import { count, shortId, timeText } from '../terminal/wording.ts';
import { printablePath } from '../terminal/terminal.ts';

/** How many of them are named one by one. */
const SHOWN = 5;

/**
 * The newest snapshot of each other set of sources of the same host.
 * @param live oldest first
 */
export function otherSources(chosen: Snapshot, live: readonly Snapshot[]): readonly Snapshot[] {
  const { host, paths: had, kind } = chosen.record;
  const newest = new Map<string, Snapshot>();
  for (const snapshot of live) {
    const { record } = snapshot;
    const isCovered = record.paths.every((path) => had.some((one) => isWithin(path, one)));
    if (record.host !== host || record.kind !== kind || isCovered || !isFull(snapshot.storedBy)) continue;
    const key = record.paths.toSorted().join('\0');
    // Deleted first, so that the map is in the order of these snapshots.
    newest.delete(key);
    newest.set(key, snapshot);
  }
  return [...newest.values()].toReversed();
}

/** No line when there are no others. */
export function otherSourcesLines(others: readonly Snapshot[]): readonly string[] {
  const [first] = others;
  if (first === undefined) return [];
  const shown = others.slice(0, SHOWN);
  return [
    'This was one snapshot. Other sources have snapshots of their own, and are not in it:',
    ...shown.map((one) => {
      const paths = one.record.paths.slice(0, SHOWN).map(printablePath).join(', ');
      return `  ${shortId(one.id)}  ${timeText(one)}  ${paths}`;
    }),
    ...(others.length > SHOWN ? [`  … and ${count(others.length - SHOWN, 'more set')} of sources`] : []),
    `Bring each back by its id, as in: ${holdfastThere`restore ${shortId(first.id)} --target DIR`}`,
  ];
}
