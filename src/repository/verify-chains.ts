import { NO_RECORD, type ChainPlace, type ChainPosition } from '../format/records.ts';
import type { Head } from './chain.ts';
import type { SnapshotList } from './snapshots.ts';
import { placesIn } from './tombstones.ts';
import type { WriterMemory } from './writer-state.ts';

/** A snapshot or tombstone as a link of its writer's chain. */
export interface ChainRecord {
  readonly name: string;
  readonly chain: ChainPosition;
  /** Of live snapshots: where and when they were made, by the clock of that host. */
  readonly made?: { readonly host: string; readonly atMs: number };
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
}

export interface ChainProblem {
  /** `missing`: a record is gone; `order`: records contradict each other; `fork`: two machines write as one. */
  readonly kind: 'missing' | 'order' | 'fork';
  /** `record <name>`: a snapshot or tombstone, there or not. */
  readonly object: string;
  readonly reason: string;
}

/** @param forgotten snapshots that are tombstoned but still stored, as far as they could be read */
export function chainView(
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
      ...tombstones.all,
    ],
    unreadable: new Set([
      ...damaged.map(({ id }) => id),
      ...tombstones.ignored.map(({ name }) => name),
      ...unread,
    ]),
    removed: tombstones.snapshots,
    places: placesIn(tombstones.all),
    heads,
  };
}

/**
 * Finds what a destination that hides, replays or forks records cannot avoid: gaps that no tombstone explains, two
 * records with one number, heads above the newest record, and less than this host has seen before.
 */
export function verifyChains(view: ChainView, memory: WriterMemory): ChainProblem[] {
  const problems: ChainProblem[] = [];
  const accounted = accountedIn(view);
  const chains = byWriter(view);
  for (const [writer, chain] of chains) {
    problems.push(...forks(chain.bySeq), ...brokenLinks(chain.bySeq, accounted));
    for (const { chain: position, record } of chain.heads) {
      if (record === undefined ? isPlaced(chain, position.seq) : accounted(record)) continue;
      const object = record === undefined ? `heads/${writer}` : `record ${record}`;
      const reason = `record ${position.seq} of writer ${writer} is gone, and no tombstone names it`;
      problems.push({ kind: 'missing', object, reason });
    }
  }
  const unexplained = gapsIn(chains) - unplaced(view);
  if (unexplained > 0 && problems.length === 0) {
    const reason = `${unexplained} snapshots or tombstones are gone that no tombstone names`;
    problems.push({ kind: 'missing', object: 'snapshots/', reason });
  }
  problems.push(...lessThanRemembered(memory, accounted));
  return problems;
}

/** No storage hides so many records of one writer: a head that cannot be read, and is so far above, is no head. */
export const BEYOND_BELIEF = 1_000;

/** A snapshot or tombstone that is gone, and that no tombstone names. */
export interface LostRecord extends ChainPlace {
  /** Undefined where nothing that is there names it. */
  readonly name: string | undefined;
}

/** All that `verifyChains` misses, as far as it is certain which records these are. */
export function lostRecords(view: ChainView, memory: WriterMemory): LostRecord[] {
  const accounted = accountedIn(view);
  // Of the gaps those that nothing places fill so many. Where there are more, each of them may be the one that is lost.
  const isVague = unplaced(view) >= gapsIn(byWriter(view));
  const remembered = new Map(Object.entries(memory.heads));
  if (memory.seq > 0) remembered.set(memory.writer, { seq: memory.seq, record: memory.prev });
  const chains = byWriter(view);
  const lost: LostRecord[] = [];
  for (const writer of new Set([...chains.keys(), ...remembered.keys()])) {
    const { bySeq, heads, removed, newest } = chains.get(writer) ?? newChain();
    const own = remembered.get(writer);
    const names = new Map(own === undefined ? [] : [[own.seq, own.record]]);
    for (const { chain, record } of heads) if (record !== undefined) names.set(chain.seq, record);
    const unread = new Set(
      heads
        .filter(({ chain, record }) => record === undefined && chain.seq <= newest + BEYOND_BELIEF)
        .map(({ chain }) => chain.seq),
    );
    for (const { chain } of [...bySeq.values()].flat()) names.set(chain.seq - 1, chain.prev);
    for (let seq = 1; seq <= Math.max(newest, own?.seq ?? 0, ...unread); seq += 1) {
      if (bySeq.has(seq) || removed.has(seq)) continue;
      const name = names.get(seq);
      const isLost = name === undefined ? !isVague || unread.has(seq) : !accounted(name);
      if (isLost) lost.push({ writer, seq, name });
    }
  }
  return lost;
}

/** The highest number that is known of each writer's chain, by records, those that are removed, and heads. */
export function highestNumbers(view: ChainView): Map<string, number> {
  return new Map([...byWriter(view)].map(([writer, { newest }]) => [writer, newest]));
}

function isPlaced({ bySeq, removed }: Chain, seq: number): boolean {
  return bySeq.has(seq) || removed.has(seq);
}

/** Numbers that nothing accounts for. */
function gapsIn(chains: ReadonlyMap<string, Chain>): number {
  let gaps = 0;
  for (const { bySeq, removed, newest } of chains.values())
    gaps += newest - new Set([...bySeq.keys(), ...removed]).size;
  return gaps;
}

function accountedIn(view: ChainView): (name: string) => boolean {
  const stored = new Set(view.records.map(({ name }) => name));
  return (name) =>
    name === NO_RECORD || stored.has(name) || view.unreadable.has(name) || view.removed.has(name);
}

/** How many are not there, or cannot be read, of which nothing says where they stood: each may have stood in any place. */
function unplaced(view: ChainView): number {
  const stored = new Set(view.records.map(({ name }) => name));
  const absent = new Set([...view.removed, ...view.unreadable]);
  return [...absent].filter((name) => !stored.has(name) && !view.places.has(name)).length;
}

interface Chain {
  readonly bySeq: Map<number, ChainRecord[]>;
  readonly heads: Head[];
  /** Numbers of records that tombstones name, there or not. */
  readonly removed: Set<number>;
  newest: number;
}

function newChain(): Chain {
  return { bySeq: new Map(), heads: [], removed: new Set(), newest: 0 };
}

function byWriter(view: ChainView): Map<string, Chain> {
  const writers = new Map<string, Chain>();
  const chainOf = (writer: string): Chain => {
    const chain = writers.get(writer) ?? newChain();
    writers.set(writer, chain);
    return chain;
  };
  for (const record of view.records) {
    const chain = chainOf(record.chain.writer);
    const { seq } = record.chain;
    chain.bySeq.set(seq, [...(chain.bySeq.get(seq) ?? []), record]);
    chain.newest = Math.max(chain.newest, seq);
  }
  for (const { writer, seq } of view.places.values()) {
    const chain = chainOf(writer);
    chain.removed.add(seq);
    chain.newest = Math.max(chain.newest, seq);
  }
  for (const head of view.heads) {
    const chain = chainOf(head.chain.writer);
    chain.heads.push(head);
    // One that cannot be read tells of its own record alone: its number may be anybody's invention.
    if (head.record !== undefined) chain.newest = Math.max(chain.newest, head.chain.seq);
  }
  return writers;
}

function forks(bySeq: ReadonlyMap<number, readonly ChainRecord[]>): ChainProblem[] {
  return [...bySeq].flatMap(([seq, records]) => {
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

function brokenLinks(
  bySeq: ReadonlyMap<number, readonly ChainRecord[]>,
  accounted: (name: string) => boolean,
): ChainProblem[] {
  const problems: ChainProblem[] = [];
  for (const [seq, records] of bySeq) {
    const before = bySeq.get(seq - 1);
    for (const { name, chain } of records) {
      if ((seq === 1) !== (chain.prev === NO_RECORD)) {
        problems.push({
          kind: 'order',
          object: `record ${name}`,
          reason: `it has number ${seq} and names ${chain.prev} before it`,
        });
      } else if (
        before === undefined ? !accounted(chain.prev) : before.every((one) => one.name !== chain.prev)
      ) {
        const reason = `record ${seq - 1} of writer ${chain.writer} is gone, and no tombstone names it`;
        problems.push({ kind: 'missing', object: `record ${chain.prev}`, reason });
      }
    }
  }
  return problems;
}

function lessThanRemembered(memory: WriterMemory, accounted: (name: string) => boolean): ChainProblem[] {
  const own = { [memory.writer]: { seq: memory.seq, record: memory.prev } };
  return Object.entries({ ...memory.heads, ...own }).flatMap(([writer, { seq, record }]) => {
    if (seq === 0 || accounted(record)) return [];
    const reason = `this machine has seen it as record ${seq} of writer ${writer}, and it is gone: the repository was rolled back`;
    return [{ kind: 'missing', object: `record ${record}`, reason }];
  });
}

/** The newest record of each writer, to be remembered and found again next time. */
export function newestRecords(view: ChainView): Record<string, { seq: number; record: string }> {
  const newest: Record<string, { seq: number; record: string }> = {};
  for (const { name, chain } of view.records) {
    if (chain.seq > (newest[chain.writer]?.seq ?? 0)) newest[chain.writer] = { seq: chain.seq, record: name };
  }
  return newest;
}
