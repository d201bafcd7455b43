/**
 * What writes over the files of this machine, or changes or removes a snapshot, takes those of this machine: `latest` is
 * then chosen from its own snapshots, and a snapshot of another machine has to be asked for.
 */
import { hostname } from 'node:os';
import { treePath } from '../../base/tree-path.ts';
import { holdfastThere } from '../../base/holdfast-command.ts';
import { groupForLatest, isFull, storeKey } from '../../base/stored-by.ts';
import type { RequestError } from '../../base/errors.ts';
import type { Snapshot, SnapshotList } from '../../repository/snapshots.ts';
import type { RestoreTarget } from '../../restorer/request/request.ts';
import { type FilterOptions, usage } from '../command/options.ts';
import { printable } from '../terminal/terminal.ts';
import { count, shortId, timeText } from '../terminal/wording.ts';
import { filterSnapshots } from './chosen-snapshot.ts';
import { sourcePath } from './reading.ts';

/** How many machines, and snapshots of them, an error names. */
const SHOWN = 5;

/** What `latest` is wanted for: where an error says so, and how another machine's snapshot is asked for. */
interface Purpose {
  readonly where: string;
  readonly instead: (host: string) => string;
}

const PURPOSES = {
  restore: {
    where: 'to write over its files',
    instead: (host) => `If you want the files of another machine here, name it with --host ${host}, or name`,
  },
  forget: {
    where: 'where something is removed',
    instead: (host) => `If you mean another machine, name it with --host ${host}, or name`,
  },
  tag: { where: 'where something is changed', instead: () => 'Name' },
} as const satisfies Record<string, Purpose>;

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
  purpose: keyof typeof PURPOSES = 'restore',
  host = hostname(),
): readonly Snapshot[] {
  if (filters.host !== undefined) return snapshots;
  const left = filterSnapshots(snapshots, filters);
  const [first] = groupForLatest(left, ({ storedBy }) => storedBy)?.group ?? [];
  if (first === undefined) return snapshots;
  const key = storeKey(first.storedBy);
  const meant = left.filter(({ storedBy }) => storeKey(storedBy) === key);
  if (!meant.some(({ record }) => record.host === host)) throw noneOfThisHost(meant, PURPOSES[purpose], host);
  return left.filter(({ record, storedBy }) => record.host === host || storeKey(storedBy) !== key);
}

/**
 * The snapshots from which `name` is chosen to be removed or changed. Nobody knows which is the newest while one of them
 * cannot be read, so `latest` is refused then.
 * @throws {RequestError} USAGE if `latest` could be another one than is meant
 */
export function snapshotsToChange(
  { live, damaged }: Pick<SnapshotList, 'live' | 'damaged'>,
  name: string,
  filters: FilterOptions,
  purpose: 'forget' | 'tag',
): readonly Snapshot[] {
  if (!name.startsWith('latest')) return live;
  if (damaged.length > 0)
    throw usage(
      `${count(damaged.length, 'snapshot')} cannot be read, so "${printable(name)}" could be another one than you mean. Nothing was changed`,
      `Name a snapshot by its id: ${holdfastThere`snapshots`}`,
    );
  return ownSnapshots(live, filters, purpose);
}

function noneOfThisHost(meant: readonly Snapshot[], purpose: Purpose, host: string): RequestError {
  const newest = new Map(meant.map((one) => [one.record.host, one]));
  const named = [...newest.values()].slice(-SHOWN).toReversed();
  const more = newest.size > named.length ? ` and ${newest.size - named.length} more` : '';
  const hosts = named.map((one) => `${one.record.host} (${shortId(one.id)} from ${timeText(one)})`);
  const [only] = named;
  const by = only === undefined || isFull(only.storedBy) ? '' : ' by that key';
  return usage(
    `There is no snapshot of this machine (${printable(host)})${by}, and "latest" is not taken from another one ${purpose.where}. There are those of ${printable(hosts.join(', '))}${more}`,
    `${purpose.instead(only?.record.host ?? 'NAME')} a snapshot: ${holdfastThere`snapshots`}`,
  );
}

/** ` of the host laptop2 from …`, to follow the name of a snapshot; empty for one of this machine. */
export function ofOtherHost(snapshot: Snapshot, host = hostname()): string {
  return snapshot.record.host === host
    ? ''
    : ` of the host ${printable(snapshot.record.host)} from ${timeText(snapshot)}`;
}
