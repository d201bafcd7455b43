import type { ByteString } from '../../base/byte-path.ts';
import {
  MAX_LISTED_ERRORS,
  type EntryProblem,
  type Owners,
  type SnapshotRecord,
} from '../../format/records.ts';
import { omissionKey, type Omission, type OmittedKind } from '../../format/omission.ts';
import type { DirectoryTotals, Entry } from '../../format/tree.ts';
import { ownerNames, type OwnerNames } from '../../system/owner-names.ts';
import type { ArchiveCounters, ArchiveObserver } from './observer.ts';

/** Limits that keep a snapshot's record readable: it has 16 MiB at most. */
const MAX_PROBLEM_BYTES = 6 * 1024 * 1024;
const MAX_OMITTED = 1_000;
const OTHER_KINDS: OmittedKind = { code: 'more' };

/** Bytes of packs, as `PackStore` counts them. */
export interface UploadedBytes {
  readonly uploadedBytes: number;
  readonly handedBytes: number;
}

/** For a run that stores nothing. */
export const NOTHING_UPLOADED: UploadedBytes = { uploadedBytes: 0, handedBytes: 0 };

/** Counts, problems and owners of one run. */
export class Tally {
  readonly #observer: ArchiveObserver;
  readonly problems: EntryProblem[] = [];
  problemsMore = 0;
  filesNew = 0;
  filesChanged = 0;
  filesUnchanged = 0;
  filesFailed = 0;
  directories = 0;
  links = 0;
  others = 0;
  bytesDone = 0;
  /** Bytes read of large files that are not complete yet. */
  bytesUnderWay = 0;
  /** Bytes of files that were handed to the readers and are not done yet. */
  bytesInReading = 0;
  bytesRead = 0;
  #problemBytes = 0;
  readonly #omitted = new Map<string, Omission>();
  #omittedBefore: readonly Omission[] = [];
  readonly #users = new Set<number>();
  readonly #groups = new Set<number>();

  constructor(observer: ArchiveObserver) {
    this.#observer = observer;
  }

  problem(path: ByteString, code: string, message: string): void {
    const problem = { path, code, message };
    this.#problemBytes += path.length + code.length + message.length;
    if (this.problems.length < MAX_LISTED_ERRORS && this.#problemBytes <= MAX_PROBLEM_BYTES)
      this.problems.push(problem);
    else this.problemsMore += 1;
    this.#observer.problem(problem);
  }

  get problemCount(): number {
    return this.problems.length + this.problemsMore;
  }

  /** Counts, by kind, something about an entry that could not be captured although its content was. */
  omit(what: OmittedKind): void {
    const kind = kindAmong(this.#omitted, what);
    const key = omissionKey(kind);
    this.#omitted.set(key, { ...kind, count: (this.#omitted.get(key)?.count ?? 0) + 1 });
  }

  /** Sets the omissions of the parent, for a run that does not look at everything: entries taken over still lack the same. */
  stillOmit(omitted: readonly Omission[]): void {
    this.#omittedBefore = omitted;
  }

  /** Where both this run and the parent have an omission, the higher count: it is not known which entries are the same. */
  get omitted(): Omission[] {
    const all = new Map(this.#omitted);
    for (const one of this.#omittedBefore) {
      const kind = kindAmong(all, one);
      const key = omissionKey(kind);
      all.set(key, { ...kind, count: Math.max(all.get(key)?.count ?? 0, one.count) });
    }
    return [...all.values()];
  }

  /** Begins with the parent snapshot's counts. `uncount` takes out what is visited or gone. */
  startFrom({ directories, links, others }: SnapshotRecord['counts']): void {
    this.directories = directories;
    this.links = links;
    this.others = others;
  }

  /** Takes out the entries of a directory of the parent, which are counted again or are gone. Files are not in `startFrom`. */
  uncount(entries: readonly Entry[]): void {
    for (const { type } of entries) {
      if (type === 'directory') this.directories -= 1;
      else if (type === 'symlink') this.links -= 1;
      else if (type !== 'file') this.others -= 1;
    }
  }

  /** Counts the files below an unchanged directory. Its directories, links and others are in the counts already. */
  passOver({ files, bytes }: DirectoryTotals): void {
    this.filesUnchanged += files;
    this.bytesDone += bytes;
  }

  owner(uid: number, gid: number): void {
    this.#users.add(uid);
    this.#groups.add(gid);
  }

  /** Names of the owners seen, in addition to those that the parent snapshot knows. */
  owners(known: Owners | undefined): Owners {
    const names: OwnerNames = ownerNames();
    const users: Record<string, string> = { ...known?.users };
    const groups: Record<string, string> = { ...known?.groups };
    for (const uid of this.#users) {
      const name = names.userName(uid);
      if (name !== undefined) users[uid] = name;
    }
    for (const gid of this.#groups) {
      const name = names.groupName(gid);
      if (name !== undefined) groups[gid] = name;
    }
    return { users, groups };
  }

  counters(uploaded: UploadedBytes): ArchiveCounters {
    const {
      filesNew,
      filesChanged,
      filesUnchanged,
      filesFailed,
      directories,
      links,
      others,
      bytesDone,
      bytesUnderWay,
      bytesInReading,
      bytesRead,
    } = this;
    return {
      filesNew,
      filesChanged,
      filesUnchanged,
      filesFailed,
      directories,
      links,
      others,
      bytesDone: bytesDone + bytesUnderWay,
      bytesFound: bytesDone + bytesInReading,
      bytesRead,
      bytesUploaded: uploaded.uploadedBytes,
      bytesHanded: uploaded.handedBytes,
    };
  }
}

function kindAmong(known: ReadonlyMap<string, unknown>, what: OmittedKind): OmittedKind {
  return known.size < MAX_OMITTED || known.has(omissionKey(what)) ? what : OTHER_KINDS;
}
