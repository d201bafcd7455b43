import { once } from 'node:events';
import { createServer, Server } from 'node:http';
import { networkInterfaces } from 'node:os';
import { afterEach, describe, expect, test } from 'vitest';
import { endServer, listenOnLoopback } from '../../../src/api/connections/listening.ts';

const opened: Server[] = [];

function server(): Server {
  const made = createServer((_request, response) => response.end('x'));
  opened.push(made);
  return made;
}

/** Fails to listen the first `times` times, as the system does with that code. */
function failing(code: string, times = Number.POSITIVE_INFINITY): Server {
  let left = times;
  const made = new (class extends Server {
    override listen(...options: unknown[]): this {
      left -= 1;
      if (left < 0) return Reflect.apply(Server.prototype.listen, this, options);
      process.nextTick(() => this.emit('error', Object.assign(new Error('no'), { code })));
      return this;
    }
  })();
  opened.push(made);
  return made;
}

const hasSix = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
);

afterEach(async () => {
  await Promise.all(opened.splice(0).map(async (one) => await endServer(one, 100)));
});

describe('listening on loopback', () => {
  test.runIf(hasSix)('takes the same port on both addresses', async () => {
    const [four, six] = [server(), server()];
    const { port, hosts, notes } = await listenOnLoopback(four, six, 0);
    expect(hosts).toEqual([`127.0.0.1:${port}`, `[::1]:${port}`]);
    expect(notes).toEqual([]);
    expect([four.address(), six.address()]).toMatchObject([
      { address: '127.0.0.1', port },
      { address: '::1', port },
    ]);
  });

  test('does without IPv6 where there is none, and says so', async () => {
    for (const code of ['EADDRNOTAVAIL', 'EAFNOSUPPORT']) {
      const { port, hosts, notes } = await listenOnLoopback(server(), failing(code), 0);
      expect(hosts).toEqual([`127.0.0.1:${port}`]);
      expect(notes).toEqual([expect.stringContaining('no IPv6')]);
    }
  });

  test('looks for another port when one is free on one address only, unless the port was chosen', async () => {
    const { hosts } = await listenOnLoopback(server(), failing('EADDRINUSE', 3), 0).catch(
      (error: unknown) => {
        if (hasSix) throw error;
        return { hosts: ['', ''] };
      },
    );
    expect(hosts.length).toBeGreaterThanOrEqual(1);

    const taken = server();
    taken.listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    await expect(listenOnLoopback(server(), server(), port)).rejects.toMatchObject({ code: 'PORT_TAKEN' });
    const four = server();
    await expect(listenOnLoopback(four, failing('EADDRINUSE'), port + 1)).rejects.toMatchObject({
      side: 'state',
    });
    expect(four.listening).toBe(false);
  });

  test('says it when the user may not use the port', async () => {
    await expect(listenOnLoopback(failing('EACCES'), server(), 1)).rejects.toMatchObject({
      code: 'PORT_NOT_ALLOWED',
      hint: expect.stringContaining('--port'),
    });
  });
});
