/** How often servers with folders are asked, in calls of a destination: the table of docs/destinations.md. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { bytesOfText } from '../../src/base/byte-path.ts';
import { systemClock } from '../../src/base/clock.ts';
import { diffSnapshots } from '../../src/browse/diff.ts';
import { findEntries } from '../../src/browse/find.ts';
import { SnapshotTrees } from '../../src/browse/snapshot-trees.ts';
import { openCached, openLook, type CachedRepository } from '../../src/cache/open.ts';
import type { Destination } from '../../src/destination/destination.ts';
import { openRcloneDestination } from '../../src/destination/rclone/rclone.ts';
import { openSftpDestination } from '../../src/destination/sftp/sftp.ts';
import { openWebdavDestination } from '../../src/destination/webdav/webdav.ts';
import type { LookExtent } from '../../src/repository/first-look.ts';
import { openRepository } from '../../src/repository/opening.ts';
import { listSnapshots } from '../../src/repository/snapshots.ts';
import { startNginx } from '../servers/nginx.ts';
import { startOpenSsh } from '../servers/open-ssh.ts';
import { makeRcloneRemote } from '../servers/rclone.ts';
import { startOrSkip } from '../servers/unavailable.ts';
import { collect } from '../support/collect.ts';
import { never, openEngine, type Engine } from '../support/engine.ts';

interface Reached {
  open(): Promise<Destination>;
  stop(): Promise<void>;
}

async function overSftp(): Promise<Reached> {
  const { place, access, stop } = await startOpenSsh();
  return { open: async () => await openSftpDestination(place('one'), access, { create: true }), stop };
}

async function overWebdav(): Promise<Reached> {
  const { place, access, stop } = await startNginx();
  return { open: async () => await openWebdavDestination(place('one'), access, { create: true }), stop };
}

async function byRclone(): Promise<Reached> {
  const { place, access, stop } = await makeRcloneRemote();
  return { open: async () => await openRcloneDestination(place('one'), access, { create: true }), stop };
}

/** As a command opens it. */
async function openAs(engine: Engine, extent: LookExtent): Promise<CachedRepository> {
  const look = openLook(engine.calls, 'the place', extent, engine.directory);
  const options = { clock: systemClock, stateDirectory: undefined, look };
  const repository = await openRepository(look?.destination ?? engine.calls, engine.secret, options, never);
  return openCached(repository, engine.directory, systemClock);
}

for (const [name, start] of [
  ['OpenSSH', overSftp],
  ['nginx', overWebdav],
  ['a remote of rclone', byRclone],
] as const) {
  const found = await startOrSkip<Reached>(start);
  if ('missing' in found) {
    test.skip(`${name} was not tested: ${found.missing}`, () => {});
    continue;
  }
  const { open, stop } = found.server;
  afterAll(async () => await stop());

  test(`${name} is asked 13 times for an unchanged backup, and for 2 lists by who looks around`, async () => {
    await using engine = await openEngine({ destination: await open() });
    mkdirSync(join(engine.source, 'd'));
    for (let n = 0; n < 5; n += 1) writeFileSync(join(engine.source, 'd', `f${n}`), `content ${n}`);
    const backUp = async (): Promise<void> => {
      engine.calls.reset();
      const { repository, close } = await openAs(engine, 'everything');
      await engine.backup(undefined, { repository });
      close();
    };
    for (let n = 0; n < 3; n += 1) await backUp();
    // A directory above the source, which all tests share, may change at any time, and is then stored anew.
    const calls = engine.calls.calls.filter(
      ({ method, key }) => method !== 'put' || !/^(?:packs|index)\//.test(key),
    );
    expect(calls).toHaveLength(13);

    engine.calls.reset();
    const { repository, close } = await openAs(engine, 'page');
    const { live } = await listSnapshots(repository, never);
    const trees = new SnapshotTrees(repository, async () => {
      await Promise.resolve();
      throw new Error('an index is needed');
    });
    const [from, to] = [live[0], live.at(-1)];
    if (from === undefined || to === undefined) throw new Error('there are no snapshots');
    const path = bytesOfText('/');
    const names = await collect(findEntries(trees, live, { patterns: ['f*'] }, {}, never));
    expect(names).toHaveLength(3 * 5);
    await collect(
      diffSnapshots(trees, { snapshot: from, path }, { snapshot: to, path }, { directoryTimes: true }, never),
    );
    close();
    expect(engine.calls.calls.filter(({ method }) => method === 'list').map(({ key }) => key)).toEqual([
      'trash/',
      'snapshots/',
    ]);
    expect(engine.calls.count('get')).toBe(0);
    // One slot, and the newest ring and configuration, each with the one that would come after it.
    expect(engine.calls.count('stat')).toBe(5);
    expect(engine.calls.calls).toHaveLength(2 + 5);
  });
}
