import { ftruncateSync, readSync } from 'node:fs';
import type { ByteString } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import type { EntryStat } from '../../system/entry-stat.ts';
import { dataExtents } from '../../system/holes.ts';
import { EntryFailure } from '../target/entry-failure.ts';
import type { EntryRecord, EntryRecords } from '../target/entry-records.ts';
import { syncToDisk, writeFully } from '../target/file-io.ts';
import type { HardLink } from '../plan/hard-links.ts';
import { inPlace, type NamedParts, NO_MORE_LINKS, type Place } from './make-named.ts';
import { type TargetDirectory, UNFINISHED_FILE } from '../target/target-directory.ts';

export interface HardLinkParts extends NamedParts {
  readonly records: EntryRecords;
}

/**
 * Makes another name of a file that this run wrote or found to be right. Where the file system does not allow a link, a copy.
 * @throws a system error, or LINK_FAILED
 */
export function makeHardLink(parts: HardLinkParts, link: HardLink): void {
  const { directories, records, tally, run } = parts;
  const leader = link.group.leader === undefined ? undefined : records.at(link.group.leader);
  if (leader === undefined || leader.created.ino === 0n) throw leaderFailed();
  const directory = directories.at(link.parent);
  const found = link.standing === 'create' ? undefined : directory.find(link.name);
  if (isLeader(leader, found)) {
    tally.filesUnchanged += 1;
    return;
  }
  const place: Place = {
    name: link.name,
    standing: found === undefined ? 'create' : link.standing,
    run,
    cleared: () => tally.deleted(directories.pathOf(link.parent, link.name)),
  };
  inPlace(directory, place, (working) => {
    const first = directories.at(leader.parent);
    try {
      directory.createHardLink(first, leader.name, working);
    } catch (error) {
      if (!NO_MORE_LINKS.has(errnoOf(error) ?? '')) throw error;
      copyLeader(parts, leader, { first, directory, working, link });
      return;
    }
    // if another file has meanwhile been put in the first name's place, it must not get another name
    if (isLeader(leader, directory.find(working))) return;
    directory.removeFile(working);
    throw leaderFailed();
  });
  tally.filesRestored += 1;
}

function copyLeader(
  { metadata, directories, tally }: HardLinkParts,
  leader: EntryRecord,
  places: {
    readonly first: TargetDirectory;
    readonly directory: TargetDirectory;
    readonly working: ByteString;
    readonly link: HardLink;
  },
): void {
  const { first, directory, working, link } = places;
  const path = (): ByteString => directories.pathOf(link.parent, link.name);
  const from = first.openFile(leader.name, 'read');
  try {
    if (!isLeader(leader, first.fstat(from))) throw leaderFailed();
    const to = directory.createFile(working, UNFINISHED_FILE);
    try {
      copyContent(from, to, link.size);
      syncToDisk(to);
      metadata.file(directory, to, leader, false, path);
    } finally {
      directory.closeFile(to);
    }
  } finally {
    first.closeFile(from);
  }
  tally.omissions.note('hard-links', 'the file system does not allow more names for one file', path);
}

function copyContent(from: number, to: number, size: number): void {
  const buffer = Buffer.allocUnsafeSlow(1024 * 1024);
  ftruncateSync(to, size);
  for (const { offset, length } of dataExtents(from, size)) {
    for (let at = offset; at < offset + length;) {
      const count = readSync(from, buffer, 0, Math.min(buffer.length, offset + length - at), at);
      if (count === 0) throw leaderFailed();
      writeFully(to, buffer.subarray(0, count), at);
      at += count;
    }
  }
}

function isLeader({ created }: EntryRecord, stat: EntryStat | undefined): boolean {
  return stat?.ino === created.ino && stat.dev === created.dev;
}

function leaderFailed(): EntryFailure {
  return new EntryFailure('LINK_FAILED', 'it is another name of a file that could not be restored');
}
