/** Whose program is at the other end of a connection within this machine: Linux says so, other systems do not. */
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { endianness } from 'node:os';

export type PeerAddress = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>;

const TABLES = { 4: '/proc/net/tcp', 6: '/proc/net/tcp6' } as const;
type Version = keyof typeof TABLES;

/** The id of the user, or undefined when it cannot be told. */
export async function peerUser(socket: PeerAddress): Promise<number | undefined> {
  const [user] = await peerUsers([socket]);
  return user;
}

/** Of many connections by one look at the system's tables. */
export async function peerUsers(sockets: readonly PeerAddress[]): Promise<readonly (number | undefined)[]> {
  const wanted = sockets.map(pairsOf);
  const tables = new Map<Version, string>();
  for (const version of new Set(wanted.flat().map((pair) => pair.version)))
    tables.set(version, await tableOf(version));
  return wanted.map((pairs) => {
    const users = pairs.map(({ version, text }) => userOf(text, tables.get(version) ?? ''));
    return users.find((user) => user !== undefined);
  });
}

/** From the other end's own entry, in which it is the local one, and established. Tables may be of thousands of lines. */
function userOf(pair: string, table: string): number | undefined {
  const at = table.indexOf(` ${pair} 01 `);
  if (at === -1) return undefined;
  const [, , , , , , uid] = table.slice(at, table.indexOf('\n', at)).trim().split(/\s+/);
  return Number(uid);
}

async function tableOf(version: Version): Promise<string> {
  try {
    return await readFile(TABLES[version], 'latin1');
  } catch {
    // Another system, or one that hides it.
    return '';
  }
}

interface AddressPair {
  readonly version: Version;
  readonly text: string;
}

/** A program may have taken a socket of the newer protocol to an address of the older one: then the other table has it. */
function pairsOf(socket: PeerAddress): readonly AddressPair[] {
  const here = bytesOf(socket.localAddress);
  const there = bytesOf(socket.remoteAddress);
  if (here === undefined || there === undefined) return [];
  const pair = (version: Version, map: (address: Buffer) => Buffer): AddressPair => ({
    version,
    text: `${spelled(map(there), socket.remotePort)} ${spelled(map(here), socket.localPort)}`,
  });
  if (here.length === 16) return [pair(6, (address) => address)];
  return [pair(4, (address) => address), pair(6, (address) => Buffer.concat([MAPPED, address]))];
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
