import type { ByteString } from '../../base/byte-path.ts';
import type { OmittedKind } from '../../format/omission.ts';
import { MAX_DEPTH, type DirectoryEntry, type Entry, type EntryMetadata } from '../../format/tree.ts';
import { decisionOn, takeEntry, type TakenEntry } from './entry-rules.ts';
import { shownPath } from '../../exclude/decision.ts';
import { lookAt, tellError } from './entry-look.ts';
import type { Excluder } from '../../exclude/excluder.ts';
import {
  PendingDirectory,
  placeExpected,
  type EntryPlace,
  type PendingEntry,
  type StoredDirectory,
} from '../store/pending-directory.ts';
import { afterLooks, isNotAsMet, MOST_LOOKS } from '../source/same-entry.ts';
import { storedNumber } from '../../format/stored-number.ts';
import { kindOf, type SourceKind } from '../source/stat.ts';
import { placedXattrs, type SourcePlace } from '../source/place.ts';
import { completedXattrs } from '../source/xattrs.ts';
import {
  asClosedAs,
  hasXattrsOf,
  isUnchangedFile,
  metadataOf,
  sameMetadata,
  sameSpecial,
  specialEntry,
} from '../before/source-entry.ts';
import { sourcesBelow } from '../source/source-tree.ts';
import type { Descent, MetName, Visit, WalkParts } from './walk-parts.ts';
import type { EntryStat } from '../../system/entry-stat.ts';
import { isDataless } from '../../system/mac-mounts.ts';
import type { Replacement } from '../read/file-saver.ts';

/**
 * Handles the entries of one directory: takes each over from the parent, hands it to the readers, queues it to be
 * walked, or stores it as it is. An entry that was replaced before it was opened is looked at again.
 */
export class EntryTaking {
  readonly #visit: Visit;
  readonly #parts: WalkParts;
  readonly #place: SourcePlace;
  /** Subdirectories to be walked. */
  readonly below: Descent[] = [];
  /** Directories of the parent that are walked or passed over. */
  readonly met = new Set<Entry>();
  /** The directory as it was when its names were read; undefined if they were not read. */
  opened: EntryStat | undefined;
  rulesChanged: boolean;

  constructor(visit: Visit, parts: WalkParts, place: SourcePlace) {
    this.#visit = visit;
    this.#parts = parts;
    this.#place = place;
    this.rulesChanged = visit.rulesChanged;
  }

  lookAndTake(
    met: MetName,
    to: EntryPlace,
    look = (): EntryStat | undefined => this.#place.stat(met.name),
  ): void {
    const { path, node } = met;
    // The rules do not apply to the way to a source.
    const scope = node === undefined ? met.scope : undefined;
    const stat = lookAt({ path, look, scope, node }, this.#parts.tally);
    if (stat === undefined) to.nothing(true);
    else this.#take(met, stat, to);
  }

  /**
   * Looks again at a name whose directory was replaced before it was walked. Returns what is to be walked instead, if
   * anything.
   */
  #lookAgain(met: MetName, before: EntryStat, done: PendingEntry): Descent | undefined {
    try {
      this.#lookOnceMore(met, before, placeExpected(done));
      return this.below.pop();
    } finally {
      this.#place[Symbol.dispose]();
    }
  }

  /**
   * Reports a mount that has gone in addition to looking again: the directory below the mount point is mostly empty,
   * and would be stored without a problem.
   */
  #lookOnceMore(met: MetName, before: EntryStat, to: EntryPlace): void {
    const look = (): EntryStat | undefined => {
      const stat = this.#place.stat(met.name);
      const { dev } = this.#place.itself();
      if (stat !== undefined && before.dev !== dev && stat.dev === dev)
        this.#parts.tally.problem(met.path, 'CHANGED', 'the file system that was mounted there is gone');
      return stat;
    };
    this.lookAndTake({ ...met, looks: met.looks + 1 }, to, look);
  }

  #take(met: MetName, stat: EntryStat, to: EntryPlace): void {
    const { name, path, old, node, scope } = met;
    const { tally, excluderFor } = this.#parts;
    const { excluder } = this.#visit.inside;
    const kind = kindOf(stat);
    if (node !== undefined && kind !== 'directory')
      for (const source of sourcesBelow(node))
        tally.problem(source, 'ENOTDIR', `the source does not exist: ${shownPath(path)} is not a directory`);
    if (kind === undefined) {
      tally.omit({ code: 'entries' });
      to.nothing(true);
      return;
    }
    const taken = takeEntry({ name, path, kind, stat, node }, { excluder, scope }, excluderFor);
    if (taken === undefined) {
      const { notes, ruleFiles, outcomes } = this.#parts;
      outcomes.entryLeftOut(excluder, name, () => decisionOn({ name, kind, stat }, { excluder, scope }));
      if (notes !== undefined && kind === 'file' && ruleFiles.has(name)) notes.hiddenRules = true;
      to.nothing(old !== undefined);
      return;
    }
    // A source that was named is tried, and says itself that it is not here.
    if (node === undefined && isDataless(stat.flags ?? 0)) {
      this.#takeElsewhere(met, stat, kind, to);
      return;
    }
    tally.owner(stat.uid, stat.gid);
    if (kind !== 'directory' && stat.nlink > 1) this.#parts.notes?.linked.add(this.#visit.path);
    if (kind === 'file') this.#file(met, stat, to);
    else if (kind === 'directory') this.#directory(met, stat, taken, to);
    else this.#other(met, stat, kind, to);
  }

  /** Its content is in iCloud alone: reading it would download it. What an earlier run has stored of it is kept. */
  #takeElsewhere({ old }: MetName, stat: EntryStat, kind: SourceKind, to: EntryPlace): void {
    if (kind === 'file' && old?.type === 'file' && old.size === stat.size && old.mtimeNs === stat.mtimeNs) {
      this.keep(old, to, storedNumber(stat.dev), old.xattrs);
      return;
    }
    this.#parts.tally.omit({ code: 'dataless' });
    to.nothing(old !== undefined);
  }

  #file(met: MetName, stat: EntryStat, to: EntryPlace): void {
    const { name, path, old, node, looks } = met;
    if (node?.whole === true) this.#sourceCompleted(met, 1);
    const { parent, files } = this.#parts;
    const before = old?.type === 'file' ? old : undefined;
    if (before !== undefined && parent !== undefined && isUnchangedFile(before, path, stat, parent)) {
      const xattrs = parent.mayLackXattrs ? this.#xattrs(name, path, stat, before) : before.xattrs;
      this.keep(before, to, storedNumber(stat.dev), xattrs);
      return;
    }
    const noted = this.#parts.unchanged?.(path, stat);
    if (noted !== undefined) {
      const metadata = this.#metadata(name, path, stat, undefined);
      this.keep({ type: 'file', ...metadata, size: stat.size, ...noted, changedWhileRead: false }, to);
      return;
    }
    const directory = this.opened ?? this.#visit.stat;
    const became = (other: Replacement, done: PendingEntry): void => this.#fileBecame(met, other, done);
    files.save({ path, name, stat, directory, old: before, looks, became }, to.expect());
  }

  /** By the time a file was read, something that is not a file had replaced it. */
  #fileBecame(met: MetName, { stat, looks }: Replacement, done: PendingEntry): void {
    const { old } = met;
    // While a file was there, the walk counted the parent's directory of that name as gone.
    const now = old?.type === 'directory' ? { ...met, old: undefined, gone: old, looks } : { ...met, looks };
    try {
      this.#take(now, stat, placeExpected(done));
      this.#parts.later.push(...this.below.splice(0));
    } finally {
      this.#place[Symbol.dispose]();
    }
  }

  #directory(met: MetName, stat: EntryStat, { descend, inside }: TakenEntry, to: EntryPlace): void {
    const { path, old, node, looks } = met;
    const isSource = node?.whole === true;
    const { tally, outcomes } = this.#parts;
    const before = old?.type === 'directory' ? old : undefined;
    const metadata = this.#steadyMetadata(met, stat, before);
    if (metadata === undefined) {
      this.#lookOnceMore(met, stat, to);
      return;
    }
    tally.directories += 1;
    const done = to.expect();
    const completed = ({ id, totals, opened }: StoredDirectory): void => {
      if (isSource) this.#sourceCompleted(met, totals.files, inside.excluder);
      const whose = opened === undefined ? metadata : asClosedAs(opened, metadata);
      const entry: DirectoryEntry = { type: 'directory', ...whose, id, totals };
      done(entry, before !== undefined && before.id.equals(id) && sameMetadata(before, whose));
    };
    if (!descend || this.#visit.depth >= MAX_DEPTH - 2) {
      if (descend) tally.problem(path, 'TOO_DEEP', `directories are nested deeper than ${MAX_DEPTH}`);
      else
        outcomes.entryLeftOut(this.#visit.inside.excluder, met.name, () =>
          decisionOn(
            { name: met.name, kind: 'directory', stat },
            { ...this.#visit.inside, scope: met.scope },
          ),
        );
      new PendingDirectory(this.#parts.storeChunk, undefined, completed).listed();
      return;
    }
    if (before !== undefined) this.met.add(before);
    const stands = before !== undefined && inside.node === undefined && sameMetadata(before, metadata);
    this.below.push({
      visit: {
        path,
        depth: this.#visit.depth + 1,
        old: before,
        oldRoot: undefined,
        stat,
        inside,
        rulesChanged: this.rulesChanged,
      },
      completed,
      looks,
      lookAgain: () => {
        tally.directories -= 1;
        return this.#lookAgain(met, stat, done);
      },
      giveUp: (failure) => {
        tally.directories -= 1;
        tellError(path, afterLooks(looks, path, failure), 'the directory cannot be read', tally);
        done(undefined, false);
      },
      clean: stands && this.#parts.clean?.(path) === true ? before : undefined,
    });
  }

  #sourceCompleted({ path, old: there, gone }: MetName, files: number, excluder?: Excluder): void {
    const old = gone ?? there;
    const filesBefore = old?.type === 'directory' ? old.totals.files : old?.type === 'file' ? 1 : undefined;
    this.#parts.outcomes.completed(path, excluder, { files, filesBefore });
  }

  #other(
    met: MetName,
    stat: EntryStat,
    kind: Exclude<SourceKind, 'file' | 'directory'>,
    to: EntryPlace,
  ): void {
    const { path, old, node, looks } = met;
    const { tally } = this.#parts;
    const before = old?.type === kind ? old : undefined;
    const metadata = this.#steadyMetadata(met, stat, before);
    let entry: Entry | undefined;
    try {
      entry = metadata && specialEntry(kind, this.#place, stat, metadata);
    } catch (error) {
      if (!isNotAsMet(error) || looks === MOST_LOOKS) {
        tellError(path, afterLooks(looks, path, error), 'the link cannot be read', tally);
        to.nothing(true);
        return;
      }
    }
    if (metadata === undefined || entry === undefined) {
      this.#lookOnceMore(met, stat, to);
      return;
    }
    if (node?.whole === true) this.#sourceCompleted(met, 0);
    if (kind === 'symlink') tally.links += 1;
    else tally.others += 1;
    to.add(entry, before !== undefined && sameMetadata(before, metadata) && sameSpecial(before, entry));
  }

  /**
   * @param device of the entry as it was seen just now, if it was looked at: device numbers may change when the machine
   * restarts
   */
  keep(old: Entry, to: EntryPlace, device = old.links?.device, xattrs = old.xattrs): void {
    const { tally, files } = this.#parts;
    const links = old.links && { device: device ?? old.links.device, count: old.links.count };
    const same = links?.device === old.links?.device && xattrs === old.xattrs;
    const entry = same ? old : { ...old, links, xattrs };
    tally.owner(entry.uid, entry.gid);
    if (entry.type === 'file') {
      tally.filesUnchanged += 1;
      tally.bytesDone += entry.size;
      files.keep(entry);
    } else if (entry.type === 'symlink') tally.links += 1;
    else if (entry.type !== 'directory') tally.others += 1;
    to.add(entry, same);
  }

  /** Undefined when something else has taken the entry's place, which is worth another look. */
  #steadyMetadata(
    { name, path, looks }: MetName,
    stat: EntryStat,
    old: Entry | undefined,
  ): EntryMetadata | undefined {
    try {
      return this.#metadata(name, path, stat, old, looks === MOST_LOOKS);
    } catch (error) {
      if (isNotAsMet(error)) return undefined;
      throw error;
    }
  }

  #metadata(
    name: ByteString,
    path: ByteString,
    stat: EntryStat,
    old: Entry | undefined,
    isLastLook = true,
  ): EntryMetadata {
    return { ...metadataOf(name, stat), xattrs: this.#xattrs(name, path, stat, old, isLastLook) };
  }

  #xattrs(
    name: ByteString,
    path: ByteString,
    stat: EntryStat,
    old: Entry | undefined,
    isLastLook = true,
  ): EntryMetadata['xattrs'] {
    const { parent, tally } = this.#parts;
    const omit = (what: OmittedKind): void => tally.omit(what);
    const capture = (told: (what: OmittedKind) => void): EntryMetadata['xattrs'] =>
      placedXattrs(this.#place, name, stat, told, isLastLook);
    if (old === undefined || parent === undefined || !hasXattrsOf(old, path, stat, parent))
      return capture(omit);
    return parent.mayLackXattrs ? completedXattrs(old.xattrs, capture, omit) : old.xattrs;
  }
}
