/**
 * The sealed journal: every job as it is made, starts and ends, and the little else that must outlive the database.
 * What the database says counts; the journal is what it is rebuilt from when it is lost.
 */
import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { StateError, errnoOf } from '../base/errors.ts';
import { durableName, type DurableRecord } from '../db/durable.ts';
import { journalKey, openLine, sealLine } from './journal-seal.ts';

export interface JournalOptions {
  /** Bytes below which it is not worth writing anew. */
  readonly smallBytes?: number | undefined;
}

const SMALL_BYTES = 4 * 1024 * 1024;
/** Each write goes to the end, also after a line was taken away. */
const ANEW = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_APPEND;
/** Written anew when it is so many times as large as it was after the last time. */
const GROWTH = 3;

export interface Journal {
  /** The last of each name, in the order of their first coming, as found when it was opened. */
  readonly found: readonly DurableRecord[];
  /** There was one when it was opened, readable or not. */
  readonly wasThere: boolean;
  /** Lines that could not be read then. */
  readonly damagedLines: number;
  /** Those of them that are whole: a loss of power leaves half a line at the end of a file, and no other. */
  readonly damagedWholeLines: number;
  /** On the disk when it returns. @throws {StateError} WRITE_ERROR */
  append(record: DurableRecord): void;
  /**
   * Takes the last line away again where it says something of this name, which needs no room on the disk; false when it
   * does not, or cannot be taken away.
   */
  withdraw(name: string): boolean;
  /** Writes the journal anew from `all` when it has grown too long, or was damaged. @throws {StateError} WRITE_ERROR */
  rotateIfDue(all: () => Iterable<DurableRecord>): void;
  /** As `rotateIfDue`, due or not. */
  rotate(all: () => Iterable<DurableRecord>): void;
  close(): void;
}

interface JournalFile {
  readonly number: number;
  readonly path: string;
}

/** @throws {StateError} READ_ERROR, WRITE_ERROR, STATE_NOT_PRIVATE */
export function openJournal(directory: string, { smallBytes = SMALL_BYTES }: JournalOptions = {}): Journal {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const key = journalKey(join(directory, 'key'));
  const files = journalFiles(directory);
  const read = readAll(key, files);

  // A new file each time: the last one may end in half a line.
  let number = (files.at(-1)?.number ?? 0) + 1;
  let file: number | undefined;
  let bytes = read.bytes;
  let due = Math.max(smallBytes, read.bytes);
  let rotateNow = read.damagedLines > 0 || files.length > 20;
  let torn = false;
  /** Where the last line begins, and of what it is. */
  let last: { readonly name: string; readonly from: number; readonly length: number } | undefined;

  const write = (name: string, line: string): void => {
    const text = torn ? `\n${line}` : line;
    torn = true;
    last = undefined;
    file ??= openNew(directory, pathOf(directory, number));
    const from = fstatSync(file).size;
    writeWhole(file, Buffer.from(text, 'latin1'));
    fdatasyncSync(file);
    torn = false;
    bytes += text.length;
    last = { name, from, length: text.length };
  };
  const withdraw = (name: string): boolean => {
    if (file === undefined || last?.name !== name) return false;
    try {
      ftruncateSync(file, last.from);
      fdatasyncSync(file);
    } catch {
      // It may be there and may not: whoever asked writes a line that corrects it.
      return false;
    }
    bytes -= last.length;
    last = undefined;
    return true;
  };
  const rotate = (all: Iterable<DurableRecord>): void => {
    const path = pathOf(directory, number + 1);
    const next = openSync(`${path}.tmp`, ANEW, 0o600);
    let length = 0;
    try {
      for (const record of all)
        length += writeWhole(next, Buffer.from(sealLine(key, number + 1, record), 'latin1'));
      fsyncSync(next);
      renameSync(`${path}.tmp`, path);
      syncDirectory(directory);
    } catch (error) {
      closeSync(next);
      throw error;
    }
    if (file !== undefined) closeSync(file);
    [file, number, bytes, torn] = [next, number + 1, length, false];
    last = undefined;
    due = Math.max(smallBytes, length * GROWTH);
    rotateNow = false;
    for (const old of journalFiles(directory)) if (old.number < number) retire(old, read.damagedFiles);
  };

  return {
    found: read.found,
    wasThere: files.length > 0,
    damagedLines: read.damagedLines,
    damagedWholeLines: read.damagedWholeLines,
    append(record) {
      guarded(directory, () => write(durableName(record), sealLine(key, number, record)));
    },
    withdraw,
    rotateIfDue(all) {
      if (bytes > due || rotateNow) guarded(directory, () => rotate(all()));
    },
    rotate(all) {
      guarded(directory, () => rotate(all()));
    },
    close() {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

function guarded(directory: string, work: () => void): void {
  try {
    work();
  } catch (cause) {
    throw new StateError(
      'WRITE_ERROR',
      `The journal in ${directory} cannot be written (${errnoOf(cause) ?? 'unknown error'})`,
      { hint: 'Check that the state directory is writable and that the disk has space.', cause },
    );
  }
}

function pathOf(directory: string, number: number): string {
  return join(directory, `${String(number).padStart(8, '0')}.jnl`);
}

function journalFiles(directory: string): readonly JournalFile[] {
  return readdirSync(directory)
    .map((name) => ({ number: Number(/^(\d{8,15})\.jnl$/.exec(name)?.[1]), path: join(directory, name) }))
    .filter(({ number }) => Number.isSafeInteger(number))
    .sort((a, b) => a.number - b.number);
}

interface ReadJournal {
  readonly found: readonly DurableRecord[];
  readonly damagedLines: number;
  readonly damagedWholeLines: number;
  /** Numbers of files with lines that cannot be read, the half one at the end aside. */
  readonly damagedFiles: ReadonlySet<number>;
  readonly bytes: number;
}

function readAll(key: Buffer, files: readonly JournalFile[]): ReadJournal {
  const found = new Map<string, DurableRecord>();
  const damagedFiles = new Set<number>();
  let [damagedLines, damagedWholeLines, bytes] = [0, 0, 0];
  for (const { number, path } of files) {
    const text = readFileSync(path, 'latin1');
    bytes += text.length;
    const lines = text.split('\n');
    for (const [index, line] of lines.entries()) {
      if (line === '') continue;
      const record = openLine(key, number, line);
      if (record !== undefined) {
        found.set(durableName(record), record);
        continue;
      }
      damagedLines += 1;
      if (index === lines.length - 1) continue;
      damagedWholeLines += 1;
      damagedFiles.add(number);
    }
  }
  return { found: [...found.values()], damagedLines, damagedWholeLines, damagedFiles, bytes };
}

/** A file that could not be read whole is kept for whoever looks into it. */
function retire({ number, path }: JournalFile, damagedFiles: ReadonlySet<number>): void {
  if (damagedFiles.has(number)) renameSync(path, `${path}.damaged`);
  else rmSync(path);
}

function openNew(directory: string, path: string): number {
  const file = openSync(path, 'ax', 0o600);
  syncDirectory(directory);
  return file;
}

/** Returns the number of bytes. */
function writeWhole(file: number, bytes: Buffer): number {
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
  return bytes.length;
}

function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(directory, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
