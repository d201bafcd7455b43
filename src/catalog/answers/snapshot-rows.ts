/** Reads the snapshots of the catalog from its database. */
import { asByteString } from '../../base/byte-path.ts';
import { pathText } from '../../base/tree-path.ts';
import { StateError } from '../../base/errors.ts';
import { isJobTag, isNarrowed, jobTag } from '../../base/job-tag.ts';
import type { SourceName } from '../../base/source-names.ts';
import { FULL_KEYS, type StoredBy, type StoredByWriteOnlyKey } from '../../base/stored-by.ts';
import type { SnapshotSummary } from '../../jobs/agent.ts';
import type { CatalogDatabase } from '../tables/catalog-database.ts';
import type { KnownSnapshot } from './known-snapshots.ts';
import { SNAPSHOT_STATE } from '../tables/schema.ts';

interface SnapshotRow {
  readonly ordinal: number;
  readonly id: string;
  readonly lineage: number;
  readonly root: number;
  readonly state: number;
  readonly unreadable: number;
  readonly host: string;
  readonly paths: string;
  /** A JSON list of alternating names and paths. */
  readonly named: string;
  readonly plain: number;
  readonly salted: number;
  readonly started: number;
  readonly store: string;
  readonly said: number | null;
  readonly stored: number | null;
  readonly rank: number;
  readonly tags: string;
  readonly pinned: number;
  readonly partial: number;
  readonly files: number;
  readonly bytes: number;
}

/** Oldest first; snapshots of the same time by their ids. @throws {StateError} CATALOG_DAMAGED */
export function readSnapshots(database: CatalogDatabase): readonly KnownSnapshot[] {
  const unread = unreadOf(database);
  return database
    .prepare<[], SnapshotRow>(
      `SELECT s.*, l.root FROM snapshot s JOIN lineage l ON l.id = s.lineage
       WHERE s.replaces IS NULL ORDER BY s.started, s.id`,
    )
    .all()
    .map((row) => {
      const tags = textsIn(row.tags);
      return {
        ordinal: row.ordinal,
        id: row.id,
        lineage: row.lineage,
        root: row.root,
        complete: row.state === SNAPSHOT_STATE.complete,
        unreadable: row.unreadable,
        host: row.host,
        paths: textsIn(row.paths).map(asByteString),
        named: sourceNamesIn(row.named),
        plain: row.plain === 1,
        salted: row.salted === 1,
        started: row.started,
        storedBy: storedByIn(row.store),
        saidMs: row.said ?? undefined,
        storedMs: row.stored ?? undefined,
        rank: row.rank,
        tags: tags.filter((tag) => !isJobTag(tag)),
        jobId: jobIdOf(tags),
        pinned: row.pinned === 1,
        partial: row.partial === 1,
        unread: unread.get(row.ordinal) ?? { paths: [], count: 0 },
        isNarrowed: isNarrowed(tags),
        files: row.files,
        bytes: row.bytes,
      };
    });
}

/** What each snapshot lacks that lacks something. Few snapshots do. */
function unreadOf(database: CatalogDatabase): ReadonlyMap<number, SnapshotSummary['unread']> {
  const rows = database
    .prepare<
      [],
      { readonly ordinal: number; readonly count: number; readonly last: Buffer; readonly first: Buffer }
    >(
      `SELECT ordinal, count(*) AS count, min(path) AS first, max(path) AS last FROM gap
       WHERE damaged = 0 AND tree IS NULL GROUP BY ordinal`,
    )
    .all();
  return new Map(
    rows.map(({ ordinal, count, first, last }) => {
      // The root as a path stands for others that could not be read and are not named.
      const [isMore, named] = first.toString('latin1') === '/' ? [true, last] : [false, first];
      const path = pathText(asByteString(named.toString('latin1')));
      return [ordinal, { paths: path === '/' ? [] : [path], count: isMore ? null : count }];
    }),
  );
}

/** The job that made a snapshot: the engine leaves its id in the tags. */
function jobIdOf(tags: readonly string[]): string | null {
  const tag = tags.find((one) => isJobTag(one) && !isNarrowed([one]));
  return tag?.slice(jobTag('').length) ?? null;
}

function damaged(cause?: unknown): StateError {
  return new StateError('CATALOG_DAMAGED', 'The catalog is damaged: a list in a snapshot is none', { cause });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw damaged(cause);
  }
}

/** @throws {StateError} CATALOG_DAMAGED. SQLite does not check values, which a bad disk can change as well as pages */
function textsIn(list: string): readonly string[] {
  const value = parsed(list);
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string')) throw damaged();
  return value;
}

/** @throws {StateError} CATALOG_DAMAGED */
function storedByIn(text: string): StoredBy {
  const value = parsed(text);
  if (typeof value === 'object' && value !== null && 'kind' in value) {
    const { kind, ...facts } = value;
    if (kind === FULL_KEYS.kind) return FULL_KEYS;
    if (kind === 'write-only-key' && isKeyFacts(facts)) return { kind, ...facts };
  }
  throw damaged();
}

type KeyFacts = Omit<StoredByWriteOnlyKey, 'kind'>;

function isKeyFacts(facts: Partial<Record<keyof KeyFacts, unknown>>): facts is KeyFacts {
  const { number, mark, label, isForeign } = facts;
  const isNamed = label === null || typeof label === 'string';
  return typeof number === 'number' && typeof mark === 'string' && isNamed && typeof isForeign === 'boolean';
}

function sourceNamesIn(list: string): readonly SourceName[] {
  const texts = textsIn(list).map(asByteString);
  return texts.flatMap((name, i) => {
    const path = texts[i + 1];
    return i % 2 === 1 || path === undefined ? [] : [{ name, path }];
  });
}
