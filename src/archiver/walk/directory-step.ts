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

/** Looks at the entries of one directory, and decides which of its subdirectories are walked. */
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

  /** The directory as it was when its names were read; undefined if they were not read. */
  get opened(): EntryStat | undefined {
    return this.#taking.opened;
  }

  /** Closes the directory: no entry can be looked at afterwards. */
  close(): void {
    this.#place[Symbol.dispose]();
  }

  /** Subdirectories to walk, once all entries have been looked at. Clean ones are completed here instead. */
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

  /** Directories of the parent that are gone or are not walked. */
  gone(oldEntries: readonly Entry[]): readonly DirectoryEntry[] {
    return oldEntries.filter((old) => old.type === 'directory').filter((old) => !this.#taking.met.has(old));
  }

  /**
   * Takes over the parent's entries of an unchanged directory. Only subdirectories that are not clean and entries with
   * several names are looked at, one stat each: these may have changed without changing this directory.
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
   * Whether entries can be looked at by name. If not, the directory is reported once.
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

  /** @throws {NotAsMet} if the directory was met from one above it, where it can be looked up again */
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
      // The directory cannot be listed, but the sources named below it may still be reachable.
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

  /** The scout's listing of this directory, if it is of the same directory, unchanged since. */
  #scouted(): ListedDirectory | undefined {
    const { path, stat } = this.#visit;
    const seen = this.#parts.seen(path);
    if (seen === undefined || stat?.ino !== seen.itself.ino || stat.dev !== seen.itself.dev) return undefined;
    return standsAs(seen.itself, this.#place.itself()) ? seen : undefined;
  }

  /** Lists the directory. If a bad place on the disk cuts the names short, those that the parent knows are tried as well. */
  #open(path: ByteString, oldEntries: readonly Entry[]): ListedDirectory {
    let isWhole = true;
    const cutShort = (error: Error): void => {
      isWhole = false;
      tellError(path, error, 'the directory cannot be read completely', this.#parts.tally);
    };
    const listed = openDirectory(path, cutShort, this.#visit.stat);
    if (isWhole) return listed;
    const names = oldEntries.map((entry) => entry.name);
    return withNamesThere(listed, names);
  }

  /**
   * Outside the sources, and in directories that the rules leave out, only the way to the sources is stored.
   * @param isTold the directory has already been reported as unreadable
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
   * As `canLook`, but reports each source below that cannot be reached, unless the directory itself was reported.
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
      for (const source of sources) tellError(source, error, 'its details cannot be read', this.#parts.tally);
      return false;
    }
  }

  #scope(names: readonly ByteString[]): DirectoryScope | undefined {
    const { inside, path } = this.#visit;
    const { excluder, scope } = inside;
    const opened = excluder?.enterDirectory(scope, path, names);
    // A source that the rules leave out as a whole is reported, since it was named.
    if (scope === undefined && opened?.leavesOut !== undefined)
      this.#parts.outcomes.sourceLeftOut(path, opened.leavesOut);
    return opened;
  }
}
