/**
 * The sources that `latest` does not have. Each source has snapshots of its own, so whoever takes all of `latest` after a
 * loss could take one source for everything that was backed up.
 */
import { isWithin } from '../../base/byte-path.ts';
import { holdfastThere } from '../../base/holdfast-command.ts';
import { isFull } from '../../base/stored-by.ts';
import type { Snapshot } from '../../repository/snapshots.ts';
import { printablePath } from '../terminal/terminal.ts';
import { count, shortId, timeText } from '../terminal/wording.ts';

/** How many of them are named one by one. */
const SHOWN = 5;

/**
 * The newest snapshot of each other set of sources of the same host, the newest first.
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

/** What `latest` is, where it could be another source than is meant. */
export function latestNote(chosen: Snapshot): string {
  return `Note: "latest" is snapshot ${shortId(chosen.id)}, which has only ${pathsOf(chosen)}. Other folders have snapshots of their own.`;
}

const EXAMPLES = {
  restore: (id: string) => holdfastThere`restore ${id} --target DIR`,
  tar: (id: string) => `${holdfastThere`tar ${id}`} > FILE.tar`,
};

/** No line when there are no others. */
export function otherSourcesLines(
  chosen: Snapshot,
  others: readonly Snapshot[],
  command: keyof typeof EXAMPLES,
): readonly string[] {
  const [first] = others;
  if (first === undefined) return [];
  return [
    `This was only ${pathsOf(chosen)}. These have snapshots of their own:`,
    ...others.slice(0, SHOWN).map((one) => `  ${shortId(one.id)}  ${timeText(one)}  ${pathsOf(one)}`),
    ...(others.length > SHOWN ? [`  … and ${count(others.length - SHOWN, 'more set')} of sources`] : []),
    `Take each by its id, for example: ${EXAMPLES[command](shortId(first.id))}`,
  ];
}

export function textOfLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

function pathsOf({ record: { paths } }: Snapshot): string {
  const shown = paths.slice(0, SHOWN).map(printablePath).join(', ');
  return paths.length > SHOWN ? `${shown}, …` : shown;
}
