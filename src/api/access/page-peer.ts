/** Whose program is at the other end of a connection within this machine: Linux says so, other systems do not. */
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { endianness } from 'node:os';
import { setTimeout } from 'node:timers/promises';

export type PeerAddress = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>;

const TABLES = { 4: '/proc/net/tcp', 6: '/proc/net/tcp6' } as const;
export type Version = keyof typeof TABLES;

export interface PeerUsers {
  /** The id of the user, or undefined when it cannot be told. */
  of(socket: PeerAddress): Promise<number | undefined>;
  ofMany(sockets: readonly PeerAddress[]): Promise<readonly (number | undefined)[]>;
}

/** Connections by their ends, as the tables have them, with their users: what is looked for, and then what was found. */
type Found = Map<string, number | undefined>;

/** What many ask for at once, answered by one look. */
interface Look {
  readonly wanted: PeerAddress[][];
  readonly found: Promise<ReadonlyMap<PeerAddress, number | undefined>>;
}

/**
 * Between the beginnings of two looks. Each goes through all connections of the machine: however many are opened, and
 * however fast, that takes a small part of the time.
 */
const PAUSE_MS = 20;

/** @param readTable what the system says of all connections; empty where it does not */
export function createPeerUsers(
  readTable: (version: Version) => Promise<string> = tableOf,
  pauseMs = PAUSE_MS,
): PeerUsers {
  /** A connection has the user who made it for as long as it lasts. */
  const known = new WeakMap<PeerAddress, number>();
  let next: Look | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const ofMany: PeerUsers['ofMany'] = async (sockets) => {
    const unknown = sockets.filter((socket) => !known.has(socket));
    const found = unknown.length === 0 ? undefined : await join(unknown);
    return sockets.map((socket) => known.get(socket) ?? found?.get(socket));
  };
  return { ofMany, of: async (socket) => (await ofMany([socket]))[0] };

  /** Nobody joins a look that has begun: the ends of a connection may have been those of another user's before. */
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
    const found = (async () => {
      await before;
      next = undefined;
      return await look(wanted.flat());
    })();
    last = found.then(
      async () => await setTimeout(pauseMs, undefined, { ref: false }),
      () => undefined,
    );
    return { wanted, found };
  }

  async function look(
    sockets: readonly PeerAddress[],
  ): Promise<ReadonlyMap<PeerAddress, number | undefined>> {
    const users = new Map<PeerAddress, number | undefined>();
    // A program may have taken a socket of the newer protocol to an address of the older one: then the other table has it.
    for (const version of [4, 6] as const) {
      const pairs = new Map<PeerAddress, string>();
      for (const socket of sockets) {
        const pair = users.get(socket) === undefined ? pairOf(socket, version) : undefined;
        if (pair !== undefined) pairs.set(socket, pair);
      }
      if (pairs.size === 0) continue;
      const found = usersOf(new Set(pairs.values()), await readTable(version), version);
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

/** Of two addresses with their ports, as a table has them. */
const PAIR_LENGTH = { 4: 2 * 13 + 1, 6: 2 * 37 + 1 } as const;
/** Before it comes the number of the line, and a space. */
const BEFORE_PAIR = ': ';
/** Of others, such as one that its program has closed, the system does not say whose they were. */
const ESTABLISHED = ' 01 ';

/** From the other end's own entry, in which it is the local one. The table, of thousands of lines, is gone through once. */
function usersOf(wanted: ReadonlySet<string>, table: string, version: Version): Found {
  const length = PAIR_LENGTH[version];
  const found: Found = new Map();
  let [from, to] = [table.indexOf('\n') + 1, 0];
  for (; to !== -1 && found.size < wanted.size; from = to + 1) {
    to = table.indexOf('\n', from);
    const at = table.indexOf(BEFORE_PAIR, from) + BEFORE_PAIR.length;
    const pair = table.slice(at, at + length);
    if (!wanted.has(pair) || !table.startsWith(ESTABLISHED, at + length)) continue;
    const rest = table.slice(at + length, to === -1 ? undefined : to);
    const [, , , , uid] = rest.trim().split(/\s+/);
    found.set(pair, Number(uid));
  }
  return found;
}

async function tableOf(version: Version): Promise<string> {
  try {
    return await readFile(TABLES[version], 'latin1');
  } catch {
    // Another system, or one that hides it.
    return '';
  }
}

/** Undefined where the table cannot have it. */
function pairOf(socket: PeerAddress, version: Version): string | undefined {
  const here = bytesOf(socket.localAddress);
  const there = bytesOf(socket.remoteAddress);
  if (here === undefined || there === undefined || (version === 4 && here.length !== 4)) return undefined;
  const inTable = (address: Buffer): Buffer =>
    version === 6 && address.length === 4 ? Buffer.concat([MAPPED, address]) : address;
  return `${spelled(inTable(there), socket.remotePort)} ${spelled(inTable(here), socket.localPort)}`;
}

/** An address as the system's table has it: groups of four bytes as numbers of this machine, in hexadecimal. */
function spelled(address: Buffer, port = 0): string {
  const bytes = Buffer.from(address);
  if (endianness() === 'LE') bytes.swap32();
  return `${bytes.toString('hex')}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
}

const MAPPED = Buffer.from(`${'00'.repeat(10)}ffff`, 'hex');

/** Of the only addresses that are listened on. */
function bytesOf(address: string | undefined): Buffer | undefined {
  if (address === '::1') return Buffer.from(`${'00'.repeat(15)}01`, 'hex');
  const parts = (address ?? '').replace(/^::ffff:/, '').split('.');
  return parts.length === 4 ? Buffer.from(parts.map(Number)) : undefined;
}
