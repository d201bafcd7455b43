/** Snapshots of which only that is told which says in what order they were made. */
import { createHash } from 'node:crypto';
import { FULL_KEYS, type StoredBy } from '../../src/base/stored-by.ts';
import type { ChainPlace, SnapshotRecord } from '../../src/format/records.ts';
import type { Snapshot } from '../../src/repository/snapshots.ts';

export interface RunFacts {
  readonly name: string;
  /** A letter is enough. */
  readonly writer: string;
  readonly seq: number;
  readonly startedMs: number;
  /** Name of another one. */
  readonly parent?: string | undefined;
  readonly original?: string | undefined;
  /** Where the run stood that this one stands for. */
  readonly run?: ChainPlace | undefined;
  readonly sealedBy?: number | undefined;
}

export function keyNumber(number: number): StoredBy {
  return { kind: 'write-only-key', number, mark: '0a1b2c3d', label: `key ${number}`, isForeign: false };
}

export function runSnapshot({
  name,
  writer,
  seq,
  startedMs,
  parent,
  original,
  run,
  sealedBy,
}: RunFacts): Snapshot {
  const record: SnapshotRecord = {
    tool: 'test',
    host: 'lab',
    user: 'ann',
    paths: [],
    startedMs,
    finishedMs: startedMs,
    root: Buffer.alloc(24),
    plain: false,
    tags: [],
    pinned: false,
    status: 'complete',
    errors: [],
    errorsMore: 0,
    counts: {
      files: 0,
      directories: 0,
      links: 0,
      others: 0,
      bytes: 0,
      new: 0,
      changed: 0,
      unchanged: 0,
      failed: 0,
    },
    owners: { users: {}, groups: {} },
    omitted: [],
    parent: parent === undefined ? undefined : idOf(parent),
    original: original === undefined ? undefined : idOf(original),
    run,
    kind: 'files',
  };
  const storedBy = sealedBy === undefined ? FULL_KEYS : keyNumber(sealedBy);
  return { id: idOf(name), record, chain: { writer, seq, prev: '' }, generation: 1, storedBy };
}

export function idOf(name: string): string {
  return createHash('sha256').update(name).digest('hex');
}
