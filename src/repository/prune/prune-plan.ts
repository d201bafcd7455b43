import { RepositoryError } from '../../base/errors.ts';
import { writeOnlyInUse } from '../keys/keys.ts';
import { packsOfLastParents, relyingSinceMs } from './last-parents.ts';
import type { LiveSession } from '../live-sessions.ts';
import type { PruneStock, StockedPack } from './prune-stock.ts';
import type { Repository } from '../repository.ts';
import { unsoundPacks } from '../tombstones.ts';

/** Limits of prune; each comment gives the reason for its value. */
export const PRUNE_LIMITS = Object.freeze({
  /** A pack with a smaller share of live data is repacked: that costs at most as much as it frees. */
  repackBelow: 0.5,
  /** Milliseconds by which the clocks of storage and machine may diverge between two writes before prune stops. */
  clockJump: 300_000,
  /** Index objects below this are merged with others. */
  smallIndexBytes: 1_048_576,
  /** Small index objects, or finished tombstones, are merged once there are this many. */
  mergeFrom: 8,
  /**
   * How many times stock is taken when the lists change meanwhile. Where others write all the time they never settle.
   * After the last try the grace period alone protects what they have stored since: writers look at the tombstones just
   * before they commit.
   */
  stockTries: 3,
  /** Most names in one tombstone, which then has 1.6 MiB. */
  namesPerTombstone: 50_000,
});

export interface PruneOptions {
  /** Storage time between marking a pack and deleting it; the repository's setting when absent. */
  readonly graceSeconds?: number;
  /** The caller vouches that nobody else writes, which allows a shorter grace period or none. */
  readonly noOtherWriters?: boolean;
  /** Packs with a smaller share of live data (0 to 1) are repacked. */
  readonly repackBelow?: number;
  /** Most stored bytes of packs to repack. */
  readonly maxRepackBytes?: number;
}

export interface PruneSettings {
  readonly graceSeconds: number;
  readonly noOtherWriters: boolean;
  readonly repackBelow: number;
  readonly maxRepackBytes: number;
}

/** What happens to one pack. */
export interface PackFate {
  readonly name: string;
  /** Stored bytes. */
  readonly bytes: number;
  /** Raw bytes of the chunks that snapshots need. */
  readonly liveBytes: number;
  readonly rawBytes: number;
}

/** What prune would do: plain data for people to read and for `executePrune` to keep to. */
export interface PrunePlan {
  /** Repository id. */
  readonly repository: string;
  readonly settings: PruneSettings;
  /** Live snapshots. */
  readonly snapshots: number;
  readonly packs: number;
  readonly packBytes: number;
  readonly sessions: readonly LiveSession[];
  /** Packs that nothing needs: they get a tombstone and are deleted after the grace period. */
  readonly mark: readonly PackFate[];
  /** Mostly dead packs: their live chunks are copied, then they get a tombstone. */
  readonly repack: readonly PackFate[];
  /** Packs that were marked earlier and are needed again: their mark is taken back. */
  readonly revive: readonly PackFate[];
  /** Packs that were marked for longer than the grace period and are still not needed: they are deleted. */
  readonly remove: readonly PackFate[];
  /** Marked packs that are within the grace period, or that a snapshot needed until a moment ago. */
  readonly waiting: readonly PackFate[];
  /** Packs that no snapshot needs yet, but that are younger than the oldest backup at work, or than this plan. */
  readonly young: readonly PackFate[];
  /** Packs without a mark whose content is unknown; they are left alone. */
  readonly unreadable: readonly string[];
  /** Forgotten snapshots whose objects are deleted. */
  readonly removeSnapshots: readonly string[];
}

/** @throws {RepositoryError} REFUSED when the grace period is too short to be safe with other writers */
export function resolveSettings(repository: Repository, options: PruneOptions): PruneSettings {
  const { graceSeconds: usual } = repository.config;
  const graceSeconds = options.graceSeconds ?? usual;
  const noOtherWriters = options.noOtherWriters ?? false;
  if (graceSeconds < 0 || !Number.isFinite(graceSeconds)) {
    throw new RepositoryError('REFUSED', 'The grace period cannot be negative', {
      hint: 'Give a duration such as 72h.',
    });
  }
  if (!noOtherWriters && (graceSeconds === 0 || graceSeconds < usual)) {
    throw new RepositoryError(
      'REFUSED',
      "A grace period shorter than the repository's own could remove data that a running backup needs",
      {
        hint: 'Make sure that no other machine writes to the repository, and say so with --no-other-writers.',
      },
    );
  }
  return {
    graceSeconds,
    noOtherWriters,
    repackBelow: options.repackBelow ?? PRUNE_LIMITS.repackBelow,
    maxRepackBytes: options.maxRepackBytes ?? Number.POSITIVE_INFINITY,
  };
}

/** Decides what is to be done about each pack and forgotten snapshot. */
function decide(repository: Repository, stock: PruneStock, settings: PruneSettings): PrunePlan {
  const { sessions, packs, snapshots, doubtful, nowMs } = stock;
  const dueMs = nowMs - settings.graceSeconds * 1_000;
  // A session that began after the leases were read has stored its packs since then.
  const youngMs = Math.min(nowMs, ...sessions.map(({ startedMs }) => startedMs));
  const due = duePacks(stock, dueMs);
  const fates = {
    mark: new Array<PackFate>(),
    repack: new Array<PackFate>(),
    revive: new Array<PackFate>(),
    remove: new Array<PackFate>(),
    waiting: new Array<PackFate>(),
    young: new Array<PackFate>(),
  };
  const mostlyDead: PackFate[] = [];
  // Packs of write-only keys in use are not repacked: their machines would no longer find their chunks, and store them again.
  const inUse = writeOnlyInUse(repository.keyring);
  const isMarked = ({ name }: StockedPack): boolean => snapshots.tombstones.packs.has(name);
  const damaged = unsoundPacks(snapshots.tombstones);
  // Taking stock found everything that snapshots need, so packs that cannot be read hold none of it.
  const isUnknown = (pack: StockedPack): boolean => !pack.readable && !isMarked(pack);
  for (const pack of packs.values()) {
    if (isUnknown(pack)) continue;
    const fate = fateOf(pack);
    if (isMarked(pack)) {
      // A damaged pack that is needed stays, and stays marked, so that nothing relies on it again.
      if (fate.liveBytes > 0 && damaged.has(pack.name)) continue;
      const goes = due.has(pack.name) && !doubtful.has(pack.sealedBy);
      (fate.liveBytes > 0 ? fates.revive : goes ? fates.remove : fates.waiting).push(fate);
    } else if (fate.liveBytes === 0) {
      (pack.storedMs >= youngMs || doubtful.has(pack.sealedBy) ? fates.young : fates.mark).push(fate);
    } else if (inUse.has(pack.sealedBy)) {
      continue;
    } else if (fate.liveBytes < fate.rawBytes * settings.repackBelow && pack.storedMs < youngMs) {
      mostlyDead.push(fate);
    }
  }
  // Packs with the least live data come first: they free most for what is written.
  mostlyDead.sort((a, b) => a.liveBytes / a.rawBytes - b.liveBytes / b.rawBytes);
  let repackBytes = 0;
  for (const fate of mostlyDead) {
    repackBytes += fate.bytes;
    if (repackBytes > settings.maxRepackBytes) break;
    fates.repack.push(fate);
  }
  return {
    repository: repository.id,
    settings,
    snapshots: snapshots.live.length,
    packs: packs.size,
    packBytes: [...packs.values()].reduce((sum, { bytes }) => sum + bytes, 0),
    sessions,
    ...fates,
    unreadable: [...packs.values()].filter(isUnknown).map(({ name }) => name),
    // A forgotten snapshot is kept as long as its packs may be awaited, since it alone tells which packs these are.
    removeSnapshots: dueSnapshots(
      stock,
      settings.noOtherWriters ? dueMs : Math.min(dueMs, relyingSinceMs(repository, nowMs)),
    ),
  };
}

/** The plan without packs on which a backup may be about to rely, because its parent needed them until a moment ago. */
export async function planWith(
  repository: Repository,
  stock: PruneStock,
  settings: PruneSettings,
  signal: AbortSignal,
): Promise<PrunePlan> {
  const plan = decide(repository, stock, settings);
  if (plan.remove.length === 0 || settings.noOtherWriters) return plan;
  const awaited = await packsOfLastParents(repository, stock, signal);
  const isAwaited = ({ name }: PackFate): boolean => awaited === 'unknown' || awaited.has(name);
  return {
    ...plan,
    remove: plan.remove.filter((fate) => !isAwaited(fate)),
    waiting: [...plan.waiting, ...plan.remove.filter(isAwaited)],
  };
}

/** The part of a fresh plan that an earlier one, which was shown to the user, announced. */
export function keepTo(promised: PrunePlan, fresh: PrunePlan): PrunePlan {
  const within = (kind: 'mark' | 'repack' | 'remove'): PackFate[] => {
    const names = new Set(promised[kind].map(({ name }) => name));
    return fresh[kind].filter(({ name }) => names.has(name));
  };
  const snapshots = new Set(promised.removeSnapshots);
  return {
    ...fresh,
    mark: within('mark'),
    repack: within('repack'),
    remove: within('remove'),
    removeSnapshots: fresh.removeSnapshots.filter((id) => snapshots.has(id)),
  };
}

function fateOf({ name, bytes, liveBytes, rawBytes }: StockedPack): PackFate {
  return { name, bytes, liveBytes, rawBytes };
}

/**
 * Packs whose tombstone is older than the grace period by both the listing and the tombstone itself: copying a
 * repository changes the former, and only the administrator can write the latter.
 */
function duePacks({ snapshots }: PruneStock, dueMs: number): ReadonlySet<string> {
  const due = new Set<string>();
  for (const { record, storedMs } of snapshots.tombstones.all) {
    if (record.kind !== 'packs' || Math.max(storedMs, record.atMs) > dueMs) continue;
    for (const name of record.names) due.add(name);
  }
  return due;
}

function dueSnapshots({ snapshots }: PruneStock, dueMs: number): string[] {
  const due = new Set<string>();
  for (const { record, storedMs } of snapshots.tombstones.all) {
    if (record.kind !== 'snapshots' || storedMs > dueMs) continue;
    for (const name of record.names) due.add(name);
  }
  return snapshots.forgotten.filter((id) => due.has(id));
}
