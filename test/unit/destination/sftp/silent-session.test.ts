/** A server that lets one in and then never speaks SFTP, or so little that nothing comes of it: its program hangs, or it means to. */
import { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { toldWait } from '../../../../src/base/waits.ts';
import { connect } from '../../../../src/destination/sftp/connect.ts';
import { Lane } from '../../../../src/destination/sftp/lane.ts';
import { identityOf } from '../../../../src/destination/sftp/place.ts';
import { prepareTarget } from '../../../../src/destination/sftp/target.ts';
import { through } from '../../../../src/destination/sftp/way.ts';
import { openSftpDestination } from '../../../../src/destination/sftp/sftp.ts';
import { startSftpStore, type SftpStore } from '../../../support/sftp-store.ts';

/** Whoever is still waiting after ten seconds waits for ever here, and that is an answer. */
async function inTime(work: Promise<unknown>): Promise<unknown> {
  const over = new AbortController();
  const late = delay(10_000, 'still waiting', { signal: over.signal }).catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    over.abort();
  }
}

let directory: string;
let server: SftpStore;
let silent: PromiseWithResolvers<void>;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-sftp-'));
  silent = Promise.withResolvers();
  server = await startSftpStore({ onSilence: () => silent.resolve() });
});

afterEach(async () => {
  vi.useRealTimers();
  await server.stop();
  rmSync(directory, { recursive: true });
});

async function openThere(signal?: AbortSignal): Promise<unknown> {
  const hostKeyFile = join(directory, 'host.pub');
  writeFileSync(hostKeyFile, `${server.publicKey}\n`);
  return await openSftpDestination(
    { kind: 'sftp', user: 'keeper', host: '127.0.0.1', port: server.port, directory: '/keep' },
    { password: 'secret', hostKeyFile },
    {},
    signal,
  );
}

test('is given up after a minute', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const outcome = expect(openThere()).rejects.toMatchObject({
    kind: 'unreachable',
    details: { stalled: true },
  });
  await silent.promise;
  vi.advanceTimersByTime(61_000);
  await outcome;
});

test('is left at once by who is told to stop', async () => {
  const controller = new AbortController();
  const reason = new Error('stopped by the test');
  const outcome = expect(openThere(controller.signal)).rejects.toBe(reason);
  await silent.promise;
  controller.abort(reason);
  await outcome;
});

test('is told as what is waited for', async () => {
  const controller = new AbortController();
  const outcome = expect(openThere(controller.signal)).rejects.toThrow('over');
  await silent.promise;
  expect(toldWait(systemClock.monotonic() + 6_000)).toMatchObject({
    code: 'no_answer',
    params: { whom: 'store', silent_seconds: 6, given_up_in_seconds: 54 },
  });
  controller.abort(new Error('over'));
  await outcome;
});

test('a server on the way that never says whether it leads on is given up', async () => {
  const client = new EventEmitter() as unknown as Parameters<typeof through>[0]['client'];
  client.forwardOut = () => client;
  const wire = { bytesRead: 0, bytesWritten: 0, writableLength: 0, destroy: vi.fn() };
  const way = through({ client, wire, shown: 'between' }, 'far', 22, { url: 'sftp://far', patienceMs: 20 });
  await expect(inTime(way)).rejects.toMatchObject({ kind: 'unreachable', retry: 'later' });
  expect(wire.destroy).toHaveBeenCalled();
});

test('an object that comes byte by byte does not come', async () => {
  const dripping = await startSftpStore({
    fault: ({ kind, id }, sftp) => {
      if (kind !== 'READ') return false;
      setTimeout(() => sftp.data(id, Buffer.from('x')), 20);
      return true;
    },
  });
  dripping.files.set('/keep/a', Buffer.alloc(8_192));
  const hostKeyFile = join(directory, 'host.pub');
  writeFileSync(hostKeyFile, `${dripping.publicKey}\n`);
  const place = {
    kind: 'sftp',
    user: 'keeper',
    host: '127.0.0.1',
    port: dripping.port,
    directory: '/keep',
  } as const;
  const target = await prepareTarget(
    place,
    'sftp://drip',
    identityOf({ password: 'secret', hostKeyFile }, {}),
  );
  const lane = new Lane(await connect(target, new AbortController().signal), 'sftp://drip', () => {}, 600);
  const readAll = async (): Promise<void> => {
    const handle = await lane.open('/keep/a', 'read');
    for (let at = 0; at < 8_192;) at += await lane.read(handle, Buffer.alloc(8_192), at, 8_192 - at, at);
  };
  await expect(inTime(readAll())).rejects.toMatchObject({ kind: 'unreachable', details: { stalled: true } });
  await dripping.stop();
});
