/** Connections to SSH servers that are lost, cut or silent. */
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { DestinationError } from '../../src/base/errors.ts';
import { defaultRetryPolicy, withRetry } from '../../src/destination/retry.ts';
import { connect } from '../../src/destination/sftp/connect.ts';
import { prepareTarget } from '../../src/destination/sftp/target.ts';
import { Lane } from '../../src/destination/sftp/lane.ts';
import { identityOf } from '../../src/destination/sftp/place.ts';
import { openSftpDestination } from '../../src/destination/sftp/sftp.ts';
import { startOpenSsh } from '../servers/open-ssh.ts';
import { startOrSkip } from '../servers/unavailable.ts';
import { lossyProxy } from '../support/lossy-proxy.ts';

const live = new AbortController().signal;
const found = await startOrSkip(startOpenSsh);

if ('missing' in found) test.skip(`OpenSSH was not tested: ${found.missing}`, () => {});
else {
  const { server } = found;
  afterAll(async () => await server.stop());

  test('a put goes on after its connection was cut in the middle, and leaves one whole object', async () => {
    await using proxy = await lossyProxy(server.port);
    const failures: DestinationError[] = [];
    const policy = {
      ...defaultRetryPolicy,
      firstDelayMs: 50,
      onRetry: (e: DestinationError) => failures.push(e),
    };
    const place = { ...server.place('cut'), port: proxy.port };
    const destination = withRetry(await openSftpDestination(place, server.access, { create: true }), policy);
    const body = randomBytes(16_000_000);
    for (let round = 0; round < 5; round += 1) {
      const before = proxy.passed;
      const putting = destination.put(`packs/${round}`, body, live);
      while (proxy.passed < before + 1_000_000 * (round + 1))
        await new Promise((resolve) => setImmediate(resolve));
      proxy.cut();
      expect((await putting).size).toBe(body.byteLength);
      expect((await destination.get(`packs/${round}`, undefined, live)).equals(body)).toBe(true);
    }
    expect(failures.length).toBeGreaterThanOrEqual(5);
    expect(failures.map(({ kind }) => kind)).toEqual(failures.map(() => 'unreachable'));
    // What was left behind went with the next put that came through.
    await destination.put('last', Buffer.from('x'), live);
    await destination.close();
    const names = await readdir(join(server.data, 'cut', 'packs')).catch(() => ['0', '1', '2', '3', '4']);
    expect(names.toSorted()).toEqual(['0', '1', '2', '3', '4']);
  });

  test('a server that was away is used again once it is back', async () => {
    const destination = await openSftpDestination(server.place('away'), server.access, { create: true });
    await destination.put('a', Buffer.from('a'), live);
    await server.kill();
    const get = async () =>
      await destination.get('a', undefined, live).then(String, (error: DestinationError) => error.kind);
    await expect.poll(get, { timeout: 30_000 }).toBe('unreachable');
    expect(await get()).toBe('unreachable');
    await server.restart();
    expect((await destination.get('a', undefined, live)).toString()).toBe('a');
    await destination.close();
  });

  test('a line on which nothing moves is given up, and what waits for it fails', async () => {
    await using proxy = await lossyProxy(server.port);
    const place = { ...server.place('silent'), port: proxy.port };
    const target = await prepareTarget(place, 'sftp://silent', identityOf(server.access, {}));
    const lost: Lane[] = [];
    const lane = new Lane(await connect(target, live), 'sftp://silent', (gone) => lost.push(gone), 1_200);
    expect((await lane.stat('/')).type).toBe('directory');
    proxy.silence();
    const outcome = await lane.stat('/').catch((error: unknown) => error);
    expect(outcome).toMatchObject({ kind: 'unreachable', details: { stalled: true } });
    expect(lost).toEqual([lane]);
  });

  test('an abort is answered at once on a line on which nothing moves', async () => {
    await using proxy = await lossyProxy(server.port);
    const place = { ...server.place('abort'), port: proxy.port };
    const destination = await openSftpDestination(place, server.access, { create: true });
    proxy.silence();
    const controller = new AbortController();
    const reason = new Error('stopped by the test');
    const calls = [
      destination.put('a', Buffer.from('a'), controller.signal),
      destination.get('a', undefined, controller.signal),
      destination.stat('a', controller.signal),
      destination.delete('a', controller.signal),
    ].map(
      async (call) =>
        await call.then(
          () => 'done',
          (error: unknown) => error,
        ),
    );
    controller.abort(reason);
    expect(await Promise.all(calls)).toEqual([reason, reason, reason, reason]);
    proxy.cut();
    await destination.close();
  });

  test('one connection is enough where no more are allowed', async () => {
    const strict = await startOpenSsh();
    try {
      const place = strict.place('one');
      const destination = await openSftpDestination(
        place,
        { ...strict.access, connections: 1 },
        { create: true },
      );
      const keys = Array.from({ length: 40 }, (_, number) => `packs/${number}`);
      await Promise.all(keys.map(async (key) => await destination.put(key, Buffer.from(key), live)));
      expect((await strict.log()).match(/Accepted publickey/g)).toHaveLength(1);
      await destination.close();
    } finally {
      await strict.stop();
    }
  });
}
