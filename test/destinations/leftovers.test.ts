/** What killed runs leave on servers is removed a day later, by the time of the server, and nothing else is. */
import { existsSync } from 'node:fs';
import { chown, mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Destination } from '../../src/destination/destination.ts';
import { openRcloneDestination } from '../../src/destination/rclone/rclone.ts';
import { openSftpDestination } from '../../src/destination/sftp/sftp.ts';
import { openWebdavDestination } from '../../src/destination/webdav/webdav.ts';
import { startApache } from '../servers/apache.ts';
import { startNginx } from '../servers/nginx.ts';
import { startOpenSsh } from '../servers/open-ssh.ts';
import { makeRcloneRemote } from '../servers/rclone.ts';
import { startOrSkip } from '../servers/unavailable.ts';

const live = new AbortController().signal;
const HOUR_MS = 3_600_000;

interface Reached {
  open(appendOnly?: boolean): Promise<Destination>;
  /** Where its objects lie on this machine. */
  readonly directory: string;
  readonly hasAppendOnly?: boolean;
  /** Claims are folders there, and names do not begin with a dot, which some servers hide. */
  readonly isWebdav?: boolean;
  stop(): Promise<void>;
}

async function overSftp(): Promise<Reached> {
  const { place, access, data, stop } = await startOpenSsh();
  return {
    open: async (appendOnly = false) =>
      await openSftpDestination(place('one'), { ...access, appendOnly }, { create: true }),
    directory: join(data, 'one'),
    hasAppendOnly: true,
    stop,
  };
}

async function overWebdav(start: typeof startNginx): Promise<Reached> {
  const { place, access, data, stop } = await start();
  return {
    open: async () => await openWebdavDestination(place('one'), access, { create: true }),
    directory: join(data, 'one'),
    isWebdav: true,
    stop,
  };
}

async function byRclone(): Promise<Reached> {
  const { place, access, data, stop } = await makeRcloneRemote();
  return {
    open: async () => await openRcloneDestination(place('one'), access, { create: true }),
    directory: join(data, 'one'),
    stop,
  };
}

for (const [name, start] of [
  ['OpenSSH', overSftp],
  ['Apache', async () => await overWebdav(startApache)],
  ['nginx', async () => await overWebdav(startNginx)],
  ['a remote of rclone', byRclone],
] as const) {
  const found = await startOrSkip<Reached>(start);
  if ('missing' in found) {
    test.skip(`${name} was not tested: ${found.missing}`, () => {});
    continue;
  }
  const { open, directory, hasAppendOnly = false, isWebdav = false, stop } = found.server;
  afterAll(async () => await stop());

  /** A name as puts make them. */
  const temporary = (digit: string): string => `${isWebdav ? '~' : ''}.tmp-${digit.repeat(32)}~`;

  /** As a killed run would have left it so many hours ago, owned by the server. */
  async function leave(path: string, hours: number): Promise<void> {
    const full = join(directory, path);
    const { uid, gid } = await stat(directory);
    await mkdir(dirname(full), { recursive: true });
    if (path.endsWith('/')) await mkdir(full);
    else await writeFile(full, 'half an obj');
    await chown(full, uid, gid);
    const time = new Date(Date.now() - hours * HOUR_MS);
    await utimes(full, time, time);
  }

  test(`on ${name} temporary files go once they are a day old`, async () => {
    const destination = await open();
    await destination.put('packs/00/a', Buffer.from('an object'), live);
    await destination.put('keys/b', Buffer.from('another'), live);
    for (const key of ['packs/00/a', 'keys/b']) {
      const time = new Date(Date.now() - 100 * HOUR_MS);
      await utimes(join(directory, key), time, time);
    }
    const old = [temporary('0'), `packs/00/${temporary('1')}`];
    const young = [temporary('2'), `packs/00/${temporary('3')}`];
    const foreign = ['.tmp-of-somebody-else~', `packs/00/${temporary('4')}x`, 'packs/00/README'];
    for (const path of old) await leave(path, 25);
    for (const path of young) await leave(path, 23);
    for (const path of foreign) await leave(path, 1000);
    if (isWebdav) await leave(`packs/00/${temporary('5')}/`, 25);

    const removed = await destination.removeLeftovers?.(live);
    expect(removed).toEqual({
      files: old.length + (isWebdav ? 1 : 0),
      bytes: 2 * 'half an obj'.length,
    });
    for (const path of old) expect(existsSync(join(directory, path)), path).toBe(false);
    expect(existsSync(join(directory, 'packs/00', temporary('5')))).toBe(false);
    for (const path of [...young, ...foreign]) expect(existsSync(join(directory, path)), path).toBe(true);
    // And nothing of its own.
    const left = (await readdir(directory)).filter((one) => one.includes('.tmp-'));
    expect(left.toSorted()).toEqual(['.tmp-of-somebody-else~', temporary('2')].toSorted());
    for (const [key, text] of [
      ['packs/00/a', 'an object'],
      ['keys/b', 'another'],
    ] as const)
      expect((await destination.get(key, undefined, live)).toString()).toBe(text);
    await destination.close();
  });

  if (hasAppendOnly)
    test(`on ${name} an account that may only add removes nothing`, async () => {
      const destination = await open(true);
      expect(destination.removeLeftovers).toBeUndefined();
      await destination.close();
    });
}
