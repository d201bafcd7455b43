/** Whose program is at the other end of a connection within this machine: Linux says so, other systems do not. */
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { endianness } from 'node:os';

export type PeerAddress = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>;

const TABLES = { 4: '/proc/net/tcp', 6: '/proc/net/tcp6' } as const;

/** The id of the user, or undefined when it cannot be told. */
export async function peerUser(socket: PeerAddress): Promise<number | undefined> {
  const here = spelled(socket.localAddress, socket.localPort);
  const there = spelled(socket.remoteAddress, socket.remotePort);
  if (here === undefined || there === undefined) return undefined;
  let table: string;
  try {
    table = await readFile(TABLES[here.version], 'latin1');
  } catch {
    // Another system, or one that hides it.
    return undefined;
  }
  for (const line of table.split('\n').slice(1)) {
    const [, local, remote, state, , , , uid] = line.trim().split(/\s+/);
    // The other end's own entry, in which it is the local one, and established.
    if (local === there.text && remote === here.text && state === '01') return Number(uid);
  }
  return undefined;
}

/** An address as the system's table has it: groups of four bytes as numbers of this machine, in hexadecimal. */
function spelled(
  address: string | undefined,
  port: number | undefined,
): { readonly version: 4 | 6; readonly text: string } | undefined {
  if (address === undefined || port === undefined) return undefined;
  const bytes = bytesOf(address);
  if (bytes === undefined) return undefined;
  if (endianness() === 'LE') bytes.swap32();
  const shownPort = port.toString(16).padStart(4, '0');
  return {
    version: bytes.length === 4 ? 4 : 6,
    text: `${bytes.toString('hex')}:${shownPort}`.toUpperCase(),
  };
}

/** Of the only addresses that are listened on. */
function bytesOf(address: string): Buffer | undefined {
  if (address === '::1') return Buffer.from(`${'00'.repeat(15)}01`, 'hex');
  const parts = address.replace(/^::ffff:/, '').split('.');
  return parts.length === 4 ? Buffer.from(parts.map(Number)) : undefined;
}
