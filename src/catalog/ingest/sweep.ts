/** Removes what only forgotten snapshots had. As it is invisible already, that can wait and be done in one go. */
import { setImmediate } from 'node:timers/promises';
import type { ByteString } from '../../base/byte-path.ts';
import type { CatalogDatabase } from '../tables/catalog-database.ts';
import { NAMES_PER_BLOCK, foldedBytes } from '../tables/name-block.ts';
import { prepareBlockWrite } from './name-writer.ts';
import { countOf, note } from './register.ts';

/** Nodes between two commits: enough that a commit costs little, few enough that readers need not wait. */
const STEP = 20_000;
/** A sweep is due when this many snapshots were forgotten, or this share of those that are left. */
const FORGOTTEN = 20;
const SHARE = 0.25;

export function wantsSweep(database: CatalogDatabase): boolean {
  const forgotten = countOf(database, 'forgotten');
  const live = Number(database.prepare('SELECT count(*) FROM snapshot').pluck().get());
  return forgotten >= FORGOTTEN || (forgotten > 0 && forgotten >= live * SHARE);
}

/**
 * May be interrupted at any point: the next sweep removes what is left.
 * @param step nodes looked at between two commits
 */
export async function sweep(database: CatalogDatabase, signal: AbortSignal, step = STEP): Promise<void> {
  const versions = database.prepare<[number, number]>(
    `DELETE FROM version WHERE node > ? AND node <= ?
       AND NOT EXISTS (SELECT 1 FROM snapshot s WHERE s.ordinal BETWEEN version.since AND version.until)`,
  );
  const nodes = database
    .prepare<[number, number]>(
      `SELECT id FROM node WHERE id > ? AND id <= ? AND directory <> 0
       AND NOT EXISTS (SELECT 1 FROM version v WHERE v.node = node.id) ORDER BY id DESC`,
    )
    .pluck();
  // An entry has a higher number than its directory, so that going down from the highest removes whole branches.
  const remove = database.prepare<[number]>(
    'DELETE FROM node WHERE id = ? AND NOT EXISTS (SELECT 1 FROM node c WHERE c.directory = node.id)',
  );
  const last = Number(database.prepare('SELECT max(id) FROM node').pluck().get() ?? 0);
  // All versions go before any node: a version that says that a directory's tree is known must not outlast what is in it.
  for (let low = 0; low < last; low += step) {
    signal.throwIfAborted();
    versions.run(low, low + step);
    await setImmediate();
  }
  for (let top = last; top > 0; top -= step) {
    signal.throwIfAborted();
    database.transaction(() => {
      for (const id of nodes.all(top - step, top)) remove.run(Number(id));
    })();
    await setImmediate();
  }
  await sweepNames(database, signal);
  note(database, 'forgotten', 0);
}

interface Names {
  readonly first: number;
  readonly last: number;
  readonly count: number;
}

/** Rewrites blocks with missing nodes, and joins neighbours that fit into one block. */
async function sweepNames(database: CatalogDatabase, signal: AbortSignal): Promise<void> {
  const blocks = database.prepare<[], Names>('SELECT first, last, count FROM names ORDER BY first').all();
  const nodes = database
    .prepare<[number, number], number>(
      'SELECT count(*) FROM node WHERE id BETWEEN ? AND ? AND directory <> 0',
    )
    .pluck();
  let before: Names | undefined;
  for (const { first, last, count } of blocks) {
    signal.throwIfAborted();
    const left = Number(nodes.get(first, last));
    const joined = before !== undefined && before.count + left <= NAMES_PER_BLOCK;
    const now =
      joined && before !== undefined
        ? { first: before.first, last, count: before.count + left }
        : { first, last, count: left };
    if (joined || left !== count) rewriteNames(database, now);
    before = now;
    await setImmediate();
  }
}

/** Replaces the blocks of a range by one block of the nodes that still exist. */
function rewriteNames(database: CatalogDatabase, { first, last }: Names): void {
  const nodes = database.prepare<[number, number], { id: number; directory: number; name: Buffer }>(
    'SELECT id, directory, name FROM node WHERE id BETWEEN ? AND ? AND directory <> 0 ORDER BY id',
  );
  database.transaction(() => {
    database.prepare('DELETE FROM names WHERE first BETWEEN ? AND ?').run(first, last);
    const names = nodes.all(first, last).map(({ id, directory, name }) => {
      return { node: id, directory, folded: foldedBytes(name.toString('latin1') as ByteString) };
    });
    prepareBlockWrite(database)(names);
  })();
}
