/** Which keys a server is offered, in which order, and the way to one behind another. */
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect as connectSocket, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ssh2, { type Connection } from 'ssh2';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connect } from '../../../../src/destination/sftp/connect.ts';
import { identityOf } from '../../../../src/destination/sftp/place.ts';
import { prepareTarget } from '../../../../src/destination/sftp/target.ts';
import { startSftpStore, type SftpStore } from '../../../support/sftp-store.ts';

const live = new AbortController().signal;
const makeKey = () => ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 });

interface Gate {
  readonly port: number;
  readonly publicKey: string;
  /** Keys that were offered, as their public halves. */
  readonly offered: string[];
  readonly led: string[];
  /** Connections that are open. */
  open(): number;
  close(): void;
}

/** Lets in whoever has `right`, ends after `most` other keys, and leads on to servers of this machine. */
async function startGate(right: string, most: number): Promise<Gate> {
  const key = makeKey();
  const [offered, led, connections]: [string[], string[], Set<Connection>] = [[], [], new Set()];
  const server = new ssh2.Server({ hostKeys: [key.private] }, (connection) => {
    connections.add(connection);
    connection.on('error', () => {});
    connection.on('close', () => connections.delete(connection));
    connection.on('authentication', (context) => {
      if (context.method !== 'publickey') return context.reject(['publickey']);
      const name = `${context.key.algo} ${context.key.data.toString('base64')}`;
      if (context.signature === undefined) offered.push(name);
      if (right.startsWith(name)) return context.accept();
      if (offered.length > most) return connection.end();
      return context.reject(['publickey']);
    });
    connection.on('tcpip', (accept, _reject, { destIP, destPort }) => {
      led.push(`${destIP}:${destPort}`);
      const stream = accept();
      const onward = connectSocket(destPort, '127.0.0.1');
      stream.pipe(onward).pipe(stream);
      for (const one of [stream, onward]) one.on('error', () => {});
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    for (const connection of connections) connection.end();
    server.close();
  };
  return {
    port: (server.address() as AddressInfo).port,
    publicKey: key.public,
    offered,
    led,
    open: () => connections.size,
    close,
  };
}

let home: string;
let store: SftpStore;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'holdfast-sign-in-'));
  await mkdir(join(home, '.ssh'), { mode: 0o700 });
  store = await startSftpStore();
});
afterEach(async () => {
  await store.stop();
  await rm(home, { recursive: true });
});

async function keyFile(name: string, text: string): Promise<string> {
  const path = join(home, '.ssh', name);
  await writeFile(path, text);
  await chmod(path, 0o600);
  return path;
}

async function target(config: string, known: readonly (readonly [name: string, key: string])[]) {
  await keyFile('config', config);
  await keyFile('known_hosts', known.map((entry) => `${entry.join(' ')}\n`).join(''));
  const place = { kind: 'sftp', user: 'u', host: 'goal', port: 22, directory: '/keep' } as const;
  return await prepareTarget(
    place,
    'sftp://u@goal/keep',
    identityOf({}, { home, environment: { PATH: process.env['PATH'] } }),
  );
}

test('with IdentitiesOnly the keys that are named are offered, and no others', async () => {
  const [right, other] = [makeKey(), makeKey()];
  const gate = await startGate(right.public, 5);
  const named = await keyFile('right', right.private);
  await keyFile('id_ecdsa', other.private);
  const lines = `HostName 127.0.0.1\nPort ${gate.port}\nIdentityFile ${named}\nIdentitiesOnly yes`;
  const { credentials } = await target(lines, []);
  expect(credentials.methods.map(({ type }) => type)).toEqual(['publickey']);
  const all = await target(lines.replace('IdentitiesOnly yes', 'IdentitiesOnly no'), []);
  expect(all.credentials.methods.length).toBe(2);
  gate.close();
});

test('a sign-in that ends after many keys is told as that', async () => {
  const files = [];
  for (const name of ['a', 'b', 'c', 'd']) files.push(await keyFile(name, makeKey().private));
  const gate = await startGate(makeKey().public, 2);
  const lines = files.map((file) => `IdentityFile ${file}\n`).join('');
  const asked = await target(`HostName 127.0.0.1\nPort ${gate.port}\n${lines}`, [
    [`[127.0.0.1]:${gate.port}`, gate.publicKey],
  ]);
  await expect(connect(asked, live)).rejects.toMatchObject({
    kind: 'denied',
    message: expect.stringContaining('too many wrong keys') as unknown,
    hint: expect.stringContaining('IdentitiesOnly') as unknown,
  });
  gate.close();
});

test('a server behind another is reached through it, and each proves who it is', async () => {
  const right = makeKey();
  const gate = await startGate(right.public, 5);
  const named = await keyFile('id_ecdsa', right.private);
  const config = `Host gate\n HostName 127.0.0.1\n Port ${gate.port}\n User g\n IdentityFile ${named}
Host goal\n HostName 10.99.0.1\n Port ${store.port}\n ProxyJump gate`;
  const goal = [`[10.99.0.1]:${store.port}`, store.publicKey] as const;
  const asked = await target(config, [[`[127.0.0.1]:${gate.port}`, gate.publicKey], goal]);
  const { client, socket } = await connect(asked, live);
  expect(gate.led).toEqual([`10.99.0.1:${store.port}`]);
  client.destroy();
  socket.destroy();
  await expect(connect(await target(config, [goal]), live)).rejects.toMatchObject({
    message: expect.stringContaining('is unknown to this machine') as unknown,
  });
  gate.close();
});

test.skipIf(process.platform === 'win32')(
  'a program leads to a server, whose key goes by its alias',
  async () => {
    const code = `const s = require('net').connect(${store.port}, '127.0.0.1'); process.stdin.pipe(s).pipe(process.stdout)`;
    const script = await keyFile('way.cjs', code);
    await keyFile('id_ecdsa', makeKey().private);
    const config = `Host goal\n HostKeyAlias vault\n ProxyCommand exec '${process.execPath}' '${script}' %h`;
    const { client, socket } = await connect(await target(config, [['vault', store.publicKey]]), live);
    expect(socket.bytesRead).toBeGreaterThan(0);
    client.destroy();
    socket.destroy();
  },
);

test('a way that forms a loop is refused', async () => {
  await expect(target('Host *\n ProxyJump u@gate\n', [])).rejects.toMatchObject({ kind: 'unsupported' });
});
