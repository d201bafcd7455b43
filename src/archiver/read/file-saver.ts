import { asByteString, pathAbove, type ByteString } from '../../base/byte-path.ts';
import { errnoText } from '../../base/errno-words.ts';
import { errnoOf } from '../../base/errors.ts';
import type { FileEntry, Hole } from '../../format/tree.ts';
import type { ContentOf } from '../before/noted-files.ts';
import { afterLooks, isNotAsMet, isReplaced, MOST_LOOKS, REPLACED_CODE } from '../source/same-entry.ts';
import type { StatFacts, TaskExtras } from './messages.ts';
import type { PendingEntry } from '../store/pending-directory.ts';
import type { Batcher, ReadOutcome } from './read-job.ts';
import { opensWithoutLinks } from '../source/open.ts';
import { SourcePlace } from '../source/place.ts';
import { storedNumber } from '../../format/stored-number.ts';
import { kindOf } from '../source/stat.ts';
import type { Tally } from '../report/tally.ts';
import { metadataOf } from '../before/source-entry.ts';
import type { EntryStat } from '../../system/entry-stat.ts';

/** Files larger than this are cut into spans of this size, which different workers read at the same time. */
const SPAN = 128 * 1024 * 1024;
/** The most spans of one file. Larger files have longer spans: a sparse file of petabytes costs its owner nothing. */
const MOST_SPANS = 1_024;

/** On Windows Node finds the device number differently by path and by descriptor, and the numbers may not agree. */
const KNOWS_DEVICES = process.platform !== 'win32';

/** Some file systems (of network drives, of FUSE) give a size that is not that of the content, at every look. */
const CHANGED = [
  'CHANGED',
  'it changed while it was read, or is not as long as its file system says',
] as const;

export interface FileToSave {
  readonly path: ByteString;
  readonly name: ByteString;
  readonly stat: EntryStat;
  /** The directory it lies in as it was met; undefined if nobody has looked at that. */
  readonly directory: EntryStat | undefined;
  /** The parent snapshot's version, when there is one. */
  readonly old: FileEntry | undefined;
  /** How often the file has been found replaced so far. */
  readonly looks: number;
  /** Called when something that is not a file has replaced it, and settles the entry. Without it that is a problem. */
  readonly became?: (other: Replacement, done: PendingEntry) => void;
}

/** What was found in the place of a file. */
export interface Replacement {
  readonly stat: EntryStat;
  /** How often the file has been found replaced, this time included. */
  readonly looks: number;
}

export type WasRead = (
  path: ByteString,
  stat: EntryStat,
  content: { readonly ids: Buffer; readonly holes: readonly Hole[] },
) => void;

/** Has the content of new and changed files read, and makes their entries. */
export class FileSaver {
  readonly #batcher: Batcher;
  readonly #tally: Tally;
  readonly #contentOf: ContentOf;
  readonly #wasRead: WasRead | undefined;
  /** Inodes with several names, which are read once. */
  readonly #links = new Map<string, LinkGroup>();

  /** @param wasRead called for every file that was read and did not change meanwhile */
  constructor(batcher: Batcher, tally: Tally, contentOf: ContentOf, wasRead?: WasRead) {
    this.#batcher = batcher;
    this.#tally = tally;
    this.#contentOf = contentOf;
    this.#wasRead = wasRead;
  }

  /** Notes an unchanged file, so that further names of its inode are not read either. */
  keep(entry: FileEntry): void {
    if (entry.links === undefined) return;
    this.#links.set(linkKey(entry.links.device, entry.inode, entry), { entry, waiting: [] });
  }

  save(file: FileToSave, done: PendingEntry): void {
    const { path, stat } = file;
    if (!Number.isSafeInteger(stat.size)) {
      this.#tally.problem(path, 'EFBIG', 'it is larger than a snapshot can hold');
      this.#settle(file, undefined, done);
      return;
    }
    if (stat.nlink <= 1) {
      this.#read(file, (entry) => this.#settle(file, entry, done));
      return;
    }
    const key = linkKey(storedNumber(stat.dev), storedNumber(stat.ino), stat);
    const group = this.#links.get(key);
    if (group === undefined) {
      const fresh: LinkGroup = { entry: undefined, waiting: [] };
      this.#links.set(key, fresh);
      this.#lead(key, fresh, { file, done });
    } else if (group.entry === undefined) group.waiting.push({ file, done });
    else this.#settleName({ file, done }, group.entry);
  }

  /** Reads the inode by this name, or by the next one if this name is gone or has become another file. */
  #lead(key: string, group: LinkGroup, { file, done }: NamedFile): void {
    this.#read(file, (entry) => {
      this.#settle(file, entry, done);
      if (!(entry instanceof OtherKind) && entry?.inode === storedNumber(file.stat.ino)) {
        group.entry = entry;
        for (const other of group.waiting) this.#settleName(other, entry);
        group.waiting = [];
        return;
      }
      const next = group.waiting.shift();
      if (next === undefined) this.#links.delete(key);
      else this.#lead(key, group, next);
    });
  }

  /** Settles a further name of a file that was read. */
  #settleName({ file, done }: NamedFile, entry: FileEntry): void {
    if (entry.changedWhileRead) this.#tally.problem(file.path, ...CHANGED);
    this.#settle(file, { ...entry, name: file.name }, done);
  }

  #settle(file: FileToSave, entry: ReadEntry, done: PendingEntry): void {
    const { old } = file;
    if (entry instanceof OtherKind) {
      file.became?.(entry.found, done);
      return;
    }
    if (entry === undefined) {
      this.#tally.filesFailed += 1;
      done(undefined, false);
      return;
    }
    const sameContent = old !== undefined && old.content.equals(entry.content) && old.size === entry.size;
    if (old === undefined) this.#tally.filesNew += 1;
    else if (sameContent) this.#tally.filesUnchanged += 1;
    else this.#tally.filesChanged += 1;
    this.#tally.bytesDone += entry.size;
    done(entry, false);
  }

  #read(file: FileToSave, settle: (entry: ReadEntry) => void): void {
    const { path, stat } = file;
    this.#tally.bytesInReading += stat.size;
    const done = (outcomes: readonly ReadOutcome[], underWay = 0): void => {
      this.#tally.bytesInReading -= stat.size;
      const found = file.looks < MOST_LOOKS ? replacement(file, outcomes) : undefined;
      const entry = found === undefined ? this.#entryOf(file, outcomes) : undefined;
      // The file is now counted as a whole, or will be read from the start again.
      if (entry !== undefined || found !== undefined) this.#tally.bytesUnderWay -= underWay;
      if (found === undefined) settle(entry);
      else if (kindOf(found.stat) === 'file') this.#read({ ...file, ...found }, settle);
      else settle(new OtherKind(found));
    };
    const facts: StatFacts = {
      size: stat.size,
      mtimeNs: stat.mtimeNs,
      ctimeNs: stat.ctimeNs,
      inode: storedNumber(stat.ino),
      blocks: stat.blocks,
      mode: stat.mode & 0o7777,
      uid: stat.uid,
      gid: stat.gid,
    };
    const device = KNOWS_DEVICES ? storedNumber(stat.dev) : -1;
    if (stat.size <= SPAN) {
      this.#batcher.add({ path, facts, device, span: undefined, done: (outcome) => done([outcome]) });
      return;
    }
    const length = spanLength(stat.size);
    const spans = Math.ceil(stat.size / length);
    const outcomes: ReadOutcome[] = [];
    let left = spans;
    for (let i = 0; i < spans; i += 1) {
      const span = { offset: i * length, length: Math.min(length, stat.size - i * length) };
      this.#batcher.add({
        path,
        facts,
        device,
        span,
        done: (outcome) => {
          outcomes[i] = outcome;
          left -= 1;
          this.#tally.bytesUnderWay += span.length;
          if (left === 0) done(outcomes, stat.size);
        },
      });
    }
  }

  /** The entry of a file from its spans (one for most files), or undefined when it could not be read. */
  #entryOf(file: FileToSave, outcomes: readonly ReadOutcome[]): FileEntry | undefined {
    const { path, name, stat } = file;
    const extras = outcomes.map((one) => one.extras).filter((one) => one !== undefined);
    const problem = extras.find((one) => one.problem !== undefined)?.problem;
    if (problem !== undefined) {
      if (problem.code === REPLACED_CODE)
        this.#tally.problem(path, 'CHANGED', `${problem.message} in the meantime`);
      else if (isReplaced(afterLooks(file.looks, path, problem)))
        this.#tally.problem(path, 'CHANGED', 'something else took its place in the meantime');
      else this.#tally.problem(path, problem.code, `it cannot be read: ${errnoText(problem.code)}`);
      return undefined;
    }
    const whole = outcomes.length === 1 ? outcomes[0] : undefined;
    const changed = extras.some((one) => one.changed);
    if (changed) this.#tally.problem(path, ...CHANGED);
    for (const one of extras) for (const what of one.xattrProblems) this.#tally.omit(what);
    const refreshed = latest(extras);
    const size = whole?.size ?? stat.size;
    this.#tally.bytesRead += size;
    const ids = whole === undefined ? Buffer.concat(outcomes.map((one) => one.ids)) : whole.ids;
    const holes = joinHoles(extras);
    if (!changed && refreshed === undefined) this.#wasRead?.(path, stat, { ids, holes });
    return {
      type: 'file',
      ...metadataOf(name, stat),
      ...(refreshed === undefined ? {} : refreshedMetadata(refreshed)),
      xattrs: extras
        .find((one) => one.xattrs !== undefined)
        ?.xattrs?.map(({ name, value }) => ({ name: asByteString(name), value: Buffer.from(value) })),
      size,
      holes: holes.length === 0 ? undefined : holes,
      ...this.#contentOf(ids),
      changedWhileRead: changed,
    };
  }
}

/** Something that is not a file has replaced the one that was to be read. */
class OtherKind {
  readonly found: Replacement;

  constructor(found: Replacement) {
    this.found = found;
  }
}

/** Undefined if the file could not be read. */
type ReadEntry = FileEntry | OtherKind | undefined;

interface NamedFile {
  readonly file: FileToSave;
  readonly done: PendingEntry;
}

interface LinkGroup {
  entry: FileEntry | undefined;
  waiting: NamedFile[];
}

/**
 * Times and size are part of the key, so that a name seen after the inode changed is read again. The same goes for
 * different files to which a file system gives the same number, as some network file systems do.
 */
function linkKey(
  device: number,
  inode: number,
  seen: { readonly mtimeNs: bigint; readonly ctimeNs: bigint; readonly size: number },
): string {
  return `${device}/${inode}/${seen.mtimeNs}/${seen.ctimeNs}/${seen.size}`;
}

/** Doubled as often as needed, so that a file that grows keeps most of the places where it is cut. */
function spanLength(size: number): number {
  let length = SPAN;
  while (size / length > MOST_SPANS) length *= 2;
  return length;
}

/** The latest stat from the readers of a file that was not as the walker had seen it. */
function latest(extras: readonly TaskExtras[]): StatFacts | undefined {
  return extras
    .map((one) => one.stat)
    .filter((one) => one !== undefined)
    .reduce<StatFacts | undefined>(
      (last, one) => (last && last.ctimeNs > one.ctimeNs ? last : one),
      undefined,
    );
}

/**
 * What has replaced the file that was to be read, in the same directory. Undefined where a link on the way to it could
 * be followed: what lies there might belong to someone else.
 */
function replacement(
  { path, name, directory, looks, became }: FileToSave,
  outcomes: readonly ReadOutcome[],
): Replacement | undefined {
  const isReplaced = outcomes.some(({ extras }) => isNotAsMet(extras?.problem));
  if (!isReplaced || !opensWithoutLinks(path)) return undefined;
  try {
    using place = new SourcePlace(pathAbove(path), directory);
    const stat = place.stat(name);
    if (stat === undefined || (kindOf(stat) !== 'file' && became === undefined)) return undefined;
    return { stat, looks: looks + 1 };
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

function refreshedMetadata({ mtimeNs, ctimeNs, inode, mode, uid, gid }: StatFacts) {
  return { mtimeNs, ctimeNs, inode, mode, uid, gid };
}

/** Holes of all spans in order, joined where one ends and the next begins. */
function joinHoles(extras: readonly TaskExtras[]): Hole[] {
  const holes: { offset: number; length: number }[] = [];
  for (const { offset, length } of extras.flatMap((one) => one.holes)) {
    const last = holes.at(-1);
    if (last !== undefined && last.offset + last.length === offset) last.length += length;
    else holes.push({ offset, length });
  }
  return holes;
}
