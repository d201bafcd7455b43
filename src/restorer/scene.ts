import { asByteString, type ByteString } from '../base/byte-path.ts';
import { ownerNames, type OwnerNames } from '../system/owner-names.ts';
import { mayDoAsRoot } from '../system/privileges.ts';
import type { JobResult } from './content/messages.ts';
import { LiftedModes } from './metadata/lifted-modes.ts';
import type { MetadataPolicy } from './metadata/metadata.ts';
import { keptPaths, type StayReason } from './plan/extra-entries.ts';
import { NOT_ASKED_FOR, ONLY_ROOT, type RestoreObserver, type RestoreRequest } from './request/request.ts';
import type { OwnPlaceInside } from './request/selection.ts';
import { RestoreTally } from './request/tally.ts';
import { EntryRecordWriter, NO_RECORD, type RecordHandle } from './target/entry-records.ts';
import { OpenDirectories } from './target/open-directories.ts';
import type { OpenTarget } from './target/open-target.ts';
import { keepsOwnPlaces, ownPlacesIn, ownTest, type OwnTest } from './target/own-places.ts';
import { endRun, newRun } from './target/temporary-names.ts';

/** The state and tools that all steps of one restore share. */
export interface RestoreScene {
  readonly request: RestoreRequest;
  readonly observer: RestoreObserver;
  readonly tally: RestoreTally;
  readonly policy: MetadataPolicy;
  /** The run's part of all temporary names. */
  readonly run: string;
  readonly records: EntryRecordWriter;
  /** The record of the target itself. */
  readonly root: RecordHandle;
  /** Undefined in a dry run whose target does not exist. */
  readonly directories: OpenDirectories | undefined;
  /** Files that failed, with the error code. */
  readonly failed: Map<RecordHandle, string>;
  /** Directories that are writable only during the restore. */
  readonly lifted: LiftedModes;
  /** Path of the target with links resolved. */
  readonly place: ByteString;
  /** Holdfast's own places in the target, as paths below it. */
  readonly ownPlaces: readonly OwnPlaceInside[];
  /** Why nothing at or below a path is removed although the snapshot lacks it; undefined if it may be removed. */
  readonly keep: (path: ByteString) => StayReason | undefined;
  /** Whether a directory is one of Holdfast's own places, under whatever name. */
  readonly isOwn: OwnTest;
  /** Whether names that differ in spelling only are one in the target, as far as that is known. */
  readonly ignoresCase: boolean;
  /** Directories in which files were written. */
  readonly touched: Set<RecordHandle>;
}

export function openScene(
  target: OpenTarget,
  request: RestoreRequest,
  observer: RestoreObserver,
  disposal: AsyncDisposableStack,
): RestoreScene {
  const { repository, snapshot } = request;
  const run = newRun();
  const records = new EntryRecordWriter();
  const root = records.add(NO_RECORD, ROOT, 0, 0, 0).handle;
  const directories =
    target.root === undefined ? undefined : new OpenDirectories(records.records, root, target.root);
  disposal.defer(() => {
    directories?.close();
    endRun(run);
  });
  const policy = metadataPolicy(request);
  const lifted = new LiftedModes(directories, run, policy.uid);
  disposal.defer(() => lifted.putBack());
  const tally = new RestoreTally(observer, repository.clock, topOf(request));
  const unread = keptPaths(snapshot.record);
  const ownPlaces = ownPlacesIn(target.path, request.never);
  const own = keepsOwnPlaces(ownPlaces);
  return {
    request,
    observer,
    tally,
    policy,
    run,
    records,
    root,
    directories,
    failed: new Map(),
    lifted,
    place: target.path,
    ownPlaces,
    keep: (path) => (own(path) ? 'own' : unread(tally.inSnapshot(path)) ? 'unread' : undefined),
    isOwn: ownTest(request.never),
    ignoresCase: target.ignoresCase,
    touched: new Set(),
  };
}

/** The directory of the snapshot that corresponds to the target. */
export function topOf({ target, subfolder }: RestoreRequest): ByteString {
  return asByteString(target.kind === 'in-place' ? '/' : (subfolder ?? '/'));
}

/** The target itself keeps the metadata it has. */
const ROOT = { name: asByteString(''), mode: 0, uid: 0, gid: 0, mtimeNs: 0n, ctimeNs: 0n, inode: 0 };

/** Adds the result of a job to the tally and the state of the restore. */
export function settle(
  result: JobResult,
  { tally, records, failed, touched, directories }: RestoreScene,
): void {
  const pathOf = (file: RecordHandle): ByteString => directories?.pathOfEntry(file) ?? asByteString('/');
  tally.filesRestored += result.written.length;
  for (const file of result.written) touched.add(records.records.at(file).parent);
  tally.filesUnchanged += result.unchanged;
  tally.bytesDone += result.fileBytes;
  tally.bytesRestored += result.bytes;
  tally.omissions.add(result.omissions);
  for (const { file, counted, code, message } of result.failures) {
    failed.set(file, code);
    if (counted) tally.fileFailedLate(pathOf(file), code, message);
    else tally.fileFailed(pathOf(file), records.records.at(file).size, code, message);
  }
  if (result.lastFile !== NO_RECORD) tally.progress(() => pathOf(result.lastFile));
}

type Wishes = Pick<RestoreRequest, 'restoreOwnership' | 'ownersByName' | 'snapshot'>;

/** Determines which owners and privileges this process can restore. */
function metadataPolicy({ restoreOwnership, ownersByName, snapshot }: Wishes): MetadataPolicy {
  const uid = process.geteuid?.() ?? 0;
  const gid = process.getegid?.() ?? 0;
  const privileged = restoreOwnership && mayDoAsRoot();
  const { users, groups } = snapshot.record.owners;
  const names = privileged && ownersByName ? ownerNames() : undefined;
  return {
    privileged,
    unprivilegedBecause: mayDoAsRoot() ? NOT_ASKED_FOR : ONLY_ROOT,
    uid,
    gid,
    users: names === undefined ? new Map() : idsByName(users, (name) => names.userId(name)),
    groups: names === undefined ? new Map() : idsByName(groups, (name) => names.groupId(name)),
  };
}

/** Maps numbers in the snapshot to numbers on this machine, for the names that this machine knows. */
function idsByName(table: Readonly<Record<string, string>>, idOf: OwnerNames['userId']): Map<number, number> {
  const ids = new Map<number, number>();
  for (const [id, name] of Object.entries(table)) {
    const here = idOf(name);
    if (here !== undefined) ids.set(Number(id), here);
  }
  return ids;
}
