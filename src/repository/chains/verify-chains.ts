import { createHash } from 'node:crypto';
import { NO_RECORD, type ChainPlace } from '../../format/records.ts';
import {
  BEYOND_BELIEF,
  believedChains,
  gapsOf,
  lengthOf,
  unplaced,
  type Chain,
  type ChainRecord,
  type ChainView,
} from '../chain-view.ts';
import type { WriterMemory } from '../writer-state.ts';

export interface ChainProblem {
  /**
   * `missing`: a record is gone; `order`: records contradict each other; `fork`: two machines write as one;
   * `unbelievable`: a number that no record can have reached.
   */
  readonly kind: 'missing' | 'order' | 'fork' | 'unbelievable';
  /**
   * `record <name>` for a snapshot or tombstone, whether it is stored or not; else `heads/<writer>`, `writer <id>` or
   * `snapshots/`.
   */
  readonly object: string;
  readonly reason: string;
  /** The writer concerned, and the number of the write-only key to which it belongs, whose holder may have made this up. */
  readonly writer?: string;
  readonly key?: number | undefined;
}

/**
 * Whether the problem means that something is gone which others may need. Claims about a write-only key in use do not:
 * the packs of that key are left alone meanwhile. Packs of a removed key are not left alone.
 */
export function isGone({ kind, key }: ChainProblem, inUse: ReadonlySet<number>): boolean {
  return kind === 'missing' && (key === undefined || !inUse.has(key));
}

/**
 * Finds the traces that a destination leaves when it hides, replays or forks records: gaps that no tombstone explains,
 * two records with one number, heads above the newest record, and less than this host has seen before.
 */
export function verifyChains(view: ChainView, memory: WriterMemory): ChainProblem[] {
  const problems: ChainProblem[] = [];
  const accounted = accountedIn(view);
  const chains = believedChains(view, rememberedBy(memory));
  for (const [writer, chain] of chains)
    problems.push(...problemsOf(writer, chain, accounted).map((one) => ({ ...one, writer, key: chain.key })));
  const isOfKey = ({ key }: Chain): boolean => key !== undefined;
  const others = [...chains.values()].filter((chain) => !isOfKey(chain));
  const gaps = others.reduce((sum, chain) => sum + lengthOf(gapsOf(chain)), 0);
  const nameless = unplaced(view);
  if (gaps > nameless && !problems.some(({ key }) => key === undefined)) {
    const reason = `${gaps - nameless} snapshots or tombstones are gone without a tombstone that names them`;
    problems.push({ kind: 'missing', object: 'snapshots/', reason });
  }
  problems.push(...gapsOfKeys(chains, Math.max(0, nameless - gaps), problems));
  problems.push(...lessThanRemembered(memory, view, accounted));
  return problems;
}

function problemsOf(writer: string, chain: Chain, accounted: (name: string) => boolean): ChainProblem[] {
  const { bySeq, heads, beyond, key } = chain;
  const problems = [...forks(bySeq), ...brokenLinks(chain, accounted)];
  for (const { chain: position, record } of heads) {
    if (record === undefined ? isPlaced(chain, position.seq) : accounted(record)) continue;
    const object = record === undefined ? `heads/${writer}` : `record ${record}`;
    const reason = `record ${position.seq} of writer ${writer} is gone, and no tombstone names it`;
    problems.push({ kind: 'missing', object, reason });
  }
  if (beyond !== undefined) {
    const by = key === undefined ? 'a stranger' : `whoever has write-only key ${key}`;
    const reason = `nothing that is known of writer ${writer} comes within ${BEYOND_BELIEF} of its number ${beyond}: ${by} made it up, and Holdfast ignores it`;
    problems.push({ kind: 'unbelievable', object: `writer ${writer}`, reason });
  }
  return problems;
}

/** Gaps between records of write-only keys, one problem for each writer. */
function gapsOfKeys(
  chains: ReadonlyMap<string, Chain>,
  nameless: number,
  before: readonly ChainProblem[],
): ChainProblem[] {
  const withGaps = [...chains].flatMap(([writer, chain]) => {
    const gaps = chain.key === undefined ? 0 : lengthOf(gapsOf(chain));
    return gaps === 0 ? [] : [{ writer, key: chain.key, gaps }];
  });
  if (withGaps.reduce((sum, { gaps }) => sum + gaps, 0) <= nameless) return [];
  return withGaps
    .filter(({ writer }) => !before.some((one) => one.writer === writer && one.kind === 'missing'))
    .map(({ writer, key, gaps }) => {
      const reason = `${gaps} records of writer ${writer} are gone without a tombstone that names them, if write-only key ${key} tells the truth`;
      return { kind: 'missing', object: `writer ${writer}`, reason, writer, key };
    });
}

/** A snapshot or tombstone that is gone, and that no tombstone names. */
export interface LostRecord extends ChainPlace {
  /** Undefined where no stored object gives the name. */
  readonly name: string | undefined;
  /**
   * Set when this machine remembers the record under a number with a gap below it; it is then given up by its name
   * alone, without a place.
   */
  readonly isUnplaced?: boolean;
}

/** At most this many are returned at once. */
const MOST_LOST = 50_000;

/**
 * All records that `verifyChains` reports as missing, as far as it is certain which records these are, and those that it
 * would report once these are given up: a number that is given up makes numbers within reach of it believed.
 */
export function lostRecords(view: ChainView, memory: WriterMemory): LostRecord[] {
  const lost: LostRecord[] = [];
  const told = new Set<string>();
  for (let seen = view; lost.length < MOST_LOST; seen = withGivenUp(seen, lost)) {
    const more = lostIn(seen, memory).filter((record) => !told.has(givenUpName(record)));
    if (more.length === 0) break;
    for (const record of more) told.add(givenUpName(record));
    lost.push(...more);
  }
  return lost.slice(0, MOST_LOST);
}

/** The name by which a tombstone gives the record up. Where its own is unknown, any that no object has will do. */
export function givenUpName({ name, writer, seq }: LostRecord): string {
  return name ?? createHash('sha256').update(`lost ${writer}/${seq}`).digest('hex');
}

function withGivenUp(view: ChainView, lost: readonly LostRecord[]): ChainView {
  const removed = new Set(view.removed);
  const places = new Map(view.places);
  for (const record of lost) {
    const { writer, seq, isUnplaced } = record;
    removed.add(givenUpName(record));
    if (isUnplaced !== true) places.set(givenUpName(record), { writer, seq });
  }
  return { ...view, removed, places };
}

function lostIn(view: ChainView, memory: WriterMemory): LostRecord[] {
  const lost: LostRecord[] = [];
  const told = new Set<string>();
  for (const record of lostOf(view, memory)) {
    const { name } = record;
    // One name given up covers one place: where it was told of two, the second is given up by its number.
    const isTold = name !== undefined && told.has(name);
    if (name !== undefined) told.add(name);
    if (!isTold) lost.push(record);
    else if (record.isUnplaced !== true) lost.push({ ...record, name: undefined });
    if (lost.length >= MOST_LOST) break;
  }
  return lost;
}

function* lostOf(view: ChainView, memory: WriterMemory): Generator<LostRecord, void, undefined> {
  const accounted = accountedIn(view);
  const chains = new Map(believedChains(view, rememberedBy(memory)));
  // The numbers that this machine gave itself are certain.
  const own = chains.get(memory.writer) ?? NO_CHAIN;
  if (memory.seq > own.newest) chains.set(memory.writer, { ...own, newest: memory.seq });
  const isVague = vagueIn(view, chains);
  const remembered = new Map(Object.entries(memory.heads));
  if (memory.seq > 0) remembered.set(memory.writer, { seq: memory.seq, record: memory.prev });
  for (const writer of new Set([...chains.keys(), ...remembered.keys()])) {
    const chain = chains.get(writer) ?? NO_CHAIN;
    const known = remembered.get(writer);
    const { newest } = chain;
    const names = namesIn(chain);
    if (known !== undefined && known.seq <= newest) names.set(known.seq, known.record);
    for (const { first, last } of gapsOf(chain)) {
      for (let seq = first; seq <= last; seq += 1) {
        const told = names.get(seq);
        // The holder of a write-only key can claim that a record which is stored elsewhere belongs here; such a name is
        // not used.
        const name = told !== undefined && chain.key !== undefined && accounted(told) ? undefined : told;
        if (name === undefined ? !isVague(chain) : !accounted(name)) yield { writer, seq, name };
      }
    }
    yield* contradicted(writer, chain, names, accounted);
    yield* untold(writer, chain);
    // Something else stands there, or was given up there under another name.
    if (known !== undefined && isPlaced(chain, known.seq) && !accounted(known.record))
      yield { writer, seq: known.seq, name: known.record };
    if (known !== undefined && known.seq > newest && !accounted(known.record))
      yield { writer, seq: known.seq, name: known.record, isUnplaced: known.seq > newest + 1 };
  }
}

/**
 * Records that heads and later records name, where another record is stored or something else has named the one that is
 * gone. Each name has to be given up.
 */
function* contradicted(
  writer: string,
  chain: Chain,
  names: ReadonlyMap<number, string>,
  accounted: (name: string) => boolean,
): Generator<LostRecord, void, undefined> {
  const isOther = (seq: number, name: string): boolean =>
    !accounted(name) && (isPlaced(chain, seq) || names.get(seq) !== name);
  for (const { chain: place, record } of chain.heads)
    if (record !== undefined && isOther(place.seq, record)) yield { writer, seq: place.seq, name: record };
  for (const [seq, records] of chain.bySeq)
    for (const { name, chain: place } of records)
      if (!chain.fillers.has(name) && isOther(seq - 1, place.prev))
        yield { writer, seq: seq - 1, name: place.prev };
}

/**
 * Records of unreadable heads, and all numbers between the highest known one and these, which would become gaps once
 * those are given up.
 */
function* untold(writer: string, chain: Chain): Generator<LostRecord, void, undefined> {
  const unreadable = chain.heads.filter(({ record }) => record === undefined).map((head) => head.chain.seq);
  let reached = chain.newest;
  for (const seq of unreadable.sort((a, b) => a - b)) {
    if (seq <= chain.newest && !isPlaced(chain, seq)) yield { writer, seq, name: undefined };
    for (; reached < seq; reached += 1) yield { writer, seq: reached + 1, name: undefined };
  }
}

/** Names of records by number, as given by heads and by the records that follow them. */
function namesIn({ bySeq, heads, fillers }: Chain): Map<number, string> {
  const names = new Map<number, string>();
  for (const { name, chain } of [...bySeq.values()].flat())
    if (!fillers.has(name) && chain.prev !== NO_RECORD) names.set(chain.seq - 1, chain.prev);
  for (const { chain, record } of heads) if (record !== undefined) names.set(chain.seq, record);
  return names;
}

/**
 * Whether the gaps of a chain may all be filled by absent records whose place is unknown; it is then uncertain which
 * records are lost.
 */
function vagueIn(view: ChainView, chains: ReadonlyMap<string, Chain>): (chain: Chain) => boolean {
  const nameless = unplaced(view);
  const gaps = { others: 0, ofKeys: 0 };
  for (const chain of chains.values())
    gaps[chain.key === undefined ? 'others' : 'ofKeys'] += lengthOf(gapsOf(chain));
  return ({ key }) => nameless >= gaps.others + (key === undefined ? 0 : gaps.ofKeys);
}

const NO_CHAIN: Chain = {
  key: undefined,
  bySeq: new Map(),
  removed: new Set(),
  heads: [],
  newest: 0,
  beyond: undefined,
  fillers: new Set(),
};

/** The highest believed number of each writer's chain, from records, removed records and heads. */
export function highestNumbers(view: ChainView): Map<string, number> {
  return new Map([...believedChains(view)].map(([writer, { newest }]) => [writer, newest]));
}

function rememberedBy({ writer: own, seq, heads }: WriterMemory): (writer: string) => boolean {
  return (writer) => heads[writer] !== undefined || (writer === own && seq > 0);
}

function isPlaced({ bySeq, removed }: Chain, seq: number): boolean {
  return bySeq.has(seq) || removed.has(seq);
}

function accountedIn(view: ChainView): (name: string) => boolean {
  const stored = new Set(view.records.map(({ name }) => name));
  return (name) =>
    name === NO_RECORD || stored.has(name) || view.unreadable.has(name) || view.removed.has(name);
}

function forks(bySeq: Chain['bySeq']): ChainProblem[] {
  return [...bySeq].flatMap(([seq, all]) => {
    // Tombstones with the same signed bytes are one record, sealed twice.
    const records = [...new Map(all.map((one) => [one.tombstone?.signed ?? one.name, one])).values()];
    const [first, second] = records;
    if (first === undefined || second === undefined) return [];
    const named = records.map((record) => madeText(record)).join(' and ');
    const reason = `${records.length} records of one writer have number ${seq}: ${named}. The state directory of that machine was copied, and the copy also wrote here; all of them can be read`;
    return [{ kind: 'fork', object: `record ${first.name}`, reason }];
  });
}

function madeText({ name, made }: ChainRecord): string {
  const short = name.slice(0, 8);
  if (made === undefined) return `record ${short}`;
  return `snapshot ${short} of host ${made.host} from ${new Date(made.atMs).toISOString()}`;
}

function brokenLinks({ bySeq, fillers }: Chain, accounted: (name: string) => boolean): ChainProblem[] {
  const problems: ChainProblem[] = [];
  for (const [seq, records] of bySeq) {
    for (const { name, chain } of records) {
      if (fillers.has(name)) continue;
      if ((seq === 1) !== (chain.prev === NO_RECORD)) {
        problems.push({
          kind: 'order',
          object: `record ${name}`,
          reason: `it has number ${seq} and names ${chain.prev} before it`,
        });
      } else if (!accounted(chain.prev)) {
        const reason = `record ${seq - 1} of writer ${chain.writer} is gone, and no tombstone names it`;
        problems.push({ kind: 'missing', object: `record ${chain.prev}`, reason });
      }
    }
  }
  return problems;
}

function lessThanRemembered(
  memory: WriterMemory,
  { keyOf }: ChainView,
  accounted: (name: string) => boolean,
): ChainProblem[] {
  const own = { [memory.writer]: { seq: memory.seq, record: memory.prev } };
  return Object.entries({ ...memory.heads, ...own }).flatMap(([writer, { seq, record }]) => {
    if (seq === 0 || accounted(record)) return [];
    const reason = `this machine has seen it as record ${seq} of writer ${writer}, and it is gone: the repository was replaced with an earlier copy`;
    return [{ kind: 'missing', object: `record ${record}`, reason, writer, key: keyOf?.(writer) }];
  });
}

/** The newest believed record of each writer, to be remembered and looked for next time. */
export function newestRecords(view: ChainView): Record<string, { seq: number; record: string }> {
  const newest: Record<string, { seq: number; record: string }> = {};
  for (const [writer, { bySeq, fillers }] of believedChains(view)) {
    for (const [seq, [first]] of bySeq)
      if (first !== undefined && !fillers.has(first.name) && seq > (newest[writer]?.seq ?? 0))
        newest[writer] = { seq, record: first.name };
  }
  return newest;
}

export type { ChainRecord, ChainView };
