/**
 * A real next version: a work copy is turned into the next tree (or image) touching only what differs, as an editor, a
 * package manager or a running machine would. Backing up two unpacked trees one after the other would not do:
 * their time stamps all differ.
 */

import {
  chmodSync,
  closeSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  readdirSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { asByteString, bytesOfText, joinBytes, textOfBytes } from '../../src/base/byte-path.ts';
import { fsPath } from '../../src/base/tree-path.ts';
import type { ByteString } from '../../src/base/byte-path.ts';
import { firstDifference } from '../support/compare-bytes.ts';
import { removeDirectory } from '../support/remove-tree.ts';

export interface StepCounts {
  written: number;
  removed: number;
  unchanged: number;
}

/** Makes `work` hold what `next` holds (directories, regular files and symbolic links; modes, but not times). */
export function stepTree(work: string, next: string): Readonly<StepCounts> {
  const counts: StepCounts = { written: 0, removed: 0, unchanged: 0 };
  stepDirectory(bytesOfText(work), bytesOfText(next), counts);
  return counts;
}

function stepDirectory(work: ByteString, next: ByteString, counts: StepCounts): void {
  const list = (directory: ByteString): readonly ByteString[] =>
    readdirSync(fsPath(directory), 'latin1').map(asByteString);
  const wanted = list(next);
  const keep = new Set(wanted);
  for (const name of list(work)) {
    if (keep.has(name)) continue;
    remove(work, name);
    counts.removed += 1;
  }
  for (const name of wanted) {
    const [to, from] = [joinBytes(work, name), joinBytes(next, name)];
    const wantedStats = lstatSync(fsPath(from));
    const present = lstatSync(fsPath(to), { throwIfNoEntry: false });
    if (wantedStats.isDirectory()) {
      if (present !== undefined && !present.isDirectory()) remove(work, name);
      if (present?.isDirectory() !== true) mkdirSync(fsPath(to));
      stepDirectory(to, from, counts);
    } else if (present !== undefined && sameEntry(to, from)) {
      counts.unchanged += 1;
    } else {
      if (present !== undefined && (present.isDirectory() || !wantedStats.isFile())) remove(work, name);
      if (wantedStats.isSymbolicLink()) {
        symlinkSync(readlinkSync(fsPath(from), 'buffer'), fsPath(to));
      } else if (wantedStats.isFile()) {
        replaceFile(from, to);
      } else {
        throw new Error(`${textOfBytes(from)}: only files, directories and symbolic links can be stepped`);
      }
      counts.written += 1;
    }
    const mode = wantedStats.mode & 0o7777;
    if (!wantedStats.isSymbolicLink() && (lstatSync(fsPath(to)).mode & 0o7777) !== mode)
      chmodSync(fsPath(to), mode);
  }
}

function remove(parent: ByteString, name: ByteString): void {
  const entry = fsPath(joinBytes(parent, name));
  if (lstatSync(entry).isDirectory()) removeDirectory(parent, name);
  else unlinkSync(entry);
}

function sameEntry(left: ByteString, right: ByteString): boolean {
  const [leftStats, rightStats] = [lstatSync(fsPath(left)), lstatSync(fsPath(right))];
  if (leftStats.isSymbolicLink() && rightStats.isSymbolicLink())
    return readlinkSync(fsPath(left), 'latin1') === readlinkSync(fsPath(right), 'latin1');
  if (!leftStats.isFile() || !rightStats.isFile() || leftStats.size !== rightStats.size) return false;
  return firstDifference(left, right) === undefined;
}

/** A new file beside the old one, then renamed over it, as careful writers do. */
function replaceFile(from: ByteString, to: ByteString): void {
  const fresh = asByteString(`${to.slice(0, to.lastIndexOf('/') + 1)}.step-${process.pid}`);
  copyFileSync(fsPath(from), fsPath(fresh));
  renameSync(fsPath(fresh), fsPath(to));
}

/** Makes the file `work` hold the bytes of `next`, writing in place only the 4 KiB blocks that differ. */
export function stepImage(work: string, next: string): Readonly<StepCounts> {
  const counts: StepCounts = { written: 0, removed: 0, unchanged: 0 };
  const [unit, batch] = [4096, 1024 * 1024];
  const [old, fresh] = [Buffer.alloc(batch), Buffer.alloc(batch)];
  truncateSync(work, lstatSync(next).size);
  const workFile = openSync(work, 'r+');
  const nextFile = openSync(next, 'r');
  try {
    for (let offset = 0; ; offset += batch) {
      const length = readSync(nextFile, fresh, 0, batch, offset);
      if (length === 0) return counts;
      const present = readSync(workFile, old, 0, length, offset);
      for (let at = 0; at < length; at += unit) {
        const end = Math.min(at + unit, length);
        if (end <= present && fresh.subarray(at, end).equals(old.subarray(at, end))) {
          counts.unchanged += 1;
        } else {
          writeSync(workFile, fresh, at, end - at, offset + at);
          counts.written += 1;
        }
      }
    }
  } finally {
    closeSync(nextFile);
    closeSync(workFile);
  }
}
