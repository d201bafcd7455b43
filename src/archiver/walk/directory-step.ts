import { joinBytes, type ByteString } from '../../base/byte-path.ts';
import type { DirectoryEntry, Entry } from '../../format/tree.ts';
import { tellError } from './entry-look.ts';
import { EntryTaking } from './entry-taking.ts';
import type { DirectoryScope } from '../../exclude/excluder.ts';
import type { PendingDirectory } from '../store/pending-directory.ts';
import { isNotAsMet, NotAsMet } from '../source/same-entry.ts';
import { openDirectory, standsAs, withNamesThere, type ListedDirectory } from '../source/stat.ts';
import { SourcePlace } from '../source/place.ts';
import { OldEntries } from '../before/source-entry.ts';
import { rulesDiffer, unstoredRules } from './rule-files.ts';
import { namesWithSources, sourcesFrom, type SourceNode } from '../source/source-tree.ts';
import type { Descent, Visit, WalkParts } from './walk-parts.ts';
import type { EntryStat } from '../../system/entry-stat.ts';

/** Looks at the entries of one directory. */
export class DirectoryStep {
  readonly #visit: Visit;
  readonly #parts: WalkParts;
  readonly #pending: PendingDirectory;
  readonly #place: SourcePlace;
  readonly #taking: EntryTaking;

  constructor(visit: Visit, parts: WalkParts, pending: PendingDirectory) {
    this.#visit = visit;
    this.#parts = parts;
    this.#pending = pending;
    this.#place = new SourcePlace(visit.path, visit.stat);
    this.#taking = new EntryTaking(visit, parts, this.#place);
  }

  /** The directory as it was when its names were read; undefined where they were not. */
  get opened(): EntryStat | undefined {
    return this.#taking.opened;
  }

  /** No more entries are looked at. */
  close(): void {
    this.#place[Symbol.dispose]();
  }

  /** Directories to go on with, once all entries were looked at; those that are clean are settled here. */
  descents(): readonly Descent[] {
    const left: Descent[] = [];
    for (const descent of this.#taking.below.splice(0)) {
      if (descent.clean === undefined || this.#taking.rulesChanged)
        left.push({ ...descent, visit: { ...descent.visit, rulesChanged: this.#taking.rulesChanged } });
      else {
        this.#parts.tally.passOver(descent.clean.totals);
        descent.completed(descent.clean);
      }
    }
    return left;
  }

  /** The parent's directories that are not there any more, or not walked. */
  gone(oldEntries: readonly Entry[]): readonly DirectoryEntry[] {
    return oldEntries.filter((old) => old.type === 'directory').filter((old) => !this.#taking.met.has(old));
  }

  /**
   * The directory stands as it was: one stat each is for its subdirectories, and for what has other names, through which
   * it may have changed with nothing told of this one.
   * @throws {NotAsMet}
   */
  reuseListing(oldEntries: readonly Entry[]): void {
    const isRefused = oldEntries.some((old) => this.#isToLookAt(old)) && !this.#canLook();
    const names = oldEntries.map((entry) => entry.name);
    const hidden = unstoredRules(this.#parts.ruleFiles, this.#place, names);
    const scope = this.#scope([...names, ...hidden]);
    for (const old of oldEntries) {
      if (!this.#isToLookAt(old)) {
        if (old.type === 'directory') this.#passOver(old);
        else this.#taking.keep(old, this.#pending);
        continue;
      }
      const { name } = old;
      const path = joinBytes(this.#visit.path, name);
      if (isRefused) this.#pending.differs();
      else this.#taking.lookAndTake({ name, path, old, node: undefined, scope, looks: 0 }, this.#pending);
    }
  }

  #isToLookAt(old: Entry): boolean {
    if (old.type !== 'directory') return old.links !== undefined;
    return this.#parts.clean?.(joinBytes(this.#visit.path, old.name)) !== true;
  }

  /**
   * Whether entries can be looked at by their names; that they cannot is told once.
   * @throws {NotAsMet}
   */
  #canLook(): boolean {
    try {
      this.#place.itself();
      return true;
    } catch (error) {
      this.#requireAsMet(error);
      tellError(this.#visit.path, error, 'the directory cannot be read', this.#parts.tally);
      return false;
    }
  }

  /** @throws {NotAsMet} where there is one above it to look from */
  #requireAsMet(error: unknown): void {
    if (isNotAsMet(error) && this.#visit.stat !== undefined && this.#visit.depth > 0)
      throw new NotAsMet(error);
  }

  #passOver(old: DirectoryEntry): void {
    const { tally } = this.#parts;
    this.#taking.met.add(old);
    tally.directories += 1;
    tally.owner(old.uid, old.gid);
    tally.passOver(old.totals);
    this.#pending.add(old, true);
  }

  /** @throws {NotAsMet} */
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
      this.#requireAsMet(error);
      tellError(path, error, 'the directory cannot be read', this.#parts.tally);
      this.#pending.differs();
      // Where no names are to be had, those that were given may still lead on.
      this.#listTowardsSources(oldEntries, true);
      return;
    }
    this.#taking.opened = listed.itself;
    this.#place.lend(listed.fd);
    try {
      if (this.#parts.isOwnRepository(path, listed.names)) {
        if (oldEntries.length > 0) this.#pending.differs();
        return;
      }
      const scope = this.#scope(listed.names);
      const old = new OldEntries(oldEntries);
      for (const name of namesWithSources(listed.names, node)) {
        const met = {
          name,
          path: joinBytes(path, name),
          old: old.at(name),
          node: node?.children.get(name),
          scope,
          looks: 0,
        };
        this.#taking.lookAndTake(met, this.#pending, () => listed.stat(name));
      }
      if (old.skipped || old.rest > 0) this.#pending.differs();
      const { changes, parent, ruleFiles } = this.#parts;
      if (changes !== undefined && parent !== undefined)
        this.#taking.rulesChanged ||= rulesDiffer(
          ruleFiles,
          path,
          listed,
          oldEntries,
          parent,
          changes.hiddenRules,
        );
    } finally {
      this.#place.lend(undefined);
      listed.close();
    }
  }

  /** What was seen at the path earlier, if that was this directory and it has stood so since. */
  #scouted(): ListedDirectory | undefined {
    const { path, stat } = this.#visit;
    const seen = this.#parts.seen(path);
    if (seen === undefined || stat?.ino !== seen.itself.ino || stat.dev !== seen.itself.dev) return undefined;
    return standsAs(seen.itself, this.#place.itself()) ? seen : undefined;
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

  /**
   * Outside of the sources, and in what they leave out, only what leads to one is stored.
   * @param isTold that the directory cannot be read
   */
  #listTowardsSources(oldEntries: readonly Entry[], isTold = false): void {
    const children = this.#visit.inside.node?.children ?? new Map<ByteString, SourceNode>();
    const old = new Map(oldEntries.map((entry) => [entry.name, entry]));
    if (old.size !== children.size) this.#pending.differs();
    if (children.size === 0 || !this.#canLookFor([...children.values()], isTold)) return;
    for (const [name, node] of children)
      this.#taking.lookAndTake(
        { name, path: node.path, old: old.get(name), node, scope: undefined, looks: 0 },
        this.#pending,
      );
  }

  /**
   * As `canLook`; told is it of each source that is not to be had, unless the directory was.
   * @throws {NotAsMet}
   */
  #canLookFor(nodes: readonly SourceNode[], isTold: boolean): boolean {
    try {
      this.#place.itself();
      return true;
    } catch (error) {
      this.#requireAsMet(error);
      this.#pending.differs();
      const sources = isTold ? [] : nodes.flatMap((node) => sourcesFrom(node));
      for (const source of sources) tellError(source, error, 'it cannot be looked at', this.#parts.tally);
      return false;
    }
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
