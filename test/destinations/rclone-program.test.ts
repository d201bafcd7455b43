/** The rclone program as a child: when it ends, and that it outlives nobody. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openRcloneDestination } from '../../src/destination/rclone/rclone.ts';
import { makeRcloneRemote } from '../servers/rclone.ts';
import { startOrSkip } from '../servers/unavailable.ts';
import { SOURCE_FLAGS } from '../support/node-flags.ts';

const live = new AbortController().signal;
const found = await startOrSkip(makeRcloneRemote);

if ('missing' in found) test.skip(`rclone was not tested: ${found.missing}`, () => {});
else {
  const { server } = found;
  afterAll(async () => await server.stop());
  const configFile = server.access.configFile ?? '';

  /** Those that were started with the configuration of this test. */
  async function programs(): Promise<readonly number[]> {
    const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const lines = await Promise.all(
      names.map(async (name) => await readFile(join('/proc', name, 'cmdline'), 'utf8').catch(() => '')),
    );
    return names.filter((_, index) => lines[index]?.includes(`${configFile}\0`)).map(Number);
  }

  test('a remote that is not configured, and a folder that is absent, are not found', async () => {
    const place = server.place('absent');
    const absent = await openRcloneDestination(place, server.access).catch((error: unknown) => error);
    expect(absent).toMatchObject({ kind: 'not-found' });
    const unknown = await openRcloneDestination({ ...place, remote: 'unknown' }, server.access).catch(
      (error: unknown) => error,
    );
    expect(unknown).toMatchObject({ kind: 'not-found', hint: expect.stringContaining('listremotes') });
    expect(await programs()).toEqual([]);
  });

  test('it stays while it is idle, is started again when it ends, and goes with the destination', async () => {
    const destination = await openRcloneDestination(server.place('a'), server.access, { create: true });
    await destination.put('a', Buffer.from('a'), live);
    const [first] = await programs();
    // Longer than it waits for a greeting.
    await new Promise((resolve) => setTimeout(resolve, 12_000));
    expect(await programs()).toEqual([first]);
    process.kill(first ?? 0, 'SIGKILL');
    await expect.poll(programs, { timeout: 30_000 }).toEqual([]);
    const again = async () => await destination.get('a', undefined, live).then(String, () => 'not yet');
    await expect.poll(again, { timeout: 30_000 }).toBe('a');
    expect(await programs()).not.toEqual([first]);
    await destination.close();
    expect(await programs()).toEqual([]);
  });

  test('it does not outlive a process that is killed', async () => {
    const script = `
      import { openRcloneDestination } from '${join(import.meta.dirname, '../../src/destination/rclone/rclone.ts')}';
      await openRcloneDestination(${JSON.stringify(server.place('b'))}, ${JSON.stringify(server.access)}, { create: true });
      console.log('open');
    `;
    const child = spawn(process.execPath, [...SOURCE_FLAGS, '--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    const [pid] = (await programs()).filter((found) => found !== child.pid);
    expect(pid).toBeGreaterThan(0);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    await expect.poll(programs, { timeout: 30_000 }).toEqual([]);
  });

  test('its commands are closed to others on this machine', async () => {
    const destination = await openRcloneDestination(server.place('c'), server.access, { create: true });
    const [pid] = await programs();
    const port = await listeningPort(pid ?? 0);
    const reply = await fetch(`http://127.0.0.1:${port}/operations/list`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ fs: 'holdfast:', remote: '' }),
    });
    expect(reply.status).toBe(401);
    expect((await fetch(`http://127.0.0.1:${port}/%5Bholdfast:%5D/a`)).status).toBe(401);
    expect(await readFile(`/proc/${pid}/cmdline`, 'utf8')).not.toMatch(/pass(?:=|\0)/);
    await destination.close();
  });
}

/** Of the one socket that the process listens on, by the tables of Linux. */
async function listeningPort(pid: number): Promise<number> {
  const table = await readFile(`/proc/${pid}/net/tcp`, 'utf8');
  const links = await readdir(`/proc/${pid}/fd`);
  const targets = await Promise.all(
    links.map(async (fd) => await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')),
  );
  for (const line of table.split('\n').slice(1)) {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    if (state === '0A' && targets.includes(`socket:[${inode}]`))
      return Number.parseInt(local.split(':')[1] ?? '', 16);
  }
  throw new Error('it listens nowhere');
}
