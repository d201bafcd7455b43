import { joinBytes, type ByteString } from '../base/byte-path.ts';
import { errnoOf, isAbort } from '../base/errors.ts';
import {
  MAX_DEPTH,
  type DirectoryEntry,
  type Entry,
  type EntryMetadata,
  type Xattr,
} from '../format/tree.ts';
import { shownPath } from './exclude-decision.ts';
import type { DirectoryScope, Excluder } from './exclude.ts';
import type { FileSaver } from './file-saver.ts';
import { parentDirectory, type Parent } from './parent.ts';
import { PendingDirectory, type StoredDirectory } from './pending-directory.ts';
import {
  kindOf,
  openDirectory,
  statPath,
  storedNumber,
  type ListedDirectory,
  type SourceKind,
  type SourceStat,
} from './source-stat.ts';
import { sourceXattrs } from './source-xattrs.ts';
import {
  isUnchangedFile,
  metadataOf,
  OldEntries,
  sameMetadata,
  sameSpecial,
  specialEntry,
} from './source-entry.ts';
import { rulesDiffer } from './rule-files.ts';
import { sourcesBelow, type SourceNode } from './source-tree.ts';
import type { Tally } from './tally.ts';

/**
 * Paths that may have changed since the parent snapshot's run began, from a watcher that misses nothing else. Only for a
 * run with the same exclude settings as the parent's: what was left out then is not looked for again.
 */
export interface ChangeSet {
  /** Directories to list and look at entry by entry. */
  readonly directories: ReadonlySet<ByteString>;
}

export interface WalkParts {
  readonly parent: Parent | undefined;
  readonly changes: ChangeSet | undefined;
  /** Names of files in the tree that hold exclude rules for everything below their directory. */
  readonly ruleFiles: ReadonlySet<ByteString>;
  readonly files: Pick<FileSaver, 'save' | 'keep'>;
  readonly tally: Tally;
  /** A look at the directory that was taken earlier in this run, if any. */
  readonly seen: (path: ByteString) => ListedDirectory | undefined;
  readonly storeChunk: (chunk: Buffer) => Buffer;
  /** Makes the rules for one source root, once its stat is known. */
  readonly excluderFor: (root: ByteString, kind: SourceKind, device: number) => Excluder;
  /** Called in every directory: reports progress and waits while the readers are behind. */
  readonly pace: (path: ByteString) => Promise<void>;
  readonly signal: AbortSignal;
}

/** A directory on the walker's way: what is above it has been seen. */
interface Visit {
  readonly path: ByteString;
  readonly depth: number;
  readonly old: DirectoryEntry | undefined;
  readonly oldRoot: Buffer | undefined;
  readonly stat: SourceStat | undefined;
  readonly node: SourceNode | undefined;
  readonly excluder: Excluder | undefined;
  readonly scope: DirectoryScope | undefined;
  /** A file with exclude rules has changed further up: other entries than before may be left out here. */
  readonly rulesChanged: boolean;
}

/**
 * Walks the sources depth first in byte order, beside the parent snapshot's tree, and stores every directory as soon
 * as its last entry is known. Resolves with the root when everything has been handed to the readers; `root` is
 * called once the tree is complete.
 */
export async function walk(
  sources: SourceNode,
  parts: WalkParts,
  root: (stored: StoredDirectory) => void,
): Promise<void> {
  const visit: Visit = {
    path: sources.path,
    depth: 0,
    old: undefined,
    oldRoot: parts.parent?.snapshot.record.root,
    stat: undefined,
    node: sources.whole ? undefined : sources,
    excluder: undefined,
    scope: undefined,
    rulesChanged: false,
  };
  if (!sources.whole) {
    await walkDirectory(visit, parts, root);
    return;
  }
  const stat = statPath(sources.path);
  const excluder = parts.excluderFor(sources.path, 'directory', Number(stat?.dev ?? 0n));
  await walkDirectory({ ...visit, stat, excluder }, parts, root);
}

async function walkDirectory(
  visit: Visit,
  parts: WalkParts,
  completed: (stored: StoredDirectory) => void,
): Promise<void> {
  const { path } = visit;
  await parts.pace(path);
  const known = await parentDirectory(parts.parent, visit.old, visit.oldRoot, parts.signal);
  const reuse = known?.whole === true ? known.id : undefined;
  const pending = new PendingDirectory(parts.storeChunk, reuse, completed);
  const below: (() => Promise<void>)[] = [];
  const step = new DirectoryStep(visit, parts, pending, below);
  if (known?.whole === true && canSkipListing(visit, parts)) step.reuseListing(known.entries);
  else step.list(known?.entries ?? []);
  for (const descend of below) await descend();
  pending.listed();
}

/** With a change set, a directory whose own times stand and that nothing dirty lies in needs no listing. */
function canSkipListing({ path, old, stat, node, rulesChanged }: Visit, { changes }: WalkParts): boolean {
  if (changes === undefined || old === undefined || stat === undefined || node !== undefined) return false;
  if (rulesChanged) return false;
  // Two directories that were made at the same moment have the same times, and may have taken each other's place.
  if (storedNumber(stat.ino) !== old.inode) return false;
  return stat.mtimeNs === old.mtimeNs && stat.ctimeNs === old.ctimeNs && !changes.directories.has(path);
}

/** Looks at the entries of one directory. */
class DirectoryStep {
  readonly #visit: Visit;
  readonly #parts: WalkParts;
  readonly #pending: PendingDirectory;
  readonly #below: (() => Promise<void>)[];
  #rulesChanged: boolean;

  constructor(visit: Visit, parts: WalkParts, pending: PendingDirectory, below: (() => Promise<void>)[]) {
    this.#visit = visit;
    this.#parts = parts;
    this.#pending = pending;
    this.#below = below;
    this.#rulesChanged = visit.rulesChanged;
  }

  /**
   * The directory stands as it was: one stat each is for its subdirectories, and for what has other names, through which
   * it may have changed with nothing told of this one.
   */
  reuseListing(oldEntries: readonly Entry[]): void {
    const scope = this.#scope(oldEntries.map((entry) => entry.name));
    for (const old of oldEntries) {
      if (old.type !== 'directory' && old.links === undefined) {
        this.#keep(old);
        continue;
      }
      const path = joinBytes(this.#visit.path, old.name);
      const stat = this.#statOrReport(path, () => statPath(path));
      if (stat !== undefined) this.#entry(old.name, path, stat, old, undefined, scope);
      else this.#pending.differs();
    }
  }

  list(oldEntries: readonly Entry[]): void {
    const { node, path } = this.#visit;
    if (node !== undefined) {
      this.#listTowardsSources(node, oldEntries);
      return;
    }
    let listed: ListedDirectory;
    try {
      listed = this.#parts.seen(path) ?? openDirectory(path);
    } catch (error) {
      this.#report(path, error, 'the directory cannot be read');
      this.#pending.differs();
      return;
    }
    try {
      const scope = this.#scope(listed.names);
      const old = new OldEntries(oldEntries);
      for (const name of listed.names) {
        const entryPath = joinBytes(path, name);
        const before = old.at(name);
        const stat = this.#statOrReport(entryPath, () => listed.stat(name));
        if (stat === undefined) this.#pending.differs();
        else this.#entry(name, entryPath, stat, before, undefined, scope);
      }
      if (old.skipped || old.rest > 0) this.#pending.differs();
      const { changes, parent, ruleFiles } = this.#parts;
      if (changes !== undefined && parent !== undefined)
        this.#rulesChanged ||= rulesDiffer(ruleFiles, listed, oldEntries, parent);
    } finally {
      listed.close();
    }
  }

  /** Above the sources only what leads to them is stored. */
  #listTowardsSources(node: SourceNode, oldEntries: readonly Entry[]): void {
    const old = new Map(oldEntries.map((entry) => [entry.name, entry]));
    if (old.size !== node.children.length) this.#pending.differs();
    for (const { name, node: child } of node.children) {
      const stat = this.#statOrReport(child.path, () => statPath(child.path));
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
    const { tally } = this.#parts;
    const kind = kindOf(stat);
    if (kind === undefined) {
      tally.omit('entries of a kind that cannot be stored');
      this.#pending.differs();
      return;
    }
    if (node?.whole === false && kind !== 'directory') {
      for (const source of sourcesBelow(node))
        tally.problem(source, 'ENOTDIR', `the source is not there: ${shownPath(path)} is no directory`);
      this.#pending.differs();
      return;
    }
    const excluder =
      node?.whole === true ? this.#parts.excluderFor(path, kind, Number(stat.dev)) : this.#visit.excluder;
    const decisionKind = kind === 'file' || kind === 'directory' ? kind : 'other';
    const decision =
      node?.whole === true
        ? excluder?.rootDecision
        : scope?.decide(name, decisionKind, stat.size, Number(stat.dev));
    if (decision?.excluded === true) {
      if (old !== undefined) this.#pending.differs();
      return;
    }
    tally.owner(stat.uid, stat.gid);
    if (kind === 'file') {
      this.#file(name, path, stat, old);
      return;
    }
    if (kind === 'directory') {
      this.#directory(name, path, stat, old, {
        node: node?.whole === true ? undefined : node,
        excluder,
        scope,
        descend: decision?.descend !== false,
      });
      return;
    }
    this.#other(name, path, stat, kind, old);
  }

  #file(name: ByteString, path: ByteString, stat: SourceStat, old: Entry | undefined): void {
    const { parent, files } = this.#parts;
    const before = old?.type === 'file' ? old : undefined;
    if (before !== undefined && parent !== undefined && isUnchangedFile(before, stat, parent)) {
      this.#keep(before, storedNumber(stat.dev));
      return;
    }
    files.save({ path, name, stat, old: before }, this.#pending.expect());
  }

  #directory(
    name: ByteString,
    path: ByteString,
    stat: SourceStat,
    old: Entry | undefined,
    way: {
      node: SourceNode | undefined;
      excluder: Excluder | undefined;
      scope: DirectoryScope | undefined;
      descend: boolean;
    },
  ): void {
    const { tally } = this.#parts;
    tally.directories += 1;
    const before = old?.type === 'directory' ? old : undefined;
    const metadata = this.#metadata(name, path, stat, before);
    const done = this.#pending.expect();
    const completed = ({ id, totals }: StoredDirectory): void => {
      const entry: DirectoryEntry = { type: 'directory', ...metadata, id, totals };
      done(entry, before !== undefined && before.id.equals(id) && sameMetadata(before, metadata));
    };
    if (!way.descend || this.#visit.depth >= MAX_DEPTH - 2) {
      if (way.descend) tally.problem(path, 'TOO_DEEP', `directories are nested deeper than ${MAX_DEPTH}`);
      new PendingDirectory(this.#parts.storeChunk, undefined, completed).listed();
      return;
    }
    this.#below.push(async () => {
      const visit: Visit = {
        path,
        depth: this.#visit.depth + 1,
        old: before,
        oldRoot: undefined,
        stat,
        node: way.node,
        excluder: way.excluder,
        scope: way.scope,
        rulesChanged: this.#rulesChanged,
      };
      await walkDirectory(visit, this.#parts, completed);
    });
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
      entry = specialEntry(kind, path, stat, metadata);
    } catch (error) {
      this.#report(path, error, 'the link cannot be read');
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
  #keep(old: Entry, device?: number): void {
    const { tally, files } = this.#parts;
    const moved = device !== undefined && old.links !== undefined && old.links.device !== device;
    const entry = moved ? { ...old, links: { device, count: old.links.count } } : old;
    tally.owner(entry.uid, entry.gid);
    if (entry.type === 'file') {
      tally.filesUnchanged += 1;
      tally.bytesDone += entry.size;
      files.keep(entry);
    } else if (entry.type === 'symlink') tally.links += 1;
    else if (entry.type !== 'directory') tally.others += 1;
    this.#pending.add(entry, !moved);
  }

  #metadata(name: ByteString, path: ByteString, stat: SourceStat, old: Entry | undefined): EntryMetadata {
    const { parent } = this.#parts;
    const sameXattrs =
      old !== undefined &&
      parent !== undefined &&
      old.ctimeNs === stat.ctimeNs &&
      old.inode === storedNumber(stat.ino) &&
      stat.ctimeNs < parent.trustedBeforeNs;
    return { ...metadataOf(name, stat), xattrs: sameXattrs ? old.xattrs : this.#xattrs(path) };
  }

  #xattrs(path: ByteString): Xattr[] | undefined {
    const { tally } = this.#parts;
    try {
      return sourceXattrs(path, (what) => tally.omit(`extended attribute ${what}`));
    } catch (error) {
      tally.omit(`extended attributes: ${errnoOf(error) ?? 'unreadable'}`);
      return undefined;
    }
  }

  #scope(names: readonly ByteString[]): DirectoryScope | undefined {
    const { excluder, scope, path } = this.#visit;
    return excluder?.enterDirectory(scope, path, names);
  }

  #statOrReport(path: ByteString, look: () => SourceStat | undefined): SourceStat | undefined {
    try {
      const stat = look();
      if (stat === undefined)
        this.#parts.tally.problem(path, 'ENOENT', 'it vanished while its directory was read');
      return stat;
    } catch (error) {
      this.#report(path, error, 'it cannot be looked at');
      return undefined;
    }
  }

  #report(path: ByteString, error: unknown, what: string): void {
    const code = errnoOf(error);
    if (code === undefined || isAbort(error)) throw error;
    this.#parts.tally.problem(path, code, what);
  }
}
