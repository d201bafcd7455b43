/**
 * A restore that writes over the files of this machine takes those of this machine: `latest` is then chosen from its own
 * snapshots, and a snapshot of another machine has to be asked for.
 */
import { hostname } from 'node:os';
import { treePath } from '../../base/tree-path.ts';
import { holdfastThere } from '../../base/holdfast-command.ts';
import { groupForLatest, isFull, storeKey } from '../../base/stored-by.ts';
import type { RequestError } from '../../base/errors.ts';
import type { Snapshot } from '../../repository/snapshots.ts';
import type { RestoreTarget } from '../../restorer/request/request.ts';
import { type FilterOptions, usage } from '../command/options.ts';
import { printable } from '../terminal/terminal.ts';
import { shortId, timeText } from '../terminal/wording.ts';
import { filterSnapshots } from './chosen-snapshot.ts';
import { sourcePath } from './reading.ts';

/** How many machines, and snapshots of them, an error names. */
const SHOWN = 5;

/** Whether entries go to the paths that they had: in place, or below a target that comes to the same. */
export function goesToOriginals(target: RestoreTarget, subfolder: string | undefined): boolean {
  if (target.kind === 'in-place') return true;
  if (process.platform === 'win32') return false;
  return treePath(target.path) === (subfolder === undefined ? '/' : sourcePath(subfolder));
}

/**
 * The snapshots from which `latest` is chosen for such a restore. Whoever has a write-only key chooses the host of what
 * they store, so theirs do not stand in for those of full keys here either.
 * @param snapshots oldest first
 * @throws {RequestError} USAGE if `latest` could only be a snapshot of another machine
 */
export function ownSnapshots(
  snapshots: readonly Snapshot[],
  filters: FilterOptions,
  host = hostname(),
): readonly Snapshot[] {
  if (filters.host !== undefined) return snapshots;
  const left = filterSnapshots(snapshots, filters);
  const [first] = groupForLatest(left, ({ storedBy }) => storedBy)?.group ?? [];
  if (first === undefined) return snapshots;
  const key = storeKey(first.storedBy);
  const meant = left.filter(({ storedBy }) => storeKey(storedBy) === key);
  if (!meant.some(({ record }) => record.host === host)) throw noneOfThisHost(meant, host);
  return left.filter(({ record, storedBy }) => record.host === host || storeKey(storedBy) !== key);
}

function noneOfThisHost(meant: readonly Snapshot[], host: string): RequestError {
  const newest = new Map(meant.map((one) => [one.record.host, one]));
  const named = [...newest.values()].slice(-SHOWN).toReversed();
  const more = newest.size > named.length ? ` and ${newest.size - named.length} more` : '';
  const hosts = named.map((one) => `${one.record.host} (${shortId(one.id)} from ${timeText(one)})`);
  const [only] = named;
  const by = only === undefined || isFull(only.storedBy) ? '' : ' by that key';
  return usage(
    `There is no snapshot of this machine (${printable(host)})${by}, and "latest" is not taken from another one to write over its files. There are those of ${printable(hosts.join(', '))}${more}`,
    `If you want the files of another machine here, name it with --host ${only?.record.host ?? 'NAME'}, or name a snapshot: ${holdfastThere`snapshots`}`,
  );
}

/** ` of the host laptop2 from …`, to follow the name of a snapshot; empty for one of this machine. */
export function ofOtherHost(snapshot: Snapshot, host = hostname()): string {
  return snapshot.record.host === host
    ? ''
    : ` of the host ${printable(snapshot.record.host)} from ${timeText(snapshot)}`;
}
