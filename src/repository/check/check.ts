import { RepositoryError } from '../../base/errors.ts';
import { ID_BYTES } from '../../codec/hash.ts';
import type { ListedObject } from '../../destination/destination.ts';
import type { IndexedPack } from '../../format/index-object.ts';
import { Damage, mapAffected } from './check-affected.ts';
import { chainView } from '../chain-view.ts';
import { checkExtents } from './check-extents.ts';
import { checkDirectories, type CheckedIndex, chunkKey, readIndexForCheck } from './check-index.ts';
import { checkCopies, checkKeys } from './check-keys.ts';
import { choosePacks, type PackResults, type ReadData, readPacks } from './check-packs.ts';
import {
  checkConfigs,
  checkForgotten,
  checkHeads,
  checkLeases,
  needlessUnderRetired,
} from './check-records.ts';
import {
  type CheckCounts,
  type CheckObserver,
  type CheckReport,
  type FindingDraft,
  Findings,
} from './check-report.ts';
import { type Traversal, traverseTrees } from './check-trees.ts';
import { type ChunkIndex, inOrderOfTrust } from '../chunk-index.ts';
import { believed } from '../contents/false-claims.ts';
import { writeOnlyInUse } from '../keys/keys.ts';
import { type Listed, packKey } from '../objects/listing.ts';
import { rememberHeads } from '../remember-seen.ts';
import type { Repository } from '../repository.ts';
import { listSnapshots, saltsOf, type SnapshotList } from '../snapshots.ts';
import { lastPacks, type LastPacks, unsoundPacks } from '../tombstones.ts';
import { heldByUnsoundAlone } from './damaged-packs.ts';
import { newestRecords, verifyChains } from '../chains/verify-chains.ts';

export interface CheckOptions {
  readonly readData: ReadData;
  /** Threads that examine packs; 0 examines them in this one. */
  readonly workers?: number;
}

/** How much a check would read. */
export interface CheckPlan {
  readonly packs: number;
  readonly packBytes: number;
  readonly packsToRead: readonly string[];
  readonly bytesToRead: number;
}

/** Up to this number, chunks that no pack holds are reported one by one. */
const MAX_MISSING_LISTED = 100;

export async function planCheck(
  repository: Repository,
  options: CheckOptions,
  signal: AbortSignal,
): Promise<CheckPlan> {
  const listed = packsOf(await listAll(repository, 'packs/', signal));
  const packsToRead = choosePacks(listed, options.readData);
  return {
    packs: listed.size,
    packBytes: bytesOf(listed, listed.keys()),
    packsToRead,
    bytesToRead: bytesOf(listed, packsToRead),
  };
}

/**
 * Examines a repository: opens every object, follows every tree, compares index objects with packs and verifies the
 * chains. With `readData` it reads packs whole and hashes every chunk again. Packs with known damage that hold
 * something which snapshots need and no sound pack has are always read whole. Changes nothing.
 *
 * @throws {RepositoryError} {DestinationError} when the check itself cannot go on; damage is in the report
 */
export async function check(
  repository: Repository,
  options: CheckOptions,
  observer: CheckObserver,
  signal: AbortSignal,
): Promise<CheckReport> {
  repository.requireReading();
  const started = repository.clock.monotonic();
  const findings = new Findings(observer);
  observer.phase('listing');
  const snapshots = await checkRecords(repository, findings, signal);
  const checked = await readIndexForCheck(
    repository,
    async () => packsOf(await listAll(repository, 'packs/', signal)),
    lastPacks(snapshots.tombstones),
    findings,
    signal,
  );
  const names = choosePacks(checked.listed, options.readData);
  const chosen = new Set(names);
  const others = [...checked.listed.keys()].filter((name) => !chosen.has(name));
  observer.phase(names.length === 0 ? 'structure' : 'reading');
  const packOptions = { salts: saltsOf(snapshots.live), workers: options.workers };
  const work = [
    readPacks(repository, names, checked, packOptions, findings, observer, signal),
    checkDirectories(repository, others, checked, findings, signal),
    traverseTrees(repository, checked.index, snapshots.live, signal, {
      ids: checked.ids,
      compareTotals: true,
    }),
  ] as const;
  // Waits for all three before one failure is thrown, so that nothing keeps running after this function has returned.
  await Promise.allSettled(work);
  const [chosenResults, directories, firstTraversal] = await Promise.all(work);
  const unsound = unsoundPacks(snapshots.tombstones);
  const heldBy = (index: ChunkIndex, { referenced }: Traversal): ReadonlyMap<string, number> =>
    heldByUnsoundAlone(packsIn(checked), unsound, index, referenced);
  // Damaged packs that are still needed are read in every check: nothing else shows what can still be read from them.
  const inDoubt = [...heldBy(checked.index, firstTraversal).keys()].filter((name) => !chosen.has(name));
  const before = { ...packOptions, before: chosenResults };
  const results = await readPacks(repository, inDoubt, checked, before, findings, observer, signal);
  const last = lastPacks(snapshots.tombstones);
  const differing = new Map([...directories.differing, ...results.differing]);
  const trueIndex = await withTruth(repository, { ...checked, last, differing }, signal);
  const index = trueIndex ?? checked.index;
  // The first walk may have passed trees before the packs' directories were read. If any id differs, a second walk
  // finds which files name it. Where index objects are wrong, the true index is walked instead; ids are then not
  // compared until the index is rebuilt.
  const ids = trueIndex === undefined ? checked.ids : undefined;
  const traversal =
    ids?.differ === false
      ? firstTraversal
      : await traverseTrees(repository, index, snapshots.live, signal, { ids, compareTotals: true });
  const gone = [...checked.gone, ...directories.gone, ...results.gone];
  const damage = damageOf(checked, index, results, traversal, findings);
  for (const name of gone)
    findGone(name, checked, index, traversal, snapshots.tombstones.packs, damage, findings);
  const ending = await checkExtents(repository, index, snapshots.live, traversal.roots, findings, signal);
  if (!damage.isEmpty) {
    observer.phase('affected');
    await mapAffected(repository, index, ending, damage, signal);
  }
  findings.acceptReplaced(unsound, heldBy(index, traversal));
  findings.acceptReturned(needlessUnderRetired(repository, snapshots, checked));
  return {
    status: findings.hasErrors ? 'damaged' : 'ok',
    ...findings.finished(),
    counts: countsOf(checked, index, results, traversal, snapshots),
    packsProven: results.proven,
    durationMs: repository.clock.monotonic() - started,
  };
}

/** Checks everything but index objects and packs. */
async function checkRecords(
  repository: Repository,
  findings: Findings,
  signal: AbortSignal,
): Promise<SnapshotList> {
  const keys = await listAll(repository, 'keys/', signal);
  await checkKeys(repository, keys, findings, signal);
  await checkCopies(repository, findings, signal);
  await checkConfigs(repository, await listAll(repository, 'config/', signal), findings, signal);
  await checkLeases(repository, await listAll(repository, 'leases/', signal), findings, signal);
  const snapshots = await checkChains(repository, findings, signal);
  for (const { id, error } of snapshots.damaged) {
    findings.addError(`snapshot ${id}`, error).affects(id, undefined);
  }
  for (const { name, error } of snapshots.tombstones.ignored) findings.addError(`tombstone ${name}`, error);
  return snapshots;
}

async function checkChains(
  repository: Repository,
  findings: Findings,
  signal: AbortSignal,
): Promise<SnapshotList> {
  for (let last = false; ; last = true) {
    // Heads are listed before records, so that every record that a head names is in the later list.
    const heads = await checkHeads(repository, await listAll(repository, 'heads/', signal), findings, signal);
    const snapshots = await listSnapshots(repository, signal);
    const forgotten = await checkForgotten(repository, snapshots.forgotten, findings, signal);
    const view = chainView(repository, snapshots, forgotten, heads);
    const { memory } = repository.writer;
    const problems = verifyChains(view, memory);
    const headless = Object.entries(newestRecords(view)).filter(
      ([writer, { seq }]) => !heads.some(({ chain }) => chain.writer === writer && chain.seq >= seq),
    );
    // Records that were written between the two lists look like gaps or lack a head; a second look settles that.
    if (problems.length + headless.length > 0 && !last) continue;
    const inUse = writeOnlyInUse(repository.keyring);
    for (const { kind, object, reason, key } of problems) {
      const isOfRemoved = key !== undefined && !inUse.has(key);
      const isDoubt = kind === 'fork' || kind === 'unbelievable';
      findings.add(isDoubt ? (isOfRemoved ? 'note' : 'warning') : 'error', object, reason);
    }
    for (const [writer, { seq }] of headless)
      findings.add('warning', `heads/${writer}`, `there is no head for record ${seq}`);
    const serious = problems.filter(({ kind }) => kind !== 'fork' && kind !== 'unbelievable');
    // False records of a write-only key must not prevent this machine from remembering other writers.
    if (serious.every(({ key }) => key !== undefined)) {
      const doubtful = new Set(serious.map(({ writer }) => writer));
      const sure = Object.entries(newestRecords(view)).filter(([writer]) => !doubtful.has(writer));
      await rememberHeads(repository.destination, repository.writer, Object.fromEntries(sure), signal);
    }
    return snapshots;
  }
}

function packsIn({ claims, index }: CheckedIndex): readonly IndexedPack[] {
  const claimed = [...claims.values()].flatMap(([first]) => (first === undefined ? [] : [first.pack]));
  return [...claimed, ...index.uncovered];
}

/** The index corrected by the packs' own directories; undefined when the index objects are right. */
async function withTruth(
  repository: Repository,
  checked: CheckedIndex & {
    readonly listed: ReadonlyMap<string, Listed>;
    readonly last: LastPacks;
    readonly differing: ReadonlyMap<string, IndexedPack>;
  },
  signal: AbortSignal,
): Promise<ChunkIndex | undefined> {
  const { index, listed, last, differing } = checked;
  if (differing.size === 0) return undefined;
  const usable = packsIn(checked).map((pack) => differing.get(pack.name) ?? pack);
  return await believed(repository, { ...index, packs: inOrderOfTrust(usable, listed, { last }) }, signal);
}

/** Combines the results of packs and trees: which chunks cannot be read, and which finding says why. */
function damageOf(
  checked: CheckedIndex,
  index: ChunkIndex,
  results: PackResults,
  traversal: Traversal,
  findings: Findings,
): Damage {
  const damage = new Damage();
  const locatedIn = (id: Uint8Array): { pack: string | undefined; needed: boolean } => {
    const slot = index.table.slotOf(Buffer.from(id));
    if (slot < 0) return { pack: undefined, needed: false };
    return {
      pack: index.packs[index.table.locationAt(slot).pack]?.name,
      needed: traversal.referenced.has(slot),
    };
  };
  for (const [name, ids] of results.bad) {
    const draft = findings.add('error', `pack ${name}`, `${ids.length} of its chunks cannot be read`);
    for (const id of ids) if (locatedIn(id).pack === name) damage.chunks.set(chunkKey(id), draft);
  }
  for (const [name, ids] of results.strangers) {
    for (const id of ids) {
      const { pack, needed } = locatedIn(id);
      const severity = needed && pack === name ? 'error' : 'note';
      const draft = findings.add(
        severity,
        `pack ${name}`,
        'it holds chunks whose bytes do not match their ids',
      );
      if (severity === 'error') damage.chunks.set(chunkKey(id), draft);
    }
  }
  const lost = traversal.missing.size === 0 ? new Map<string, string>() : packsOfLostChunks(checked);
  for (const [key, id] of traversal.missing) {
    damage.chunks.set(key, missingFinding(lost.get(key), damage.chunks.size, id, findings));
  }
  for (const [key, { id, error }] of traversal.unreadable) {
    if (damage.chunks.has(key)) continue;
    const tree = `tree ${id.toString('hex')}`;
    const isAboutTree = error instanceof RepositoryError && error.details['object'] === tree;
    const { pack } = locatedIn(id);
    damage.chunks.set(key, findings.addError(isAboutTree ? tree : `pack ${pack}`, error));
  }
  for (const [key, { id, reason }] of traversal.unsoundTrees) {
    damage.chunks.set(key, findings.add('error', `tree ${id.toString('hex')}`, reason));
  }
  for (const { tree, name, reason } of traversal.unsoundFiles) {
    damage.addFile(tree, name, findings.add('error', `tree ${tree.toString('hex')}`, reason));
  }
  return damage;
}

/**
 * Reports a pack that vanished after it was listed. Prune deletes packs that nothing needs while a check runs, and
 * marks them with a tombstone first.
 */
function findGone(
  name: string,
  { claims }: CheckedIndex,
  index: ChunkIndex,
  { referenced }: Traversal,
  marked: ReadonlySet<string>,
  damage: Damage,
  findings: Findings,
): void {
  const { ids, idBytes } = claims.get(name)?.[0]?.pack.directory ?? {
    ids: Buffer.alloc(0),
    idBytes: ID_BYTES,
  };
  const needed: Buffer[] = [];
  for (let at = 0; at < ids.length; at += idBytes) {
    const id = Buffer.from(ids.subarray(at, at + idBytes));
    const slot = index.table.slotOf(id);
    if (slot < 0 || !referenced.has(slot)) continue;
    if (index.packs[index.table.locationAt(slot).pack]?.name === name) needed.push(id);
  }
  const severity = needed.length > 0 ? 'error' : marked.has(name) ? 'note' : 'warning';
  const lost = needed.length > 0 ? `; ${needed.length} of its chunks are needed and cannot be read` : '';
  const draft = findings.add(severity, `pack ${name}`, `it was removed while the check ran${lost}`);
  for (const id of needed) damage.chunks.set(chunkKey(id), draft);
}

function packsOfLostChunks(checked: CheckedIndex): Map<string, string> {
  const packs = new Map<string, string>();
  for (const [name, { directory }] of checked.lost) {
    const { ids, idBytes } = directory;
    for (let at = 0; at < ids.length; at += idBytes) packs.set(chunkKey(ids, at), name);
  }
  return packs;
}

function missingFinding(
  lostPack: string | undefined,
  before: number,
  id: Buffer,
  findings: Findings,
): FindingDraft {
  if (lostPack !== undefined) return findings.add('error', `pack ${lostPack}`, 'snapshots need it');
  if (before >= MAX_MISSING_LISTED) {
    return findings.add('error', 'more chunks', 'snapshots need them, and no pack holds them');
  }
  return findings.add('error', `chunk ${id.toString('hex')}`, 'a snapshot needs it, and no pack holds it');
}

function countsOf(
  checked: CheckedIndex & { readonly listed: ReadonlyMap<string, Listed> },
  index: ChunkIndex,
  results: PackResults,
  traversal: Traversal,
  snapshots: SnapshotList,
): CheckCounts {
  const needed = new Uint8Array(index.packs.length);
  traversal.referenced.forEach((slot) => {
    needed[index.table.locationAt(slot).pack] = 1;
  });
  return {
    snapshots: snapshots.live.length + snapshots.damaged.length,
    packs: checked.listed.size,
    packBytes: bytesOf(checked.listed, checked.listed.keys()),
    packsRead: results.packsRead,
    bytesRead: results.bytesRead,
    chunks: index.chunks,
    chunksUnreferenced: index.chunks - traversal.referenced.size,
    packsUnreferenced: needed.filter((one) => one === 0).length,
    trees: traversal.trees,
    files: traversal.files,
  };
}

async function listAll(repository: Repository, prefix: string, signal: AbortSignal): Promise<ListedObject[]> {
  const objects: ListedObject[] = [];
  for await (const page of repository.destination.list(prefix, signal)) objects.push(...page);
  return objects;
}

/** Only packs under their proper keys: readers do not find others. */
function packsOf(objects: readonly ListedObject[]): Map<string, Listed> {
  const packs = new Map<string, Listed>();
  for (const { key, size, modifiedMs } of objects) {
    const name = key.slice(key.lastIndexOf('/') + 1);
    if (/^[0-9a-f]{64}$/.test(name) && key === packKey(name)) packs.set(name, { size, modifiedMs });
  }
  return packs;
}

function bytesOf(listed: ReadonlyMap<string, Listed>, names: Iterable<string>): number {
  let bytes = 0;
  for (const name of names) bytes += listed.get(name)?.size ?? 0;
  return bytes;
}
