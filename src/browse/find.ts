import { joinBytes, type ByteString } from '../base/byte-path.ts';
import { MAX_DEPTH, type DirectoryTotals } from '../format/tree.ts';
import type { Snapshot } from '../repository/snapshots.ts';
import { isUnending, treeBudget } from '../repository/contents/tree-bounds.ts';
import type { TreeReader } from '../repository/contents/tree-reader.ts';
import { DirectoryCursor } from './directory-cursor.ts';
import { summarize, type EntrySummary } from './entries.ts';
import {
  compileQuery,
  enterDirectory,
  matches,
  mayHoldMatches,
  type CompiledQuery,
  type DirectoryNames,
  type FindQuery,
} from './find-query.ts';
import { readOrReport, tooDeep } from './list.ts';
import type { SnapshotTrees } from './snapshot-trees.ts';

/** An entry that matches a query. */
export interface Found {
  readonly snapshot: Snapshot;
  readonly path: ByteString;
  readonly entry: EntrySummary;
}

export interface FindOptions {
  /** Without it the first directory that cannot be read ends the search with an error. */
  readonly onUnreadable?: (path: ByteString, error: Error, snapshot: Snapshot) => void;
  /** Limit on the memory for findings. Directories beyond it are read again for every snapshot. */
  readonly memoryBytes?: number;
}

const MEMORY_BYTES = 64 * 1024 * 1024;
/** Measured on Node 24, rounded up: a map entry with its key, and an entry's summary. */
const DIRECTORY_COST = 128;
const MATCH_COST = 320;

/**
 * Searches snapshots one after the other, each in order of its paths. A directory that several snapshots share is read
 * once: its findings are remembered by its tree id (and its path, if the query depends on paths).
 * @throws {RequestError} INVALID_PATTERN
 * @throws {RepositoryError} CORRUPT_DATA, LIMIT_EXCEEDED
 */
export async function* findEntries(
  trees: SnapshotTrees,
  snapshots: Iterable<Snapshot>,
  query: FindQuery,
  options: FindOptions,
  signal: AbortSignal,
): AsyncGenerator<Found, void, undefined> {
  const search = new Search(compileQuery(query), options.memoryBytes ?? MEMORY_BYTES);
  for (const snapshot of snapshots) {
    const report = options.onUnreadable;
    const onUnreadable =
      report === undefined
        ? undefined
        : (path: ByteString, error: Error): void => report(path, error, snapshot);
    const run = search.run(trees.reader(snapshot), snapshot, onUnreadable, signal);
    try {
      for await (const { path, entry } of run) yield { snapshot, path, entry };
    } catch (error) {
      // A snapshot that unfolds endlessly must not prevent the search of the others.
      if (onUnreadable === undefined || !isUnending(error)) throw error;
      onUnreadable('/' as ByteString, error);
    }
  }
}

interface Match {
  readonly path: ByteString;
  readonly entry: EntrySummary;
}

/** The findings in a directory: its entries that match or have matches below them. */
interface Findings {
  readonly items: readonly Finding[];
}

interface Finding {
  readonly name: ByteString;
  readonly entry: EntrySummary | undefined;
  below: Findings | undefined;
}

const NOTHING: Findings = { items: [] };

/** A directory being searched. */
interface Level {
  readonly path: ByteString;
  readonly names: DirectoryNames;
  readonly key: string;
  readonly cursor: DirectoryCursor;
  /** The findings to remember; undefined once they would be incomplete. */
  items: Finding[] | undefined;
  /** The entry whose directory is open on the level below. */
  child: { readonly name: ByteString; readonly finding: Finding | undefined } | undefined;
}

class Search {
  readonly #query: CompiledQuery;
  readonly #known = new Map<string, Findings>();
  #memoryLeft: number;

  constructor(query: CompiledQuery, memoryBytes: number) {
    this.#query = query;
    this.#memoryLeft = memoryBytes;
  }

  async *run(
    reader: TreeReader,
    snapshot: Snapshot,
    onUnreadable: ((path: ByteString, error: Error) => void) | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<Match, void, undefined> {
    const { root } = snapshot.record;
    const budget = await treeBudget(reader, root, undefined, signal);
    const open: Level[] = [];
    const enter = (path: ByteString, names: DirectoryNames, tree: Buffer, totals?: DirectoryTotals): void => {
      if (open.length >= MAX_DEPTH) throw tooDeep(tree);
      const key = this.#keyOf(tree, path);
      const cursor = new DirectoryCursor(reader, tree, { totals, budget });
      open.push({ path, names, key, cursor, items: [], child: undefined });
    };
    enter('/' as ByteString, [], root);
    for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
      const { cursor, path, names } = level;
      const { entry } = cursor;
      if (entry === undefined && cursor.part === undefined) {
        open.pop();
        this.#finish(level, open.at(-1));
        continue;
      }
      if (entry === undefined) {
        // An unreadable part has to be reported for the next snapshot again, so these findings are not remembered.
        if (!(await readOrReport(cursor, path, onUnreadable, signal))) level.items = undefined;
        continue;
      }
      cursor.skip();
      const entryPath = joinBytes(path, entry.name);
      const found = matches(this.#query, names, entry) ? summarize(entry) : undefined;
      if (found !== undefined) yield { path: entryPath, entry: found };
      const finding = found === undefined ? undefined : this.#remember(level, entry.name, found, undefined);
      if (entry.type !== 'directory') continue;
      const known = this.#known.get(this.#keyOf(entry.id, entryPath));
      if (known === undefined) {
        const entryNames = enterDirectory(this.#query, names, entry.name);
        if (!mayHoldMatches(this.#query, entryNames)) continue;
        level.child = { name: entry.name, finding };
        enter(entryPath, entryNames, entry.id, entry.totals);
      } else if (known.items.length > 0) {
        this.#attach(level, entry.name, finding, known);
        yield* replay(known, entryPath);
      }
    }
  }

  #keyOf(tree: Buffer, path: ByteString): string {
    const id = tree.toString('latin1');
    return this.#query.byPath ? id + path : id;
  }

  /** Remembers the findings of a directory, and passes them on to the level above. */
  #finish(level: Level, above: Level | undefined): void {
    const { items } = level;
    const child = above?.child;
    if (items === undefined) {
      if (above !== undefined) above.items = undefined;
      return;
    }
    const findings = items.length === 0 ? NOTHING : { items };
    if (this.#spend(DIRECTORY_COST)) this.#known.set(level.key, findings);
    if (above !== undefined && child !== undefined && items.length > 0) {
      this.#attach(above, child.name, child.finding, findings);
    }
  }

  #attach(level: Level, name: ByteString, finding: Finding | undefined, below: Findings): void {
    if (finding === undefined) this.#remember(level, name, undefined, below);
    else finding.below = below;
  }

  #remember(
    level: Level,
    name: ByteString,
    entry: EntrySummary | undefined,
    below: Findings | undefined,
  ): Finding | undefined {
    if (level.items === undefined) return undefined;
    if (!this.#spend(MATCH_COST + name.length)) {
      level.items = undefined;
      return undefined;
    }
    const finding: Finding = { name, entry, below };
    level.items.push(finding);
    return finding;
  }

  #spend(bytes: number): boolean {
    if (this.#memoryLeft < bytes) return false;
    this.#memoryLeft -= bytes;
    return true;
  }
}

/** The remembered matches of the directory `path`, in order. */
function* replay(findings: Findings, path: ByteString): Generator<Match, void, undefined> {
  const open = [{ path, items: findings.items, at: 0 }];
  for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
    const item = level.items[level.at];
    if (item === undefined) {
      open.pop();
      continue;
    }
    level.at += 1;
    const entryPath = joinBytes(level.path, item.name);
    if (item.entry !== undefined) yield { path: entryPath, entry: item.entry };
    if (item.below !== undefined) open.push({ path: entryPath, items: item.below.items, at: 0 });
  }
}
