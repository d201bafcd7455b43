import type { ByteString } from '../base/byte-path.ts';
import { asByteString } from '../base/byte-path.ts';
import type { EntryStat } from '../system/entry-stat.ts';
import { EntryFailure, entryFailure } from './entry-failure.ts';
import { NO_RECORD, RECORD, type EntryRecords, type RecordHandle } from './entry-records.ts';
import type { MetadataWriter } from './metadata.ts';
import type { OpenDirectories } from './open-directories.ts';
import type { HardLink, NamedEntry, RestorePlan } from './plan.ts';
import { removeTree } from './remove-tree.ts';
import { isSymlink } from './standing.ts';
import type { RestoreTally } from './tally.ts';
import type { TargetDirectory } from './target-directory.ts';
import { temporaryName } from './temporary-names.ts';

export interface FinishParts {
  readonly plan: RestorePlan;
  readonly records: EntryRecords;
  readonly target: OpenDirectories;
  readonly metadata: MetadataWriter;
  readonly tally: RestoreTally;
  readonly run: string;
  /** Nothing at or below these is removed: the backup could not read it, so its absence says nothing. */
  readonly keep: (path: ByteString) => boolean;
  readonly signal: AbortSignal;
}

/** After the files: links and special files, extra entries, and last the directories' own metadata, deepest first. */
export function finishRestore(parts: FinishParts): void {
  const { plan, signal } = parts;
  const failed = new Set<NamedEntry>();
  for (const named of plan.named) {
    signal.throwIfAborted();
    attempt(
      parts,
      named.parent,
      named.entry.name,
      () => makeNamed(parts, named, failed),
      () => failed.add(named),
    );
  }
  for (const link of plan.hardLinks) {
    signal.throwIfAborted();
    const lost = (): void => {
      parts.tally.filesFailed += 1;
    };
    attempt(parts, link.parent, link.name, () => makeHardLink(parts, link), lost);
    parts.tally.bytesDone += link.size;
  }
  for (const { parent, name } of plan.extra) {
    signal.throwIfAborted();
    attempt(
      parts,
      parent,
      name,
      () => removeExtra(parts, parent, name),
      () => {},
    );
  }
  for (const handle of plan.directories.toReversed()) {
    signal.throwIfAborted();
    const record = parts.records.at(handle);
    attempt(
      parts,
      record.parent,
      record.name,
      () => finishDirectory(parts, handle),
      () => {},
    );
  }
}

/** Lists what goes wrong with one entry and goes on; what ends the whole restore is thrown. */
function attempt(
  { tally, target }: FinishParts,
  parent: RecordHandle,
  name: ByteString,
  act: () => void,
  failed: () => void,
): void {
  try {
    act();
  } catch (error) {
    const { code, message } = entryFailure(error);
    failed();
    tally.problem(target.pathOf(parent, name), code, message);
  }
}

function makeNamed(parts: FinishParts, named: NamedEntry, failed: ReadonlySet<NamedEntry>): void {
  const { target, metadata, tally, run } = parts;
  const { parent, entry, leader } = named;
  const directory = target.at(parent);
  const { name } = entry;
  const path = (): ByteString => target.pathOf(parent, name);
  if (isLeftOut(parts, named, path)) return;
  const found = named.standing === 'create' ? undefined : directory.find(name);
  const count = (): void => {
    if (entry.type === 'symlink') tally.links += 1;
    else tally.others += 1;
  };
  if (
    found !== undefined &&
    entry.type === 'symlink' &&
    isSymlink(found) &&
    directory.readSymlink(name) === entry.target
  ) {
    metadata.special(directory, name, entry, path);
    count();
    return;
  }
  const working = found === undefined ? name : asByteString(temporaryName(run, NO_RECORD));
  if (leader !== undefined && !failed.has(leader)) {
    directory.createHardLink(target.at(leader.parent), leader.entry.name, working);
  } else {
    create(directory, working, entry);
    metadata.special(directory, working, entry, path);
  }
  if (working !== name) directory.rename(working, name);
  count();
}

const FIFO = 0o010000;
const SOCKET = 0o140000;
const CHARACTER_DEVICE = 0o020000;
const BLOCK_DEVICE = 0o060000;

function create(directory: TargetDirectory, name: ByteString, entry: NamedEntry['entry']): void {
  switch (entry.type) {
    case 'symlink':
      directory.createSymlink(entry.target, name);
      return;
    case 'fifo':
      directory.createNode(name, FIFO | 0o600, 0, 0);
      return;
    case 'socket':
      directory.createNode(name, SOCKET | 0o600, 0, 0);
      return;
    case 'char-device':
    case 'block-device': {
      const type = entry.type === 'char-device' ? CHARACTER_DEVICE : BLOCK_DEVICE;
      directory.createNode(name, type | 0o600, entry.major, entry.minor);
      return;
    }
  }
}

/** Devices need privileges, and to have been asked for; sockets without anybody listening are of little use anyway. */
function isLeftOut({ metadata, tally }: FinishParts, { entry }: NamedEntry, path: () => ByteString): boolean {
  const isDevice = entry.type === 'char-device' || entry.type === 'block-device';
  if (isDevice && !metadata.privileged) {
    tally.omissions.note('devices', 'device files are only made when ownership is restored, by root', path);
    return true;
  }
  if (isDevice && !(fitsDevice(entry.major) && fitsDevice(entry.minor))) {
    tally.omissions.note('devices', 'its device number does not exist', path);
    return true;
  }
  return false;
}

function fitsDevice(number: number): boolean {
  return number <= 0xffff_ffff;
}

function makeHardLink({ target, records, tally, run }: FinishParts, link: HardLink): void {
  const leader = records.at(link.leader);
  const { ino, dev } = leader.created;
  if (ino === 0n) throw leaderFailed();
  const isLeader = (stat: EntryStat | undefined): boolean => stat?.ino === ino && stat.dev === dev;
  const directory = target.at(link.parent);
  const found = link.standing === 'create' ? undefined : directory.find(link.name);
  if (isLeader(found)) {
    tally.filesUnchanged += 1;
    return;
  }
  const working = found === undefined ? link.name : asByteString(temporaryName(run, NO_RECORD));
  directory.createHardLink(target.at(leader.parent), leader.name, working);
  // nothing put in the first name's place meanwhile gets another name by us
  if (!isLeader(directory.find(working))) {
    directory.removeFile(working);
    throw leaderFailed();
  }
  if (working !== link.name) directory.rename(working, link.name);
  tally.filesRestored += 1;
}

function leaderFailed(): EntryFailure {
  return new EntryFailure('LINK_FAILED', 'the file that it is another name of could not be restored');
}

function removeExtra({ target, tally, keep }: FinishParts, parent: RecordHandle, name: ByteString): void {
  const path = target.pathOf(parent, name);
  if (keep(path)) {
    tally.omissions.note(
      'deletion',
      'the backup could not read it, so that it is missing says nothing',
      () => path,
    );
    return;
  }
  removeTree(target.at(parent), name);
  tally.deleted(path);
}

function finishDirectory({ target, records, metadata, tally }: FinishParts, handle: RecordHandle): void {
  const record = records.at(handle);
  const existed = !record.has(RECORD.created);
  metadata.directory(target.at(handle), record, existed, () => target.pathOfEntry(handle));
  tally.directories += 1;
}
