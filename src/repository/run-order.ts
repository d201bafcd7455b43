/**
 * The order in which the runs behind snapshots really took place, whatever their clocks said.
 *
 * Within one writer the numbers of its chain decide. A snapshot that stands for another one (stored again with other
 * tags or under newer keys, or copied) has the place of the record that the run itself stored. A run also came after
 * the snapshot that it was compared with. Everything else rests on two times, and either may be wrong: the start by the
 * machine's clock, and the time at which the storage received the object, which is too late after a copy of the
 * repository that does not keep times. So each run is given a time that never falls along its chain, chosen from its
 * own two times so that it contradicts as few others as possible. All runs are compared by that time, then by their
 * places, which makes it a total order.
 */
import { countedMs, isFull } from '../base/stored-by.ts';
import type { ChainPlace } from '../format/records.ts';
import type { Snapshot } from './snapshots.ts';

/** A clock that shows an earlier time is wrong: there was no repository yet. */
const FIRST_TIME_MS = Date.UTC(2020, 0);
/** How far a machine's clock may be ahead of the storage's. */
const AHEAD_MS = 3_600_000;
/** When a snapshot is stored within this time of its start, the storage confirms the start time. */
const LONGEST_RUN_MS = 7 * 86_400_000;

/** A snapshot as a link of the chain of its writer. */
interface Link {
  readonly snapshot: Snapshot;
  readonly place: ChainPlace;
  readonly startedMs: number;
  readonly storedMs: number | undefined;
  /** The time that is believed at first; undefined when the snapshot has no plausible time. */
  readonly likelyMs: number | undefined;
  readonly isConfirmed: boolean;
  /** The time by which runs are compared. */
  atMs: number;
}

/**
 * Sorts snapshots by their runs, oldest first.
 * @param storedMs when the storage received a snapshot, by its own clock
 */
export function inOrderOfRuns<T extends Snapshot>(
  snapshots: readonly T[],
  storedMs: (snapshot: T) => number | undefined,
): T[] {
  const links = snapshots.map((one) => ({ ...linkOf(one, storedMs(one)), snapshot: one }));
  const chains = [...Map.groupBy(links, ({ place }) => place.writer).values()];
  for (const chain of chains) {
    chain.sort(alongTheChain);
    giveTimes(chain);
  }
  liftAboveParents(links, chains);
  return links.sort(byRun).map(({ snapshot }) => snapshot);
}

/** The place of the record that the run itself stored. */
export function runPlace({ id, record, chain }: Snapshot): ChainPlace {
  if (record.run !== undefined) return record.run;
  // A snapshot that replaces another without saying where the run's record stood is given a chain of its own: only its
  // time is known.
  return record.original === undefined ? chain : { writer: id, seq: 1 };
}

function linkOf(snapshot: Snapshot, stored: number | undefined): Omit<Link, 'snapshot'> {
  // The times that a write-only key states are not believed; the storage's clock is used instead.
  const startedMs = countedMs(snapshot.storedBy, {
    startedMs: snapshot.record.startedMs,
    storedMs: snapshot.storedMs ?? stored,
  });
  const storedMs = stored !== undefined && stored >= FIRST_TIME_MS ? stored : undefined;
  const isPossible = startedMs >= FIRST_TIME_MS;
  const isAhead = storedMs !== undefined && startedMs > storedMs + AHEAD_MS;
  const isConfirmed =
    isPossible && !isAhead && storedMs !== undefined && storedMs - startedMs <= LONGEST_RUN_MS;
  const possibleMs = isPossible ? startedMs : undefined;
  const likelyMs = isAhead ? storedMs : possibleMs;
  return { place: runPlace(snapshot), startedMs, storedMs, likelyMs, isConfirmed, atMs: startedMs };
}

// ---- Times along a chain --------------------------------------------------------------------------------------

function giveTimes(chain: readonly Link[]): void {
  const believed = believedOf(chain);
  const nextMs = Array.from(chain, () => Infinity);
  for (let i = chain.length - 2; i >= 0; i -= 1) {
    const next = chain[i + 1];
    nextMs[i] = (next !== undefined && believed.has(next) ? next.likelyMs : nextMs[i + 1]) ?? Infinity;
  }
  let lastMs = -Infinity;
  for (const [i, link] of chain.entries()) {
    link.atMs = Math.max(
      lastMs,
      (believed.has(link) ? link.likelyMs : undefined) ?? between(link, lastMs, nextMs[i] ?? Infinity),
    );
    lastMs = link.atMs;
  }
}

/**
 * The links whose times are believed: the largest rising set of confirmed ones, and in each gap the largest rising set
 * that fits.
 */
function believedOf(chain: readonly Link[]): ReadonlySet<Link> {
  const confirmed = new Set(longestRise(chain.filter(({ isConfirmed }) => isConfirmed)));
  const believed = new Set(confirmed);
  let gap: Link[] = [];
  let from = -Infinity;
  const close = (to: number): void => {
    const fits = gap.filter(({ likelyMs }) => likelyMs !== undefined && likelyMs >= from && likelyMs <= to);
    for (const one of longestRise(fits)) believed.add(one);
    gap = [];
    from = to;
  };
  for (const link of chain) {
    if (confirmed.has(link)) close(link.likelyMs ?? from);
    else gap.push(link);
  }
  close(Infinity);
  return believed;
}

/** The longest series of links, in their order, whose likely times never fall. */
function longestRise(links: readonly Link[]): readonly Link[] {
  const timeOf = (i: number | undefined): number => links[i ?? -1]?.likelyMs ?? 0;
  // `ends[n]` is the last link of the best series of n + 1 links; `before[i]` precedes link i in its best series.
  const ends: number[] = [];
  const before: (number | undefined)[] = [];
  for (const i of links.keys()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (timeOf(ends[middle]) <= timeOf(i)) low = middle + 1;
      else high = middle;
    }
    before.push(ends[low - 1]);
    ends[low] = i;
  }
  const series: Link[] = [];
  for (let i = ends.at(-1); i !== undefined; i = before[i]) {
    const link = links[i];
    if (link !== undefined) series.push(link);
  }
  return series;
}

/**
 * A time for a link whose likely time contradicts others: the least of its own times that is possible, but none after
 * the next link's.
 */
function between({ startedMs, storedMs }: Link, lastMs: number, nextMs: number): number {
  const borne = [startedMs, storedMs ?? startedMs].filter((ms) => ms >= FIRST_TIME_MS && ms >= lastMs);
  const least = Math.min(...borne, nextMs);
  if (Number.isFinite(least)) return least;
  return Number.isFinite(lastMs) ? lastMs : startedMs;
}

// ---- From chain to chain --------------------------------------------------------------------------------------

/**
 * A run comes after the snapshot that it was compared with, even when that is another writer's: a machine that loses
 * its state goes on as a new writer. The holder of a write-only key can name any parent, so its records are left out.
 */
function liftAboveParents(links: readonly Link[], chains: readonly (readonly Link[])[]): void {
  const after = followersOf(links, chains);
  const waitsFor = new Map<Link, number>();
  for (const followers of after.values())
    for (const { link } of followers) waitsFor.set(link, (waitsFor.get(link) ?? 0) + 1);
  const ready = links.filter((link) => !waitsFor.has(link));
  for (let link = ready.pop(); link !== undefined; link = ready.pop()) {
    for (const { link: follower, byMs } of after.get(link) ?? []) {
      follower.atMs = Math.max(follower.atMs, link.atMs + byMs);
      const left = (waitsFor.get(follower) ?? 0) - 1;
      waitsFor.set(follower, left);
      if (left === 0) ready.push(follower);
    }
  }
  // Links in a cycle, which only forged records can form, must still rise along their chain.
  for (const chain of chains) {
    let lastMs = -Infinity;
    for (const link of chain) {
      link.atMs = Math.max(link.atMs, lastMs);
      lastMs = link.atMs;
    }
  }
}

/** The links that follow each link, and by how much at least. */
function followersOf(
  links: readonly Link[],
  chains: readonly (readonly Link[])[],
): ReadonlyMap<Link, readonly { readonly link: Link; readonly byMs: number }[]> {
  const after = new Map<Link, { link: Link; byMs: number }[]>();
  const follow = (link: Link, byMs: number, before: Link | undefined): void => {
    if (before === undefined) return;
    const followers = after.get(before);
    if (followers === undefined) after.set(before, [{ link, byMs }]);
    else followers.push({ link, byMs });
  };
  for (const chain of chains) for (const [i, link] of chain.entries()) follow(link, 0, chain[i - 1]);
  const byId = new Map<string, Link>();
  for (const link of links) {
    const { id, record, storedBy } = link.snapshot;
    if (isFull(storedBy)) byId.set(record.original ?? id, link);
  }
  for (const link of links) byId.set(link.snapshot.id, link);
  for (const link of links) {
    const { parent } = link.snapshot.record;
    if (parent === undefined || !isFull(link.snapshot.storedBy)) continue;
    const before = byId.get(parent);
    if (before !== undefined && before.place.writer !== link.place.writer) follow(link, 1, before);
  }
  return after;
}

// ---- Comparing ------------------------------------------------------------------------------------------------

function byRun(a: Link, b: Link): number {
  if (a.atMs !== b.atMs) return a.atMs - b.atMs;
  if (a.place.writer !== b.place.writer) return a.place.writer < b.place.writer ? -1 : 1;
  return alongTheChain(a, b);
}

/**
 * Orders links of one chain. Two links with one place are the same run under two ids, of which the replacement comes
 * last, or a fork.
 */
function alongTheChain(a: Link, b: Link): number {
  if (a.place.seq !== b.place.seq) return a.place.seq - b.place.seq;
  if (a.startedMs !== b.startedMs) return a.startedMs - b.startedMs;
  const [isLaterA, isLaterB] = [a, b].map(({ snapshot }) => snapshot.record.original !== undefined);
  if (isLaterA !== isLaterB) return isLaterA === true ? 1 : -1;
  return a.snapshot.id < b.snapshot.id ? -1 : 1;
}
