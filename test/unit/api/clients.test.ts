/** Who has shown to be let in, and who has not. */
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createClients, type Clients } from '../../../src/api/access/clients.ts';

const OWN = 1_000;
const OTHER = 1_001;

interface Site {
  readonly clients: Clients;
  connected(user: number | undefined): Socket;
  ownerOf(socket: Socket): Promise<string>;
}

function openSite(): Site {
  const users = new Map<Socket, number | undefined>();
  const clients = createClients(OWN, {
    of: async (socket) => await Promise.resolve(users.get(socket as Socket)),
    ofMany: async (sockets) => await Promise.resolve(sockets.map((socket) => users.get(socket as Socket))),
  });
  return {
    clients,
    connected(user) {
      const socket = {} as Socket;
      users.set(socket, user);
      return socket;
    },
    ownerOf: async (socket) => (await clients.ownersOf([socket]))[0] ?? '',
  };
}

test('a user who has shown credentials is known from then on, on all of his connections', async () => {
  const { clients, connected, ownerOf } = openSite();
  const [first, second] = [connected(OTHER), connected(OTHER)];
  expect(clients.isKnown(await ownerOf(second))).toBe(false);
  clients.vouchFor(first);
  expect(clients.isKnown(await ownerOf(second))).toBe(true);
  expect(clients.isKnown(await ownerOf(connected(OWN)))).toBe(true);
});

test('credentials shown by somebody who cannot be told from others vouch for none of these', async () => {
  const { clients, connected, ownerOf } = openSite();
  clients.vouchFor(connected(undefined));
  expect(clients.isKnown(await ownerOf(connected(undefined)))).toBe(false);
});
