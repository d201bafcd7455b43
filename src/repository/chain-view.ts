/**
 * The chains of all writers as the destination shows them, and which of their records are believed. Only full keys seal
 * snapshots and heads of wrap 0, and the administrator signs tombstones for their places, so these are believed. The
 * holder of a write-only key can number its own records as it likes, and can seal older tombstones, which were signed
 * for no place, again at any place.
 */
import { writeOnlyMark } from '../codec/write-only.ts';
import type { ChainPlace, ChainPosition } from '../format/records.ts';
import type { Head } from './chain.ts';
import type { Repository } from './repository.ts';
import type { SnapshotList } from './snapshots.ts';
import { placesIn } from './tombstones.ts';

/** A snapshot or tombstone as a link of its writer's chain. */
export interface ChainRecord {
  readonly name: string;
  readonly chain: ChainPosition;
  /** For live snapshots: the host and its clock's time at which the backup began. */
  readonly made?: { readonly host: string; readonly atMs: number };
  /**
   * For tombstones: whether it was signed for this place, and the digest of what was signed; two tombstones with one
   * digest are one record that was sealed twice.
   */
  readonly tombstone?: { readonly bound: boolean; readonly signed: string };
}

/** What the destination shows of all chains at one time. */
export interface ChainView {
  /** Stored records that could be read, forgotten snapshots included. */
  readonly records: readonly ChainRecord[];
  /** Names of stored records that could not be read. They exist, and are reported elsewhere. */
  readonly unreadable: ReadonlySet<string>;
  /** Names that tombstones list: these records may be absent. */
  readonly removed: ReadonlySet<string>;
  /** Where the records of `removed` stood, as far as their tombstones say. */
  readonly places: ReadonlyMap<string, ChainPlace>;
  readonly heads: readonly Head[];
  /** The number of the write-only key to which this writer id belongs; undefined for a writer with full keys. */
  readonly keyOf?: (writer: string) => number | undefined;
}

/** @param forgotten snapshots that are tombstoned but still stored, as far as they could be read */
export function chainView(
  repository: Repository,
  snapshots: SnapshotList,
  forgotten: readonly ChainRecord[],
  heads: readonly Head[],
): ChainView {
  const { live, damaged, tombstones } = snapshots;
  const read = new Set(forgotten.map(({ name }) => name));
  const unread = snapshots.forgotten.filter((id) => !read.has(id));
  return {
    records: [
      ...live.map(({ id, chain, record }) => ({
        name: id,
        chain,
        made: { host: record.host, atMs: record.startedMs },
      })),
      ...forgotten,
      ...tombstones.all.map(({ name, chain, bound, signed }) => ({
        name,
        chain,
        tombstone: { bound, signed },
      })),
    ],
    unreadable: new Set([
      ...damaged.map(({ id }) => id),
      // Objects that never were tombstones are left out: each would excuse one record that is really gone.
      ...tombstones.ignored.filter(({ isStrange }) => !isStrange).map(({ name }) => name),
      ...unread,
    ]),
    removed: tombstones.snapshots,
    places: placesIn(tombstones.all),
    heads,
    keyOf: writersOfKeys(repository),
  };
}

/** Bounds the work. No repository comes near this number, which the keyring states on the administrator's word. */
const MOST_KEYS = 100_000;
const MARK_DIGITS = 16;

/** Returns a function that maps a writer id to the number of its write-only key, by the mark at the beginning of the id. */
export function writersOfKeys({ keyring }: Repository): (writer: string) => number | undefined {
  const { repository, writeOnly } = keyring;
  const marks = new Map<string, number>();
  for (let number = 1; number <= Math.min(writeOnly?.last ?? 0, MOST_KEYS); number += 1)
    marks.set(writeOnlyMark(repository, number).writer.toString('hex'), number);
  return (writer) => marks.get(writer.slice(0, MARK_DIGITS));
}

/**
 * The largest jump in a chain that is believed: no storage list lags behind by so many records, and no write-only key
 * stores so many unseen.
 */
export const BEYOND_BELIEF = 1_000;

/** What is believed of the chain of one writer. */
export interface Chain {
  /** The number of the write-only key to which the writer belongs. Its holder can claim anything about this chain. */
  readonly key: number | undefined;
  readonly bySeq: ReadonlyMap<number, readonly ChainRecord[]>;
  /** Numbers of records that tombstones name, whether they are still stored or not. */
  readonly removed: ReadonlySet<number>;
  /** Believed heads: readable ones, and unreadable ones whose number is plausible. */
  readonly heads: readonly Head[];
  /** The highest number; 0 where nothing of the chain is believed. */
  readonly newest: number;
  /** The lowest number that is not believed; undefined where there is none. */
  readonly beyond: number | undefined;
  /** Names of the unbound tombstones that are in `bySeq` only to fill a gap. */
  readonly fillers: ReadonlySet<string>;
}

interface Claims {
  readonly records: ChainRecord[];
  readonly heads: Head[];
  readonly removed: Set<number>;
}

/**
 * @param known whether this machine remembers a writer: an unreadable head of such a writer is then believed, within
 * limits
 */
export function believedChains(
  view: ChainView,
  known: (writer: string) => boolean = () => false,
): ReadonlyMap<string, Chain> {
  const claims = new Map<string, Claims>();
  const claimsOf = (writer: string): Claims => {
    const found = claims.get(writer) ?? { records: [], heads: [], removed: new Set() };
    claims.set(writer, found);
    return found;
  };
  for (const record of view.records) claimsOf(record.chain.writer).records.push(record);
  for (const head of view.heads) claimsOf(head.chain.writer).heads.push(head);
  for (const { writer, seq } of view.places.values()) claimsOf(writer).removed.add(seq);
  // Tombstones by previews of 0.1 name records without a place; each of these records may have had any number.
  const most = BEYOND_BELIEF + unplaced(view);
  return new Map(
    [...claims].map(([writer, claim]) => {
      const facts = { key: view.keyOf?.(writer), most, isKnown: known(writer) };
      return [writer, believed(claim, facts)];
    }),
  );
}

function believed(
  { records, heads, removed }: Claims,
  {
    key,
    most,
    isKnown,
  }: { readonly key: number | undefined; readonly most: number; readonly isKnown: boolean },
): Chain {
  const { sure, unsure } = sureRecords(records, heads);
  const readable = heads.filter(({ record }) => record !== undefined);
  const numbers = [...sure, ...readable].map(({ chain }) => chain.seq).concat([...removed]);
  const { newest, beyond } = key === undefined ? highest(numbers) : highestBelieved(numbers, most);
  const bySeq = new Map<number, ChainRecord[]>();
  for (const record of sure) {
    const { seq } = record.chain;
    if (seq > newest) continue;
    const others = bySeq.get(seq);
    if (others === undefined) bySeq.set(seq, [record]);
    else others.push(record);
  }
  // After its first tombstone that is bound to its place, a writer has bound all later ones.
  const firstBound = sure.reduce(
    (first, { chain, tombstone }) => (tombstone?.bound === true ? Math.min(first, chain.seq) : first),
    Number.POSITIVE_INFINITY,
  );
  // An unbound tombstone cannot fill a number for which a head or the next record names another record.
  const named = new Set(readable.map(({ chain }) => chain.seq));
  for (const { chain } of sure) named.add(chain.seq - 1);
  const fillers = new Set<string>();
  for (const record of unsure) {
    const { seq } = record.chain;
    if (seq >= Math.min(newest, firstBound) || bySeq.has(seq) || named.has(seq)) continue;
    bySeq.set(seq, [record]);
    fillers.add(record.name);
  }
  const isBelieved = ({ chain, record }: Head): boolean => {
    if (record !== undefined) return chain.seq <= newest;
    return (newest > 0 || isKnown) && chain.seq <= newest + BEYOND_BELIEF;
  };
  const unbelieved = heads.filter((head) => !isBelieved(head)).map(({ chain }) => chain.seq);
  return {
    key,
    bySeq,
    removed: new Set([...removed].filter((seq) => seq <= newest)),
    heads: heads.filter(isBelieved),
    newest,
    beyond: least([...unbelieved, ...(beyond === undefined ? [] : [beyond])]),
    fillers,
  };
}

/**
 * Splits the records. An unbound tombstone is sure of its place when a head or the next record names it there: its name
 * is the digest of the stored bytes, which include the place.
 */
function sureRecords(
  records: readonly ChainRecord[],
  heads: readonly Head[],
): { readonly sure: readonly ChainRecord[]; readonly unsure: readonly ChainRecord[] } {
  const unsure = new Map<string, ChainRecord>();
  const sure: ChainRecord[] = [];
  for (const record of records)
    if (record.tombstone?.bound === false) unsure.set(record.name, record);
    else sure.push(record);
  const take = (name: string | undefined, seq: number): void => {
    const record = name === undefined ? undefined : unsure.get(name);
    if (record === undefined || record.chain.seq !== seq) return;
    unsure.delete(record.name);
    sure.push(record);
  };
  for (const { chain, record } of heads) take(record, chain.seq);
  // This loop also visits the records that `take` appends to `sure`.
  for (const { chain } of sure) take(chain.prev, chain.seq - 1);
  return { sure, unsure: [...unsure.values()] };
}

function highest(numbers: readonly number[]): Pick<Chain, 'newest' | 'beyond'> {
  return { newest: numbers.reduce((high, seq) => Math.max(high, seq), 0), beyond: undefined };
}

function highestBelieved(numbers: readonly number[], most: number): Pick<Chain, 'newest' | 'beyond'> {
  let newest = 0;
  for (const seq of [...numbers].sort((a, b) => a - b)) {
    if (seq - newest > most) return { newest, beyond: seq };
    newest = seq;
  }
  return { newest, beyond: undefined };
}

function least(numbers: readonly number[]): number | undefined {
  return numbers.length === 0 ? undefined : numbers.reduce((low, seq) => Math.min(low, seq));
}

/** The number of records that are absent or unreadable and whose place nothing states: each may have had any number. */
export function unplaced(view: ChainView): number {
  const stored = new Set(view.records.map(({ name }) => name));
  const absent = new Set([...view.removed, ...view.unreadable]);
  return [...absent].filter((name) => !stored.has(name) && !view.places.has(name)).length;
}

/** A range of sequence numbers, both ends included. */
export interface Range {
  readonly first: number;
  readonly last: number;
}

/** The numbers up to `newest` that neither a record nor a tombstone accounts for. */
export function gapsOf({ bySeq, removed, newest }: Chain): readonly Range[] {
  const gaps: Range[] = [];
  let next = 1;
  for (const seq of [...new Set([...bySeq.keys(), ...removed])].sort((a, b) => a - b)) {
    if (seq > next) gaps.push({ first: next, last: seq - 1 });
    next = seq + 1;
  }
  if (newest >= next) gaps.push({ first: next, last: newest });
  return gaps;
}

export function lengthOf(ranges: readonly Range[]): number {
  return ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0);
}
