/** Who is let in by a WebDAV server, whom it is believed to be, and what is found out about it. */
import { connect } from 'node:net';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { once } from 'node:events';
import { afterAll, expect, test } from 'vitest';
import { openWebdavDestination } from '../../src/destination/webdav/webdav.ts';
import { startApache } from '../servers/apache.ts';
import { startNginx } from '../servers/nginx.ts';
import { runCommand } from '../servers/run-command.ts';
import { startOrSkip } from '../servers/unavailable.ts';

const live = new AbortController().signal;

for (const authentication of ['basic', 'digest'] as const) {
  const found = await startOrSkip(async () => await startApache({ authentication }));
  if ('missing' in found) {
    test.skip(`Apache was not tested: ${found.missing}`, () => {});
    continue;
  }
  const { server } = found;
  afterAll(async () => await server.stop());

  test(`${authentication} authentication lets in whoever knows the password, and nobody else`, async () => {
    const place = server.place('trust');
    const destination = await openWebdavDestination(place, server.access, { create: true });
    await destination.put('a', Buffer.from('a'), live);
    expect((await destination.get('a', undefined, live)).toString()).toBe('a');
    await destination.close();
    const open = async (access: object) =>
      await openWebdavDestination(place, access).catch((error: unknown) => error);
    expect(await open({ password: 'wrong' })).toMatchObject({ kind: 'denied' });
    expect(await open({})).toMatchObject({ kind: 'denied' });
    expect(await open({ token: 'wrong' })).toMatchObject({ kind: 'denied' });
  });
}

const found = await startOrSkip(startNginx);
if ('missing' in found) test.skip(`nginx was not tested: ${found.missing}`, () => {});
else {
  const { server } = found;
  afterAll(async () => await server.stop());

  test('a folder that is absent is not made unless that is asked for, and a file is none', async () => {
    const open = async (name: string) =>
      await openWebdavDestination(server.place(name), {}).catch((error: unknown) => error);
    expect(await open('absent/below')).toMatchObject({ kind: 'not-found' });
    await writeFile(join(server.data, 'file'), 'x');
    expect(await open('file')).toMatchObject({ kind: 'unsupported' });
  });

  test('a certificate must be trusted, and that of another host never is', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'holdfast-tls-'));
    const at = (name: string): string => join(directory, name);
    const request =
      'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost';
    const names = ['-addext', 'subjectAltName=DNS:localhost', '-keyout', at('key'), '-out', at('cert')];
    await runCommand('openssl', [...request.split(' '), ...names]);
    const sockets = new Set<Socket>();
    const options = { key: await readFile(at('key')), cert: await readFile(at('cert')) };
    const front = createServer(options, (near) => {
      const far = connect(server.port, '127.0.0.1');
      for (const socket of [near, far]) sockets.add(socket.on('error', () => undefined));
      near.pipe(far).pipe(near);
    }).listen(0, '127.0.0.1');
    front.on('tlsClientError', () => undefined);
    await once(front, 'listening');
    const { port } = front.address() as AddressInfo;
    try {
      const open = async (host: string, access: object) =>
        await openWebdavDestination(
          { kind: 'webdav', url: `https://${host}:${port}/tls`, user: undefined },
          access,
          { create: true },
        );
      const refused = async (host: string, access: object) =>
        await open(host, access).catch((error: unknown) => error);
      expect(await refused('localhost', {})).toMatchObject({
        kind: 'denied',
        message: expect.stringContaining('certificate'),
      });
      expect(await refused('127.0.0.1', { caFile: at('cert') })).toMatchObject({ kind: 'denied' });
      // Behind such a front the server knows itself by another scheme.
      const destination = await open('localhost', { caFile: at('cert') });
      await destination.put('packs/00/a', Buffer.from('a'), live);
      expect((await destination.get('packs/00/a', undefined, live)).toString()).toBe('a');
      expect(destination.properties.url).toBe(`webdavs://localhost:${port}/tls`);
      await destination.close();
    } finally {
      for (const socket of sockets) socket.destroy();
      front.close();
      await rm(directory, { recursive: true });
    }
  });
}
