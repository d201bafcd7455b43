/** Finds the user whose program is at the other end of a local connection. Only Linux reveals it. */
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { endianness } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { systemClock } from '../../base/clock.ts';
import { pauseAfter } from '../../base/paced-work.ts';

export type PeerAddress = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>;

const TABLES = { 4: '/proc/net/tcp', 6: '/proc/net/tcp6' } as const;
export type Version = keyof typeof TABLES;

export interface PeerUsers {
  /** The user id, or undefined when it cannot be determined. */
  of(socket: PeerAddress): Promise<number | undefined>;
  ofMany(sockets: readonly PeerAddress[]): Promise<readonly (number | undefined)[]>;
}

/** Maps the two ends of a connection, spelled as in the tables, to the user id. */
type Found = Map<string, number | undefined>;

/** One reading of the tables, which answers all callers that wait for it. */
interface Look {
  readonly wanted: PeerAddress[][];
  readonly found: Promise<ReadonlyMap<PeerAddress, number | undefined>>;
}

/** Least milliseconds between the end of a look and the next one. */
const PAUSE_MS = 20;
/** Longest pause between two looks, however busy the machine is, because callers wait. */
const LONGEST_PAUSE_MS = 500;

export interface PeerTiming {
  /** Milliseconds of a monotonic clock. */
  monotonic(): number;
  pause(ms: number): Promise<unknown>;
}

const SYSTEM: PeerTiming = {
  monotonic: () => systemClock.monotonic(),
  pause: async (ms) => await setTimeout(ms, undefined, { ref: false }),
};

/**
 * Looks up users in batches, with pauses in between, because for each look the system goes through all connections of
 * the machine. However many connections somebody opens, looks hold up the process for a small part of the time, and the
 * system reads its table for at most half of the time.
 * @param readTable returns the system's table of all connections; empty where it is not available
 */
export function createPeerUsers(
  readTable: (version: Version) => Promise<Buffer> = tableOf,
  timing = SYSTEM,
): PeerUsers {
  /** Users already found: a connection keeps its user for as long as it lasts. */
  const known = new WeakMap<PeerAddress, number>();
  let next: Look | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const ofMany: PeerUsers['ofMany'] = async (sockets) => {
    const unknown = sockets.filter((socket) => !known.has(socket));
    const found = unknown.length === 0 ? undefined : await join(unknown);
    return sockets.map((socket) => known.get(socket) ?? found?.get(socket));
  };
  return { ofMany, of: async (socket) => (await ofMany([socket]))[0] };

  /**
   * Adds the sockets to the next look, never to one that has begun: its table may show the same ends as an earlier
   * connection of another user.
   */
  async function join(
    sockets: readonly PeerAddress[],
  ): Promise<ReadonlyMap<PeerAddress, number | undefined>> {
    next ??= begin();
    next.wanted.push([...sockets]);
    return await next.found;
  }

  function begin(): Look {
    const wanted: PeerAddress[][] = [];
    const before = last;
    let [beganMs, heldMs] = [0, 0];
    const found = (async () => {
      await before;
      next = undefined;
      beganMs = timing.monotonic();
      return await look(wanted.flat(), (ms) => (heldMs += ms));
    })();
    const restMs = (): number => {
      const wantedMs = Math.max(pauseAfter(heldMs, PAUSE_MS), timing.monotonic() - beganMs);
      return Math.min(wantedMs, LONGEST_PAUSE_MS);
    };
    last = found.then(
      async () => await timing.pause(restMs()),
      () => undefined,
    );
    return { wanted, found };
  }

  async function look(
    sockets: readonly PeerAddress[],
    held: (ms: number) => void,
  ): Promise<ReadonlyMap<PeerAddress, number | undefined>> {
    const users = new Map<PeerAddress, number | undefined>();
    // A program may have connected from an IPv6 socket to an IPv4 address; its entry is then in the IPv6 table.
    for (const version of [4, 6] as const) {
      const pairs = new Map<PeerAddress, string>();
      for (const socket of sockets) {
        const pair = users.get(socket) === undefined ? pairOf(socket, version) : undefined;
        if (pair !== undefined) pairs.set(socket, pair);
      }
      if (pairs.size === 0) continue;
      const table = await readTable(version);
      const readMs = timing.monotonic();
      const found = usersOf(new Set(pairs.values()), table, version);
      held(timing.monotonic() - readMs);
      for (const [socket, pair] of pairs) {
        const user = found.get(pair);
        users.set(socket, user);
        if (user !== undefined) known.set(socket, user);
      }
    }
    return users;
  }
}

export const peersOfThisMachine = createPeerUsers();

export async function peerUser(socket: PeerAddress): Promise<number | undefined> {
  return await peersOfThisMachine.of(socket);
}

/** Length of an address with its port in the tables. */
const END_LENGTH = { 4: 13, 6: 37 } as const;
/**
 * Marks established connections. For others, such as one that its program has closed, the system does not reveal the
 * owner.
 */
const ESTABLISHED = ' 01 ';

/**
 * Finds the users of the wanted connections. The user is in the other end's own entry, where that end is the local
 * address. A table may have 100,000 lines, so the search is for this process's own end, and other lines are not parsed.
 */
function usersOf(wanted: ReadonlySet<string>, table: Buffer, version: Version): Found {
  const length = END_LENGTH[version];
  const found: Found = new Map();
  for (const here of new Set([...wanted].map((pair) => pair.slice(length + 1)))) {
    const mark = Buffer.from(` ${here}${ESTABLISHED}`, 'latin1');
    for (let at = table.indexOf(mark); at !== -1; at = table.indexOf(mark, at + mark.length)) {
      const pair = table.toString('latin1', at - length, at + 1 + length);
      if (!wanted.has(pair)) continue;
      const end = table.indexOf('\n', at);
      const rest = table.toString('latin1', at + mark.length, end === -1 ? undefined : end);
      const [, , , uid] = rest.trim().split(/\s+/);
      found.set(pair, Number(uid));
    }
  }
  return found;
}

async function tableOf(version: Version): Promise<Buffer> {
  try {
    return await readFile(TABLES[version]);
  } catch {
    // Another system, or one that hides the table.
    return Buffer.alloc(0);
  }
}

/** The two ends as the table spells them; undefined where the table cannot contain the connection. */
function pairOf(socket: PeerAddress, version: Version): string | undefined {
  const here = bytesOf(socket.localAddress);
  const there = bytesOf(socket.remoteAddress);
  if (here === undefined || there === undefined || (version === 4 && here.length !== 4)) return undefined;
  const inTable = (address: Buffer): Buffer =>
    version === 6 && address.length === 4 ? Buffer.concat([MAPPED, address]) : address;
  return `${spelled(inTable(there), socket.remotePort)} ${spelled(inTable(here), socket.localPort)}`;
}

/**
 * An address as the system's table spells it: groups of four bytes as numbers in the byte order of this machine, in
 * hexadecimal.
 */
function spelled(address: Buffer, port = 0): string {
  const bytes = Buffer.from(address);
  if (endianness() === 'LE') bytes.swap32();
  return `${bytes.toString('hex')}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
}

const MAPPED = Buffer.from(`${'00'.repeat(10)}ffff`, 'hex');

/** The bytes of a loopback address. The agent listens on no others. */
function bytesOf(address: string | undefined): Buffer | undefined {
  if (address === '::1') return Buffer.from(`${'00'.repeat(15)}01`, 'hex');
  const parts = (address ?? '').replace(/^::ffff:/, '').split('.');
  return parts.length === 4 ? Buffer.from(parts.map(Number)) : undefined;
}
