/**
 * Who keeps connections open. When there are too many, those go first that wait for nothing but their client, of whoever has
 * most of them: whoever opens as many as there may be, and sends half a request on each, keeps nobody out.
 */
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';

/** Tells whose connections these are, by names that the log may have, in their order; asked only when there are many. */
export type OwnersOf = (sockets: readonly Socket[]) => Promise<readonly string[]>;

export interface ConnectionShares {
  /** @param waits whether it waits for its client: for a whole request, or for the next one */
  add(socket: Socket, waits: () => boolean): void;
  /** It was heard of just now: others have been silent for longer. */
  touch(socket: Socket): void;
  readonly size: number;
}

interface Entry {
  readonly socket: Socket;
  readonly waits: () => boolean;
  owner: string | undefined;
}

export interface SharesParts {
  readonly most: number;
  readonly ownersOf: OwnersOf;
  /** Who runs the program, or has shown to be let in: theirs go when those of all others are gone. */
  readonly isKnown: (owner: string) => boolean;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly logger?: { readonly warn: (facts: object, text: string) => void } | undefined;
}

/** So many more are there for a moment, until it is known whose they are. */
const OVERSHOOT = 2;
/** Milliseconds between two looks, while ever more come. */
const PAUSE_MS = 20;
/** Milliseconds between two lines of the log. */
const LOG_PAUSE_MS = 60_000;

export function createConnectionShares({
  most,
  ownersOf,
  isKnown,
  clock,
  logger,
}: SharesParts): ConnectionShares {
  /** In the order in which they were heard of. */
  const entries = new Map<Socket, Entry>();
  let isSettling = false;
  const cut = new Map<string, number>();
  let loggedAt = Number.NEGATIVE_INFINITY;

  return {
    add(socket, waits) {
      entries.set(socket, { socket, waits, owner: undefined });
      socket.once('close', () => entries.delete(socket));
      if (entries.size > most * OVERSHOOT) makeRoom(socket);
      if (entries.size > most / 2) void settle();
    },
    touch(socket) {
      const entry = entries.get(socket);
      if (entry === undefined) return;
      entries.delete(socket);
      entries.set(socket, entry);
    },
    get size() {
      return entries.size;
    },
  };

  async function settle(): Promise<void> {
    if (isSettling) return;
    isSettling = true;
    try {
      for (;;) {
        const unknown = [...entries.values()].filter(({ owner }) => owner === undefined);
        const owners = await ownersOf(unknown.map(({ socket }) => socket));
        for (const [at, entry] of unknown.entries()) entry.owner = owners[at];
        for (const entry of tooMany()) end(entry);
        tell();
        if (entries.size <= most) return;
        await setTimeout(PAUSE_MS);
      }
    } finally {
      isSettling = false;
    }
  }

  /** Those that are to go. What came meanwhile, of which nobody knows yet whose it is, counts the next time. */
  function tooMany(): readonly Entry[] {
    const told = [...entries.values()].filter(({ owner }) => owner !== undefined);
    const ofStrangers = told.filter(({ owner }) => owner !== undefined && !isKnown(owner));
    const going = ofTheLargest(ofStrangers, told.length - most);
    const others = told.filter(({ owner }) => owner !== undefined && isKnown(owner));
    return [...going, ...ofTheLargest(others, told.length - most - going.length)];
  }

  /** More come than can be looked up: the one that has waited for longest goes, so that each new one has a moment. */
  function makeRoom(newest: Socket): void {
    const waiting = [...entries.values()].filter(({ waits }) => waits());
    const going =
      waiting.find(({ owner }) => owner === undefined) ??
      waiting.find(({ owner }) => owner !== undefined && !isKnown(owner)) ??
      entries.get(newest);
    if (going !== undefined) end(going);
  }

  function end({ socket, owner }: Entry): void {
    const name = owner ?? 'unknown';
    cut.set(name, (cut.get(name) ?? 0) + 1);
    entries.delete(socket);
    socket.destroy();
  }

  /** At once, and then once a minute: whoever does it again and again does not fill the log. */
  function tell(): void {
    const now = clock.monotonic();
    if (cut.size === 0 || now - loggedAt < LOG_PAUSE_MS) return;
    loggedAt = now;
    const [most_of, of_these] = [...cut].reduce((largest, one) => (one[1] > largest[1] ? one : largest));
    logger?.warn(
      { closed: [...cut.values()].reduce((sum, one) => sum + one, 0), most_of, of_these },
      'There were too many connections: those that waited for longest were closed',
    );
    cut.clear();
  }
}

/**
 * One after the other of whoever has most at that moment: what waits, the longest first, and then the others. Where several
 * have as many, of the one that has had one waiting for longest.
 */
function ofTheLargest(these: readonly Entry[], wanted: number): readonly Entry[] {
  const order = new Map([...these].sort(waitingFirst).map((entry, at) => [entry, at]));
  const queues = [...Map.groupBy(order.keys(), ({ owner }) => owner).values()];
  const going: Entry[] = [];
  while (going.length < wanted && queues.length > 0) {
    queues.sort((a, b) => b.length - a.length || placeOf(a) - placeOf(b));
    const [queue] = queues;
    const first = queue?.shift();
    if (first !== undefined) going.push(first);
    if (queue?.length === 0) queues.shift();
  }
  return going;

  function placeOf([first]: readonly Entry[]): number {
    return (first && order.get(first)) ?? 0;
  }
}

/** Sorting keeps the order of those that are alike. */
function waitingFirst(one: Entry, other: Entry): number {
  return Number(other.waits()) - Number(one.waits());
}
