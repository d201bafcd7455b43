/** Compares a source with its last snapshot, with figures that distinguish damage from a normal day. */
import { SnapshotTrees, isDamage } from '../browse/snapshot-trees.ts';
import type { ByteString } from '../base/byte-path.ts';
import { loadForReading } from '../repository/contents/index-for.ts';
import type { Repository } from '../repository/repository.ts';
import type { Snapshot } from '../repository/snapshots.ts';
import { lastPacks, readTombstones } from '../repository/tombstones.ts';
import { isUnending, treeBudget } from '../repository/contents/tree-bounds.ts';
import type { TreeReader } from '../repository/contents/tree-reader.ts';
import type { ComparisonWish, SourceComparison, SourceDamage } from './protocol.ts';
import { damageSince, filesInFolders, LEAST_DAMAGED } from './source-damage.ts';

/** New and vanished files from which on their extensions are compared, which needs both trees to be read. */
const LEAST_RENAMED = 100;
const LONGEST_EXTENSION = 24;

export interface ComparedRun {
  readonly repository: Repository;
  readonly made: Snapshot;
  readonly last: Snapshot | undefined;
  readonly bytesNew: number;
  readonly bytesStored: number;
  /** The snapshots of the source, and what the daemon knows of it. */
  readonly earlier?: readonly Snapshot[];
  readonly wish?: ComparisonWish | undefined;
}

/** Null without an earlier snapshot. */
export async function compareWithLast(
  run: ComparedRun,
  signal: AbortSignal,
): Promise<SourceComparison | null> {
  const { repository, made, last, bytesNew, bytesStored } = run;
  if (last === undefined) return null;
  const { counts, parent, errors, errorsMore } = made.record;
  const filesBefore = last.record.counts.files;
  const unread = errors.length + errorsMore;
  const nothingNew = {
    snapshotBefore: last.id,
    filesBefore,
    unread,
    filesNew: 0,
    filesChanged: 0,
    bytesNew: 0,
    bytesStored: 0,
    newExtensions: {},
  };
  // Without a parent every file counts as new, which says nothing about the source.
  if (parent === undefined) return nothingNew;
  const gone = filesBefore - (counts.files - counts.new);
  const newExtensions =
    Math.min(counts.new, gone) < LEAST_RENAMED ? {} : await extensionsSince(repository, last, made, signal);
  const touched = counts.changed + counts.new + Math.max(0, gone);
  return {
    snapshotBefore: last.id,
    filesBefore,
    unread,
    filesNew: counts.new,
    filesChanged: counts.changed,
    bytesNew,
    bytesStored,
    newExtensions,
    ...(await damageOf(run, last, touched, signal)),
  };
}

/** Looks for damage where enough changed, and at the folders that the daemon asks about. */
async function damageOf(
  { repository, made, earlier = [], wish }: ComparedRun,
  last: Snapshot,
  touched: number,
  signal: AbortSignal,
): Promise<Pick<SourceComparison, 'damage' | 'filesInFolders'>> {
  const folders = wish?.folders ?? [];
  const isEnough = (wish?.touched ?? 0) + touched >= LEAST_DAMAGED;
  if (!isEnough && folders.length === 0) return {};
  const index = await loadForReading(repository, lastPacks(await readTombstones(repository, signal)), signal);
  const since = earlier.find(({ id }) => id === wish?.since) ?? last;
  try {
    const found = { repository, index, made };
    const damage = async (before: Snapshot): Promise<Damage> =>
      await damageSince({ ...found, before }, signal);
    // The files may have come within this hour, or have been damaged by parts in all of it.
    const ofRun = touched < LEAST_DAMAGED ? NO_DAMAGE : await damage(last);
    const ofHour = !isEnough || since.id === last.id ? ofRun : await damage(since);
    return {
      ...(isEnough ? { damage: together(ofRun, ofHour) } : {}),
      ...(folders.length === 0 ? {} : { filesInFolders: await filesInFolders(found, folders, signal) }),
    };
  } catch (error) {
    // Finding damage is the task of checks; the backup itself is complete.
    if (isDamage(error) || isUnending(error)) return {};
    throw error;
  }
}

/** @param run compared with the last snapshot @param hour with the one from before this hour */
function together(run: Damage, hour: Damage): SourceDamage {
  const lostIn = ({ lost }: Damage): number => lost.reduce((sum, { files }) => sum + files, 0);
  return {
    encrypted: Math.max(run.encrypted, hour.encrypted),
    folders: [...run.folders, ...hour.folders],
    lost: [...run.lost, ...hour.lost],
    isNew: run.encrypted >= hour.encrypted && lostIn(run) >= lostIn(hour),
  };
}

type Damage = Omit<SourceDamage, 'isNew'>;

const NO_DAMAGE: Damage = { encrypted: 0, folders: [], lost: [] };

async function extensionsSince(
  repository: Repository,
  last: Snapshot,
  made: Snapshot,
  signal: AbortSignal,
): Promise<Readonly<Record<string, number>>> {
  const index = await loadForReading(repository, lastPacks(await readTombstones(repository, signal)), signal);
  const trees = new SnapshotTrees(repository, index);
  try {
    const before = await extensionsOf(trees.reader(last), last.record.root, signal);
    const after = await extensionsOf(trees.reader(made), made.record.root, signal);
    return Object.fromEntries([...after].filter(([extension]) => !before.has(extension)));
  } catch (error) {
    // Finding damage is the task of checks; the backup itself is complete.
    if (isDamage(error) || isUnending(error)) return {};
    throw error;
  }
}

async function extensionsOf(
  reader: TreeReader,
  root: Buffer,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  const budget = await treeBudget(reader, root, undefined, signal);
  const waiting = [root];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    for await (const leaf of reader.leaves(id, signal)) {
      await budget.spend(leaf.length);
      for (const entry of leaf) {
        if (entry.type === 'directory') waiting.push(entry.id);
        if (entry.type !== 'file') continue;
        const extension = extensionOf(entry.name);
        if (extension !== undefined) found.set(extension, (found.get(extension) ?? 0) + 1);
      }
    }
  }
  return found;
}

/** In lower case, such as `.docx`. */
function extensionOf(name: ByteString): string | undefined {
  const at = name.lastIndexOf('.');
  const length = name.length - at;
  return at <= 0 || length < 2 || length > LONGEST_EXTENSION ? undefined : name.slice(at).toLowerCase();
}
