/**
 * Limits open connections fairly. When there are too many, those that only wait for their client are closed first,
 * taken from the owner with the most connections. So somebody who opens as many as are allowed, and sends half a
 * request on each, keeps nobody else out.
 */
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';

/**
 * Returns the owners of the connections, in the same order, as names that may be logged. Called only when there are
 * many connections.
 */
export type OwnersOf = (sockets: readonly Socket[]) => Promise<readonly string[]>;

export interface ConnectionShares {
  /** @param waits whether the connection waits for its client: for a whole request, or for the next one */
  add(socket: Socket, waits: () => boolean): void;
  /** Notes that the connection was just active, so that it counts as the least silent one. */
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
  /**
   * Whether the owner runs the agent or has proved to be authorised: their connections are closed only after those of
   * all others.
   */
  readonly isKnown: (owner: string) => boolean;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly logger?: { readonly warn: (facts: object, text: string) => void } | undefined;
}

/** Factor by which connections may exceed the limit for a moment, until their owners are known. */
const OVERSHOOT = 2;
/** Milliseconds between two rounds while there are too many connections. */
const PAUSE_MS = 20;
/** Milliseconds between two log lines. */
const LOG_PAUSE_MS = 60_000;

export function createConnectionShares({
  most,
  ownersOf,
  isKnown,
  clock,
  logger,
}: SharesParts): ConnectionShares {
  /** In order of their last activity, the longest silent first. */
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

  /**
   * The connections to close. Those that arrived meanwhile and whose owner is not known yet are considered in the next
   * round.
   */
  function tooMany(): readonly Entry[] {
    const told = [...entries.values()].filter(({ owner }) => owner !== undefined);
    const ofStrangers = told.filter(({ owner }) => owner !== undefined && !isKnown(owner));
    const going = ofTheLargest(ofStrangers, told.length - most);
    const others = told.filter(({ owner }) => owner !== undefined && isKnown(owner));
    return [...going, ...ofTheLargest(others, told.length - most - going.length)];
  }

  /**
   * Closes one connection when they arrive faster than their owners can be looked up: the one that has waited longest,
   * so that each new one gets a moment.
   */
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

  /** Logs at once and then once a minute, so that repeated attempts do not fill the log. */
  function tell(): void {
    const now = clock.monotonic();
    if (cut.size === 0 || now - loggedAt < LOG_PAUSE_MS) return;
    loggedAt = now;
    const [most_of, of_these] = [...cut].reduce((largest, one) => (one[1] > largest[1] ? one : largest));
    logger?.warn(
      { closed: [...cut.values()].reduce((sum, one) => sum + one, 0), most_of, of_these },
      'There were too many connections: the longest idle ones were closed',
    );
    cut.clear();
  }
}

/**
 * Picks one connection after the other from the owner that has most at that point: first those that wait for their
 * client, the longest silent first, then the others. Among owners with equally many, the one whose first connection has
 * waited longest comes first.
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

/** The sort is stable, so connections that are alike keep their order. */
function waitingFirst(one: Entry, other: Entry): number {
  return Number(other.waits()) - Number(one.waits());
}
