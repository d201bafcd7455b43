/**
 * A source directory, a repository and what one does with both: for tests that back up real trees and restore them.
 * `await using engine = await openEngine()` removes everything at the end.
 */

import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { archive, type ArchiveSummary } from '../../src/archiver/archive.ts';
import { uncaptured } from '../../src/archiver/source/xattrs.ts';
import type { Omission } from '../../src/format/omission.ts';
import { NO_EXCLUSIONS } from '../../src/exclude/excluder.ts';
import { SILENT, type ArchiveObserver } from '../../src/archiver/report/observer.ts';
import { asByteString, joinBytes, type ByteString } from '../../src/base/byte-path.ts';
import { treePath } from '../../src/base/tree-path.ts';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import { DEFAULT_COMPRESSION } from '../../src/codec/compress.ts';
import type { Destination } from '../../src/destination/destination.ts';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import { createMemoryDestination } from '../../src/destination/memory.ts';
import type { Entry } from '../../src/format/tree.ts';
import { loadIndex } from '../../src/repository/chunk-index.ts';
import type { Secret } from '../../src/repository/slots/key-slots.ts';
import { createRepository, openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { listSnapshots, type Snapshot } from '../../src/repository/snapshots.ts';
import { damagedPacks, readTombstones } from '../../src/repository/tombstones.ts';
import { TreeReader } from '../../src/repository/contents/tree-reader.ts';
import { restore } from '../../src/restorer/restore.ts';
import {
  SILENT_RESTORE,
  type RestoreRequest,
  type RestoreSummary,
} from '../../src/restorer/request/request.ts';
import { snapshotDifferences } from './compare-snapshot.ts';
import { recordingDestination, type RecordingDestination } from './recording-destination.ts';
import { removeTree } from './remove-tree.ts';
import { wholeRestore } from './whole-restore.ts';
import type { ArchiveRequest } from '../../src/archiver/archive-request.ts';

/** Packs and segments small enough that a few MiB of test data fill several. */
const PACK_TARGET = 1_048_576;
const SEGMENT_TARGET = 131_072;

export interface EngineOptions {
  /** Where objects go; default `memory`. `local` is a directory beside the source. */
  readonly destination?: 'memory' | 'local' | Destination;
  readonly clock?: Clock;
}

export interface Engine extends AsyncDisposable {
  /** All that is on disk lies below this directory. */
  readonly directory: string;
  /** An empty directory at first; what `backup` saves when it is told nothing else. */
  readonly source: string;
  /** The repository's directory when it is local. */
  readonly store: string;
  /** What was asked of the destination. */
  readonly calls: RecordingDestination;
  readonly repository: Repository;
  /** Opens the repository. */
  readonly secret: Extract<Secret, { kind: 'machine' }>;
  /** Opens the same repository once more, as another writer, through `destination` if given. */
  open(destination?: Destination): Promise<Repository>;
  /** One worker reads, so that a run costs one thread's start; `parent` is `auto`. */
  backup(
    sources?: readonly string[],
    overrides?: Partial<ArchiveRequest>,
    observer?: Partial<ArchiveObserver>,
    signal?: AbortSignal,
  ): Promise<ArchiveSummary>;
  /**
   * Restores all of a snapshot, as root with ownership, to `directory/<name>`, and returns where the source then lies.
   */
  restoreTo(
    name: string,
    snapshot: Snapshot,
    overrides?: Partial<RestoreRequest>,
  ): Promise<{ readonly source: string; readonly summary: RestoreSummary }>;
  /** Every entry of a snapshot by its absolute path. */
  treeOf(snapshot: Snapshot): Promise<Map<ByteString, Entry>>;
  /** How a snapshot differs from what lies in the source (or another directory) now. */
  differences(snapshot: Snapshot, directory?: string): Promise<readonly string[]>;
  snapshots(): Promise<readonly Snapshot[]>;
}

export const never = new AbortController().signal;

export async function openEngine(options: EngineOptions = {}): Promise<Engine> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-engine-'));
  const source = join(directory, 'source');
  const store = join(directory, 'store');
  mkdirSync(source);
  const calls = recordingDestination(await innerDestination(options.destination ?? 'memory', store));
  const secret: Engine['secret'] = { kind: 'machine', secret: randomBytes(32) };
  const clock = options.clock ?? systemClock;
  const repository = await createRepository(
    calls,
    {
      clock,
      stateDirectory: undefined,
      secrets: [{ secret, label: 'test' }],
      cost: { m: 64, t: 1, p: 1 },
      packTarget: PACK_TARGET,
      segmentTarget: SEGMENT_TARGET,
    },
    never,
  );

  return {
    directory,
    source,
    store,
    calls,
    repository,
    secret,
    open: async (destination = calls) =>
      await openRepository(destination, secret, { clock, stateDirectory: undefined }, never),
    backup: async (sources = [source], overrides = {}, observer = {}, signal = never) =>
      await archive(requestFor(repository, sources, overrides), { ...SILENT, ...observer }, signal),
    restoreTo: async (name, snapshot, overrides = {}) => {
      const target = join(directory, name);
      const request = wholeRestore(repository, snapshot, target, overrides);
      const summary = await restore(request, SILENT_RESTORE, never);
      return { source: join(target, resolve(source)), summary };
    },
    treeOf: async (snapshot) => await treeOf(repository, snapshot),
    differences: async (snapshot, directory = source) =>
      await snapshotDifferences(repository, snapshot, directory, never),
    snapshots: async () => (await listSnapshots(repository, never)).live,
    [Symbol.asyncDispose]: async () => {
      await repository.close();
      removeTree(directory);
    },
  };
}

/** What a snapshot says that it lacks, on top of what root of a container cannot see. */
export function omissions(...others: readonly Omission[]): readonly Omission[] {
  const unlisted = uncaptured();
  return unlisted === undefined ? others : [{ ...unlisted, count: 1 }, ...others];
}

/** What `backup` asks for, for tests that call the archiver themselves. */
export function requestFor(
  repository: Repository,
  sources: readonly string[],
  overrides: Partial<ArchiveRequest> = {},
): ArchiveRequest {
  return {
    repository,
    sources: sources.map(treePath),
    host: 'host',
    user: 'user',
    tool: 'test',
    tags: [],
    pinned: false,
    compression: DEFAULT_COMPRESSION,
    plain: false,
    isolated: false,
    exclude: NO_EXCLUSIONS,
    parent: 'auto',
    workers: 1,
    ...overrides,
  };
}

/**
 * Every entry of a snapshot by its absolute path, in the order of the tree. What prune has marked counts as gone; what is
 * marked because it is damaged stays while it is needed.
 */
export async function treeOf(repository: Repository, snapshot: Snapshot): Promise<Map<ByteString, Entry>> {
  const tombstones = await readTombstones(repository, never);
  const damaged = damagedPacks(tombstones);
  const without = new Set([...tombstones.packs].filter((name) => !damaged.has(name)));
  const index = await loadIndex(repository, { without, last: [damaged] }, never);
  const { plain, salt, root } = snapshot.record;
  const reader = new TreeReader(repository, index, { plain, salt });
  const found = new Map<ByteString, Entry>();
  const visit = async (id: Buffer, path: ByteString): Promise<void> => {
    for (const entry of await reader.directory(id, never)) {
      const below = joinBytes(path, entry.name);
      found.set(below, entry);
      if (entry.type === 'directory') await visit(entry.id, below);
    }
  };
  await visit(root, asByteString('/'));
  return found;
}

/** The entry of a path in a snapshot, which must be of that kind. */
export async function entryOf<T extends Entry['type']>(
  engine: Pick<Engine, 'treeOf'>,
  snapshot: Snapshot,
  path: string,
  type: T,
): Promise<Extract<Entry, { type: T }>> {
  const entry = (await engine.treeOf(snapshot)).get(treePath(path));
  if (entry?.type !== type) throw new Error(`${path} is ${entry?.type ?? 'not there'}, not a ${type}`);
  return entry as Extract<Entry, { type: T }>;
}

async function innerDestination(
  wanted: 'memory' | 'local' | Destination,
  store: string,
): Promise<Destination> {
  if (wanted === 'memory') return createMemoryDestination();
  if (wanted !== 'local') return wanted;
  mkdirSync(store);
  return await openLocalDestination(store);
}
