/**
 * The sealed journal: every job when it is made, starts and ends, and the few other records that must outlive the
 * database. The database takes precedence; the journal is what it is rebuilt from when it is lost.
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
import { causeText } from '../base/errno-words.ts';
import { StateError } from '../base/errors.ts';
import { durableName, type DurableRecord } from '../db/durable.ts';
import { journalKey, openLine, sealLine } from './journal-seal.ts';

export interface JournalOptions {
  /** Size in bytes below which the journal is not rewritten. */
  readonly smallBytes?: number | undefined;
}

const SMALL_BYTES = 4 * 1024 * 1024;
/** Appending, so that a write goes to the end of the file also after a line was withdrawn. */
const FRESH = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_APPEND;
/** The journal is rewritten when it is this many times as large as after the last rewrite. */
const GROWTH = 3;

export interface Journal {
  /** The last record of each name when the journal was opened, in the order in which the names first appear. */
  readonly found: readonly DurableRecord[];
  /** Whether journal files existed when it was opened, readable or not. */
  readonly wasThere: boolean;
  /** Lines that could not be read at that time. */
  readonly damagedLines: number;
  /**
   * Damaged lines that end in a newline. A power failure only ever leaves an incomplete line at the end of a file, so
   * these are real damage.
   */
  readonly damagedWholeLines: number;
  /** Writes the record to the disk before it returns. @throws {StateError} WRITE_ERROR */
  append(record: DurableRecord): void;
  /**
   * Removes the last line when it is about this name, which needs no space on the disk. False when it is about another
   * name, or cannot be removed.
   */
  withdraw(name: string): boolean;
  /** Rewrites the journal from `all` when it has grown too long or was damaged. @throws {StateError} WRITE_ERROR */
  rotateIfDue(all: () => Iterable<DurableRecord>): void;
  /** Like `rotateIfDue`, but unconditional. */
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

  // A new file at each start: the last one may end in an incomplete line.
  let number = (files.at(-1)?.number ?? 0) + 1;
  let file: number | undefined;
  let bytes = read.bytes;
  let due = Math.max(smallBytes, read.bytes);
  let rotateNow = read.damagedLines > 0 || files.length > 20;
  let torn = false;
  /** Position and record name of the last line. */
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
      // The line may or may not be gone: the caller appends a correction instead.
      return false;
    }
    bytes -= last.length;
    last = undefined;
    return true;
  };
  const rotate = (all: Iterable<DurableRecord>): void => {
    const path = pathOf(directory, number + 1);
    const next = openSync(`${path}.tmp`, FRESH, 0o600);
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
      `The journal in ${directory} cannot be written: ${causeText(cause)}`,
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
  /** Numbers of files with unreadable lines, other than an incomplete one at the end. */
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

/** A file with damaged lines is kept for later examination. */
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
