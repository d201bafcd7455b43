/**
 * The chains of all writers as the destination shows them, and what of them is believed. Full keys alone seal snapshots and
 * heads of wrap 0, and the administrator signs tombstones for their places: these count. Whoever has a write-only key can number
 * what it stores itself as it likes, and can seal tombstones of before, which were signed for no place, at any place.
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
  /** Of live snapshots: where and when they were made, by the clock of that host. */
  readonly made?: { readonly host: string; readonly atMs: number };
  /** Of tombstones: whether they were signed for this place, and what tells those that are one record, sealed twice. */
  readonly tombstone?: { readonly bound: boolean; readonly signed: string };
}

/** What the destination shows of all chains at one time. */
export interface ChainView {
  /** Stored records that could be read, forgotten snapshots included. */
  readonly records: readonly ChainRecord[];
  /** Names of stored records that could not be read: they are there, and reported elsewhere. */
  readonly unreadable: ReadonlySet<string>;
  /** Names that tombstones list: records whose absence is as it should be. */
  readonly removed: ReadonlySet<string>;
  /** Where those stood, as far as their tombstones say it. */
  readonly places: ReadonlyMap<string, ChainPlace>;
  readonly heads: readonly Head[];
  /** The number of the write-only key that alone can be this writer. */
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
      // What never was a record stood nowhere: it would cover one that is gone.
      ...tombstones.ignored.filter(({ isStrange }) => !isStrange).map(({ name }) => name),
      ...unread,
    ]),
    removed: tombstones.snapshots,
    places: placesIn(tombstones.all),
    heads,
    keyOf: writersOfKeys(repository),
  };
}

/** A repository never comes near; what the keyring says of it is the administrator's word. */
const MOST_KEYS = 100_000;
const MARK_DIGITS = 16;

/** Which write-only key a writer belongs to, as the beginning of its id says it. */
export function writersOfKeys({ keyring }: Repository): (writer: string) => number | undefined {
  const { repository, writeOnly } = keyring;
  const marks = new Map<string, number>();
  for (let number = 1; number <= Math.min(writeOnly?.last ?? 0, MOST_KEYS); number += 1)
    marks.set(writeOnlyMark(repository, number).writer.toString('hex'), number);
  return (writer) => marks.get(writer.slice(0, MARK_DIGITS));
}

/** No storage hides so many records of one writer, and no write-only key stores so many that nobody sees. */
export const BEYOND_BELIEF = 1_000;

/** What is believed of the chain of one writer. */
export interface Chain {
  /** Set where whoever has a write-only key says what it likes. */
  readonly key: number | undefined;
  readonly bySeq: ReadonlyMap<number, readonly ChainRecord[]>;
  /** Numbers of records that tombstones name, there or not. */
  readonly removed: ReadonlySet<number>;
  /** Those that can be read, and those that cannot and may be what is left of a record. */
  readonly heads: readonly Head[];
  /** The highest number; 0 where nothing of the chain is believed. */
  readonly newest: number;
  /** The lowest of the numbers that nobody can believe. */
  readonly beyond: number | undefined;
  /** Names of what is in `bySeq` only to fill a gap. */
  readonly fillers: ReadonlySet<string>;
}

interface Claims {
  readonly records: ChainRecord[];
  readonly heads: Head[];
  readonly removed: Set<number>;
}

/** @param known writers that this machine remembers: a head of one of them that cannot be read may be what is left */
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
  // Names without a place, as previews of 0.1 wrote them, may have stood anywhere.
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
  // From its first record that is signed for its place on, a writer has signed each for its own.
  const firstBound = sure.reduce(
    (first, { chain, tombstone }) => (tombstone?.bound === true ? Math.min(first, chain.seq) : first),
    Number.POSITIVE_INFINITY,
  );
  // Where another one stood, as a head or the record after it says, none of these did.
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
 * A tombstone that was signed for no place stands where it stands when a head or the record after it names it: its name is
 * the digest of what is stored, the place included.
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
  // What is added meanwhile is gone through, too.
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

/** How many are not there, or cannot be read, of which nothing says where they stood: each may have stood in any place. */
export function unplaced(view: ChainView): number {
  const stored = new Set(view.records.map(({ name }) => name));
  const absent = new Set([...view.removed, ...view.unreadable]);
  return [...absent].filter((name) => !stored.has(name) && !view.places.has(name)).length;
}

/** Numbers from the first to the last, both included. */
export interface Range {
  readonly first: number;
  readonly last: number;
}

/** Numbers up to the newest that nothing accounts for. */
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
