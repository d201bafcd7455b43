import { joinBytes, type ByteString } from '../base/byte-path.ts';
import { MAX_DEPTH, type DirectoryEntry, type Entry, type EntryMetadata } from '../format/tree.ts';
import { takeEntry, type TakenEntry } from './entry-rules.ts';
import { shownPath } from './exclude-decision.ts';
import { lookAt, tellError } from './entry-look.ts';
import type { DirectoryScope, Excluder } from './exclude.ts';
import { PendingDirectory, type StoredDirectory } from './pending-directory.ts';
import {
  kindOf,
  openDirectory,
  storedNumber,
  withNamesThere,
  type ListedDirectory,
  type SourceKind,
  type SourceStat,
} from './source-stat.ts';
import { placedXattrs, SourcePlace } from './source-place.ts';
import { completedXattrs } from './source-xattrs.ts';
import {
  asClosedAs,
  hasXattrsOf,
  isUnchangedFile,
  metadataOf,
  OldEntries,
  sameMetadata,
  sameSpecial,
  specialEntry,
} from './source-entry.ts';
import { rulesDiffer, unstoredRules } from './rule-files.ts';
import { namesWithSources, sourcesBelow, type SourceNode } from './source-tree.ts';
import type { Descent, Visit, WalkParts } from './walk-parts.ts';

/** Looks at the entries of one directory. */
export class DirectoryStep {
  readonly #visit: Visit;
  readonly #parts: WalkParts;
  readonly #pending: PendingDirectory;
  readonly #below: Descent[] = [];
  /** Directories of the parent that are gone on with, or passed over. */
  readonly #met = new Set<Entry>();
  readonly #place: SourcePlace;
  #opened: SourceStat | undefined;
  #rulesChanged: boolean;

  constructor(visit: Visit, parts: WalkParts, pending: PendingDirectory) {
    this.#visit = visit;
    this.#parts = parts;
    this.#pending = pending;
    this.#place = new SourcePlace(visit.path, visit.stat);
    this.#rulesChanged = visit.rulesChanged;
  }

  /** The directory as it was when its names were read; undefined where they were not. */
  get opened(): SourceStat | undefined {
    return this.#opened;
  }

  /** No more entries are looked at. */
  close(): void {
    this.#place[Symbol.dispose]();
  }

  /** Directories to go on with, once all entries were looked at; those that are clean are settled here. */
  descents(): readonly Descent[] {
    const left: Descent[] = [];
    for (const descent of this.#below) {
      if (descent.clean === undefined || this.#rulesChanged)
        left.push({ ...descent, visit: { ...descent.visit, rulesChanged: this.#rulesChanged } });
      else {
        this.#parts.tally.passOver(descent.clean.totals);
        descent.completed(descent.clean);
      }
    }
    return left;
  }

  /** The parent's directories that are not there any more, or not walked. */
  gone(oldEntries: readonly Entry[]): readonly DirectoryEntry[] {
    return oldEntries.filter((old) => old.type === 'directory').filter((old) => !this.#met.has(old));
  }

  /**
   * The directory stands as it was: one stat each is for its subdirectories, and for what has other names, through which
   * it may have changed with nothing told of this one.
   */
  reuseListing(oldEntries: readonly Entry[]): void {
    const names = oldEntries.map((entry) => entry.name);
    const hidden = unstoredRules(this.#parts.ruleFiles, this.#place, names);
    const scope = this.#scope([...names, ...hidden]);
    for (const old of oldEntries) {
      if (old.type !== 'directory' && old.links === undefined) {
        this.#keep(old);
        continue;
      }
      const path = joinBytes(this.#visit.path, old.name);
      if (old.type === 'directory' && this.#parts.clean?.(path) === true) {
        this.#passOver(old);
        continue;
      }
      const stat = lookAt({ path, look: () => this.#place.stat(old.name), scope }, this.#parts.tally);
      if (stat !== undefined) this.#entry(old.name, path, stat, old, undefined, scope);
      else this.#pending.differs();
    }
  }

  #passOver(old: DirectoryEntry): void {
    const { tally } = this.#parts;
    this.#met.add(old);
    tally.directories += 1;
    tally.owner(old.uid, old.gid);
    tally.passOver(old.totals);
    this.#pending.add(old, true);
  }

  list(oldEntries: readonly Entry[]): void {
    const { inside, path } = this.#visit;
    const { excluder, node } = inside;
    if (excluder === undefined) {
      this.#listTowardsSources(oldEntries);
      return;
    }
    let listed: ListedDirectory;
    try {
      listed = this.#scouted() ?? this.#open(path, oldEntries);
    } catch (error) {
      tellError(path, error, 'the directory cannot be read', this.#parts.tally);
      this.#pending.differs();
      // Where no names are to be had, those that were given may still lead on.
      this.#listTowardsSources(oldEntries);
      return;
    }
    this.#opened = listed.itself;
    this.#place.lend(listed.fd);
    try {
      if (this.#parts.isOwnRepository(path, listed.names)) {
        if (oldEntries.length > 0) this.#pending.differs();
        return;
      }
      const scope = this.#scope(listed.names);
      const old = new OldEntries(oldEntries);
      for (const name of namesWithSources(listed.names, node)) {
        const entryPath = joinBytes(path, name);
        const child = node?.children.get(name);
        const before = old.at(name);
        const look = (): SourceStat | undefined => listed.stat(name);
        const rules = child === undefined ? scope : undefined;
        const entry = { path: entryPath, look, scope: rules, node: child };
        const stat = lookAt(entry, this.#parts.tally);
        if (stat === undefined) this.#pending.differs();
        else this.#entry(name, entryPath, stat, before, child, scope);
      }
      if (old.skipped || old.rest > 0) this.#pending.differs();
      const { changes, parent, ruleFiles } = this.#parts;
      if (changes !== undefined && parent !== undefined)
        this.#rulesChanged ||= rulesDiffer(ruleFiles, path, listed, oldEntries, parent, changes.hiddenRules);
    } finally {
      this.#place.lend(undefined);
      listed.close();
    }
  }

  /** What was seen at the path earlier, if that was this directory. */
  #scouted(): ListedDirectory | undefined {
    const { path, stat } = this.#visit;
    const seen = this.#parts.seen(path);
    return stat?.ino === seen?.itself.ino && stat?.dev === seen?.itself.dev ? seen : undefined;
  }

  /** Where the names end at a bad place of the disk, those that the parent has may lead on. */
  #open(path: ByteString, oldEntries: readonly Entry[]): ListedDirectory {
    let isWhole = true;
    const cutShort = (error: Error): void => {
      isWhole = false;
      tellError(path, error, 'the directory cannot be read to its end', this.#parts.tally);
    };
    const listed = openDirectory(path, cutShort, this.#visit.stat);
    if (isWhole) return listed;
    const names = oldEntries.map((entry) => entry.name);
    return withNamesThere(listed, names);
  }

  /** Outside of the sources, and in what they leave out, only what leads to one is stored. */
  #listTowardsSources(oldEntries: readonly Entry[]): void {
    const children = this.#visit.inside.node?.children ?? new Map<ByteString, SourceNode>();
    const old = new Map(oldEntries.map((entry) => [entry.name, entry]));
    if (old.size !== children.size) this.#pending.differs();
    for (const [name, child] of children) {
      const look = (): SourceStat | undefined => this.#place.stat(name);
      const stat = lookAt({ path: child.path, look, node: child }, this.#parts.tally);
      if (stat === undefined) this.#pending.differs();
      else this.#entry(name, child.path, stat, old.get(name), child, undefined);
    }
  }

  #entry(
    name: ByteString,
    path: ByteString,
    stat: SourceStat,
    old: Entry | undefined,
    node: SourceNode | undefined,
    scope: DirectoryScope | undefined,
  ): void {
    const { tally, excluderFor } = this.#parts;
    const { excluder } = this.#visit.inside;
    const kind = kindOf(stat);
    if (node !== undefined && kind !== 'directory')
      for (const source of sourcesBelow(node))
        tally.problem(source, 'ENOTDIR', `the source is not there: ${shownPath(path)} is no directory`);
    if (kind === undefined) {
      tally.omit('entries of a kind that cannot be stored');
      this.#pending.differs();
      return;
    }
    const taken = takeEntry({ name, path, kind, stat, node }, { excluder, scope }, excluderFor);
    if (taken === undefined) {
      const { notes, ruleFiles, outcomes } = this.#parts;
      outcomes.entryLeftOut(excluder);
      if (notes !== undefined && kind === 'file' && ruleFiles.has(name)) notes.hiddenRules = true;
      if (old !== undefined) this.#pending.differs();
      return;
    }
    tally.owner(stat.uid, stat.gid);
    if (kind !== 'directory' && stat.nlink > 1) this.#parts.notes?.linked.add(this.#visit.path);
    if (node?.whole === true && kind !== 'directory')
      this.#sourceCompleted(path, old, kind === 'file' ? 1 : 0);
    if (kind === 'file') this.#file(name, path, stat, old);
    else if (kind === 'directory') this.#directory(name, path, stat, old, taken, node?.whole === true);
    else this.#other(name, path, stat, kind, old);
  }

  #file(name: ByteString, path: ByteString, stat: SourceStat, old: Entry | undefined): void {
    const { parent, files } = this.#parts;
    const before = old?.type === 'file' ? old : undefined;
    if (before !== undefined && parent !== undefined && isUnchangedFile(before, path, stat, parent)) {
      const xattrs = parent.mayLackXattrs ? this.#xattrs(name, path, stat, before) : before.xattrs;
      this.#keep(before, storedNumber(stat.dev), xattrs);
      return;
    }
    const noted = this.#parts.unchanged?.(path, stat);
    if (noted !== undefined) {
      const metadata = this.#metadata(name, path, stat, undefined);
      this.#keep({ type: 'file', ...metadata, size: stat.size, ...noted, changedWhileRead: false });
      return;
    }
    const directory = this.#opened ?? this.#visit.stat;
    files.save({ path, name, stat, directory, old: before }, this.#pending.expect());
  }

  #directory(
    name: ByteString,
    path: ByteString,
    stat: SourceStat,
    old: Entry | undefined,
    { descend, inside }: TakenEntry,
    isSource: boolean,
  ): void {
    const { tally, outcomes } = this.#parts;
    tally.directories += 1;
    const before = old?.type === 'directory' ? old : undefined;
    const metadata = this.#metadata(name, path, stat, before);
    const done = this.#pending.expect();
    const completed = ({ id, totals, opened }: StoredDirectory): void => {
      if (isSource) this.#sourceCompleted(path, old, totals.files, inside.excluder);
      const whose = opened === undefined ? metadata : asClosedAs(opened, metadata);
      const entry: DirectoryEntry = { type: 'directory', ...whose, id, totals };
      done(entry, before !== undefined && before.id.equals(id) && sameMetadata(before, whose));
    };
    if (!descend || this.#visit.depth >= MAX_DEPTH - 2) {
      if (descend) tally.problem(path, 'TOO_DEEP', `directories are nested deeper than ${MAX_DEPTH}`);
      else outcomes.entryLeftOut(this.#visit.inside.excluder);
      new PendingDirectory(this.#parts.storeChunk, undefined, completed).listed();
      return;
    }
    if (before !== undefined) this.#met.add(before);
    const stands = before !== undefined && inside.node === undefined && sameMetadata(before, metadata);
    this.#below.push({
      visit: {
        path,
        depth: this.#visit.depth + 1,
        old: before,
        oldRoot: undefined,
        stat,
        inside,
        rulesChanged: this.#rulesChanged,
      },
      completed,
      clean: stands && this.#parts.clean?.(path) === true ? before : undefined,
    });
  }

  #sourceCompleted(path: ByteString, old: Entry | undefined, files: number, excluder?: Excluder): void {
    const filesBefore = old?.type === 'directory' ? old.totals.files : old?.type === 'file' ? 1 : undefined;
    this.#parts.outcomes.completed(path, excluder, { files, filesBefore });
  }

  #other(
    name: ByteString,
    path: ByteString,
    stat: SourceStat,
    kind: Exclude<SourceKind, 'file' | 'directory'>,
    old: Entry | undefined,
  ): void {
    const { tally } = this.#parts;
    const before = old?.type === kind ? old : undefined;
    const metadata = this.#metadata(name, path, stat, before);
    let entry: Entry;
    try {
      entry = specialEntry(kind, this.#place, stat, metadata);
    } catch (error) {
      tellError(path, error, 'the link cannot be read', this.#parts.tally);
      this.#pending.differs();
      return;
    }
    if (kind === 'symlink') tally.links += 1;
    else tally.others += 1;
    this.#pending.add(
      entry,
      before !== undefined && sameMetadata(before, metadata) && sameSpecial(before, entry),
    );
  }

  /** @param device where it was found, when it was looked at: devices may have other numbers since the last start */
  #keep(old: Entry, device = old.links?.device, xattrs = old.xattrs): void {
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
    this.#pending.add(entry, same);
  }

  #metadata(name: ByteString, path: ByteString, stat: SourceStat, old: Entry | undefined): EntryMetadata {
    return { ...metadataOf(name, stat), xattrs: this.#xattrs(name, path, stat, old) };
  }

  #xattrs(
    name: ByteString,
    path: ByteString,
    stat: SourceStat,
    old: Entry | undefined,
  ): EntryMetadata['xattrs'] {
    const { parent, tally } = this.#parts;
    const omit = (what: string): void => tally.omit(what);
    const capture = (told: (what: string) => void): EntryMetadata['xattrs'] =>
      placedXattrs(this.#place, name, stat, told);
    if (old === undefined || parent === undefined || !hasXattrsOf(old, path, stat, parent))
      return capture(omit);
    return parent.mayLackXattrs ? completedXattrs(old.xattrs, capture, omit) : old.xattrs;
  }

  #scope(names: readonly ByteString[]): DirectoryScope | undefined {
    const { inside, path } = this.#visit;
    const { excluder, scope } = inside;
    const opened = excluder?.enterDirectory(scope, path, names);
    // Of a source it is to be told.
    if (scope === undefined && opened?.leavesOut !== undefined)
      this.#parts.outcomes.sourceLeftOut(path, opened.leavesOut);
    return opened;
  }
}
