/** Who a request comes from, as far as that tells clients apart that have said nothing of themselves. */
import type { Socket } from 'node:net';
import { peersOfThisMachine, type PeerUsers } from './page-peer.ts';

/** By what requests without credentials are counted. */
export interface Client {
  readonly address: string;
  /** Of this machine, where the system tells: asked only when others have used up what the address has. */
  readonly user: () => Promise<User | undefined>;
}

export interface User {
  readonly name: string;
  /** Another one than the agent's own, or root, or one who has credentials. */
  readonly isStranger: boolean;
}

export interface Clients {
  of(socket: Socket, address: string | undefined): Client;
  /** Whose connections these are. */
  ownersOf(sockets: readonly Socket[]): Promise<readonly string[]>;
  /** Somebody has shown over this connection that they may use the agent. */
  vouchFor(socket: Socket): void;
  isKnown(owner: string): boolean;
}

/** Where nobody can tell users apart, all programs of this machine are one. */
const UNKNOWN = 'somebody';

/** Users of this machine are clients of their own: one of them does not use up what is for another. */
export function createClients(ownUser = process.getuid?.(), peers: PeerUsers = peersOfThisMachine): Clients {
  const known = new Set([ownUser, 0].filter((user) => user !== undefined).map(nameOf));

  const nameOfPeer = async (socket: Socket): Promise<string> => nameOf(await peers.of(socket));
  const addKnown = async (socket: Socket): Promise<void> => {
    const name = await nameOfPeer(socket);
    // Whoever cannot be told from others vouches for nobody: what one of them has shown, all of them would have.
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

/** Of which nothing is known but its address. */
export function clientAt(address = 'unknown'): Client {
  return { address: address.replace(/^::ffff:/, ''), user: async () => await Promise.resolve(undefined) };
}

function nameOf(user: number | undefined): string {
  return user === undefined ? UNKNOWN : `user ${user}`;
}
