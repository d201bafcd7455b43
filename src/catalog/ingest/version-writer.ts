/**
 * Writes what the ingest of a snapshot produces: nodes, versions, gaps. The ingest can continue after any prefix of its
 * writes.
 */
import { setImmediate } from 'node:timers/promises';
import type { ByteString } from '../../base/byte-path.ts';
import { BugError } from '../../base/errors.ts';
import type { CatalogDatabase } from '../tables/catalog-database.ts';
import type { EntryRow } from '../tables/entry-row.ts';
import { NameWriter } from './name-writer.ts';
import { NODE_TYPE } from '../tables/schema.ts';

/** The node of a name in a directory, and what it was in the previous snapshot. */
export interface KnownNode {
  readonly id: number;
  readonly name: ByteString;
  /** Undefined when the previous snapshot did not have it. */
  readonly row: EntryRow | undefined;
  /** The ordinal with which `row` begins: that of the current snapshot if an interrupted run wrote it. */
  readonly since: number;
  /** Whether an interrupted run has already ended a version of it. */
  readonly ended: boolean;
}

/** Rows between two commits: few enough that little is lost, many enough that commits cost nothing. */
const ROWS_PER_COMMIT = 20_000;
/** Known nodes fetched at a time. */
const FETCHED = 512;

type KnownRow = {
  readonly id: number;
  readonly name: Buffer;
  readonly since: number | null;
  readonly ended: number;
} & { readonly [Field in keyof EntryRow]: EntryRow[Field] | null };

export class VersionWriter {
  readonly #database: CatalogDatabase;
  readonly #ordinal: number;
  readonly #open: number;
  readonly #names: NameWriter;
  readonly #statements;
  #rows = 0;
  #begun = false;

  /** @param open the last ordinal of the lineage, at which versions end that still apply */
  constructor(database: CatalogDatabase, ordinal: number, open: number) {
    this.#database = database;
    this.#ordinal = ordinal;
    this.#open = open;
    this.#names = new NameWriter(database);
    const fields =
      'type, size, own, modified, finer, mode, attributes, content, kind, target, children, entries';
    this.#statements = {
      known: database.prepare<[number, number, number, Buffer, number], KnownRow>(
        `SELECT n.id, n.name, v.since, ${fields},
           EXISTS (SELECT 1 FROM version e WHERE e.node = n.id AND e.until = ?) AS ended
         FROM node n LEFT JOIN version v ON v.node = n.id AND v.until = ?
         WHERE n.directory = ? AND n.name > ? ORDER BY n.name LIMIT ?`,
      ),
      knownRoot: database.prepare<[number, number, number], KnownRow>(
        `SELECT n.id, n.name, v.since, ${fields},
           EXISTS (SELECT 1 FROM version e WHERE e.node = n.id AND e.until = ?) AS ended
         FROM node n LEFT JOIN version v ON v.node = n.id AND v.until = ? WHERE n.id = ?`,
      ),
      node: database.prepare<[number, Buffer]>('INSERT INTO node (directory, name) VALUES (?, ?)'),
      version: database.prepare(
        `INSERT INTO version (node, since, until, ${fields}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
      end: database.prepare<[number, number, number]>(
        'UPDATE version SET until = ? WHERE node = ? AND until = ?',
      ),
      undo: database.prepare<[number, number]>('DELETE FROM version WHERE node = ? AND since = ?'),
      learn: database.prepare<[number | null, number | null, number, number]>(
        'UPDATE version SET content = ?, children = ? WHERE node = ? AND until = ?',
      ),
      below: database.prepare<[number, number], { id: number; type: number; since: number }>(
        `SELECT n.id, v.type, v.since FROM node n JOIN version v ON v.node = n.id AND v.until = ?
         WHERE n.directory = ?`,
      ),
      gap: database.prepare<[number, Buffer, Buffer | null]>(
        'INSERT INTO gap VALUES (?, ?, 1, ?) ON CONFLICT DO UPDATE SET damaged = 1, tree = excluded.tree',
      ),
    };
  }

  get ordinal(): number {
    return this.#ordinal;
  }

  /** Yields the nodes of a directory in order of their names. */
  *known(directory: number): Generator<KnownNode, undefined, undefined> {
    let after: Buffer = Buffer.alloc(0);
    for (;;) {
      const rows = this.#statements.known.all(this.#ordinal - 1, this.#open, directory, after, FETCHED);
      for (const row of rows) yield knownNode(row);
      const last = rows.at(-1);
      if (rows.length < FETCHED || last === undefined) return undefined;
      after = last.name;
    }
  }

  /** The node of a lineage's root. */
  knownRoot(root: number): KnownNode {
    const row = this.#statements.knownRoot.get(this.#ordinal - 1, this.#open, root);
    if (row === undefined) throw new BugError('A lineage of the catalog has no root');
    return knownNode(row);
  }

  addNode(directory: number, name: ByteString): number {
    this.#begin();
    const { lastInsertRowid } = this.#statements.node.run(directory, Buffer.from(name, 'latin1'));
    const node = Number(lastInsertRowid);
    this.#names.add(node, directory, name);
    return node;
  }

  /** Ends the version that applied so far, if any, and begins another. */
  begin(node: number, before: KnownNode | undefined, row: EntryRow): void {
    if (before?.row !== undefined) this.end(node, before.since);
    this.#begin();
    this.#statements.version.run(
      node,
      this.#ordinal,
      this.#open,
      row.type,
      row.size,
      row.own,
      row.modified,
      row.finer,
      row.mode,
      row.attributes,
      row.content,
      row.kind,
      row.target,
      row.children,
      row.entries,
    );
  }

  end(node: number, since: number): void {
    this.#begin();
    // A version that an interrupted run began for this snapshot, but that it does not have, is deleted.
    if (since === this.#ordinal) this.#statements.undo.run(node, since);
    else this.#statements.end.run(this.#ordinal - 1, node, this.#open);
  }

  /** Ends everything below a directory, the deepest first, so that the run after an interrupted one still finds the rest. */
  async endBelow(directory: number, signal: AbortSignal): Promise<void> {
    for (const { id, type, since } of this.#statements.below.all(this.#open, directory)) {
      if (type === NODE_TYPE.directory) await this.endBelow(id, signal);
      this.end(id, since);
      await this.breathe(signal);
    }
  }

  /** Adds the content of a version, which became known with a later snapshot that has the same version. */
  learn(node: number, row: EntryRow): void {
    this.#begin();
    this.#statements.learn.run(row.content, row.children, node, this.#open);
  }

  /**
   * @param tree the part of the directory's tree that cannot be read; undefined when it is refused, so that it is not
   * tried again
   */
  addGap(path: ByteString, tree: Buffer | undefined): void {
    this.#begin();
    this.#statements.gap.run(this.#ordinal, Buffer.from(path, 'latin1'), tree ?? null);
  }

  /**
   * Commits when enough has been written, and lets messages in.
   * @throws the reason of the signal
   */
  async breathe(signal: AbortSignal): Promise<void> {
    if (this.#rows < ROWS_PER_COMMIT) return;
    this.commit();
    await setImmediate();
    signal.throwIfAborted();
  }

  commit(): void {
    if (this.#begun && this.#database.inTransaction) {
      this.#names.flush();
      this.#database.exec('COMMIT');
    } else {
      // A full disk has rolled the transaction back already.
      this.#names.drop();
    }
    this.#begun = false;
    this.#rows = 0;
  }

  #begin(): void {
    this.#rows += 1;
    if (this.#begun) return;
    this.#database.exec('BEGIN');
    this.#begun = true;
  }
}

function knownNode(row: KnownRow): KnownNode {
  const { id, since } = row;
  const there = since !== null;
  return {
    id,
    name: row.name.toString('latin1') as ByteString,
    // With a version, all of its columns have values.
    row: there ? (row as unknown as EntryRow) : undefined,
    since: since ?? 0,
    ended: row.ended === 1,
  };
}
