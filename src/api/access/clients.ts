/** Tells unauthenticated clients apart, by their address and their user on this machine. */
import type { Socket } from 'node:net';
import { peersOfThisMachine, type PeerUsers } from './page-peer.ts';

/** The client that unauthenticated requests are counted for. */
export interface Client {
  readonly address: string;
  /**
   * The user on this machine, where the system reveals it. Looked up only when others have used up the limit of the
   * address.
   */
  readonly user: () => Promise<User | undefined>;
}

export interface User {
  readonly name: string;
  /** Whether the user is neither the agent's own, nor root, nor one that has shown credentials. */
  readonly isStranger: boolean;
}

export interface Clients {
  of(socket: Socket, address: string | undefined): Client;
  /** The owners of the connections, in the same order. */
  ownersOf(sockets: readonly Socket[]): Promise<readonly string[]>;
  /** Notes that a user has proved over this connection that they may use the agent. */
  vouchFor(socket: Socket): void;
  isKnown(owner: string): boolean;
}

/** The name of all local programs together, where the system does not reveal their users. */
const UNKNOWN = 'somebody';

/** Each user of this machine is a separate client, so that one cannot use up the limit of another. */
export function createClients(ownUser = process.getuid?.(), peers: PeerUsers = peersOfThisMachine): Clients {
  const known = new Set([ownUser, 0].filter((user) => user !== undefined).map(nameOf));

  const nameOfPeer = async (socket: Socket): Promise<string> => nameOf(await peers.of(socket));
  const addKnown = async (socket: Socket): Promise<void> => {
    const name = await nameOfPeer(socket);
    // Indistinguishable users must not vouch: what one of them has proved would be valid for all of them.
    if (name !== UNKNOWN) known.add(name);
  };

  return {
    of: (socket, address) => ({
      ...clientAt(address),
      user: async () => {
        const name = await nameOfPeer(socket);
        return name === UNKNOWN ? undefined : { name, isStranger: !known.has(name) };
      },
    }),
    ownersOf: async (sockets) => (await peers.ofMany(sockets)).map(nameOf),
    vouchFor(socket) {
      void addKnown(socket);
    },
    isKnown: (owner) => known.has(owner),
  };
}

/** A client of which only the address is known. */
export function clientAt(address = 'unknown'): Client {
  return { address: address.replace(/^::ffff:/, ''), user: async () => await Promise.resolve(undefined) };
}

function nameOf(user: number | undefined): string {
  return user === undefined ? UNKNOWN : `user ${user}`;
}
