/** What a repository lies in is neither backed up nor restored over, whether or not the settings name it. */
// Turn 7 of 8.
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import type { Job, RestoreSpec } from '../../src/jobs/job.ts';
import { openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';
import { signedIn } from '../support/signed-in.ts';
import { namesBelow } from '../support/names-below.ts';

async function backUpTo(site: DaemonSite, destination?: string): Promise<Job> {
  const request = { source: site.source, destination, options: {} };
  const job = await site.ended((await site.agent.requestBackup(request, 'api')).id);
  expect(job).toMatchObject({ status: 'completed', result: 'success' });
  return job;
}

function inPlace(snapshot: Job): RestoreSpec {
  return {
    type: 'restore',
    destination: 'default',
    snapshot_id: String(snapshot.snapshot_id),
    paths: [],
    target: null,
    options: {
      overwrite: 'if_changed',
      dry_run: false,
      verify: true,
      delete_extra: true,
      restore_ownership: false,
    },
  };
}

test('a repository that a request named by its URL, inside of what is backed up', async () => {
  await using site = await openDaemonSite();
  site.write({ 'a.txt': 'a' });
  const store = join(site.source, 'store');
  mkdirSync(store);
  const first = await backUpTo(site);
  await backUpTo(site, pathToFileURL(store).href);
  expect(existsSync(join(store, 'packs'))).toBe(true);

  // By the agent that made it, and by the next one.
  for (const again of [false, true]) {
    if (again) await site.restart();
    expect(await backUpTo(site)).toMatchObject({ files_done: 1 });
    await expect(site.agent.requestBackup({ source: store, options: {} }, 'api')).rejects.toMatchObject({
      details: { reason: 'inside_repository' },
    });
    const ask = await signedIn(site);
    const refused = await ask('POST', '/v1/restore', {
      snapshot_id: first.snapshot_id,
      target: `${store}/data`,
    });
    expect(refused).toMatchObject({ status: 400, error: { details: { reason: 'inside_repository' } } });
  }

  const before = namesBelow(store).length;
  const restored = await site.ended((await site.agent.submit(inPlace(first), 'api')).id);
  expect(restored).toMatchObject({ status: 'completed' });
  expect(namesBelow(store)).toHaveLength(before);

  // Once it is deleted, what else comes to lie there is somebody's data.
  for (const name of readdirSync(store)) rmSync(join(store, name), { recursive: true });
  writeFileSync(join(store, 'b.txt'), 'b');
  expect(await backUpTo(site)).toMatchObject({ files_done: 2 });
});

test('a repository is checked and pruned by any spelling of its place', async () => {
  await using site = await openDaemonSite();
  site.write({ 'a.txt': 'a' });
  const drive = join(site.directory, 'drive');
  await backUpTo(site, drive);
  const ask = await signedIn(site);
  for (const spelling of [drive, `${drive}/`, `file://${drive}`, `file://${drive}/`])
    for (const route of ['/v1/check', '/v1/prune']) {
      const { status, data } = await ask('POST', route, { destination: spelling });
      expect({ route, spelling, status }).toEqual({ route, spelling, status: 202 });
      expect(await site.ended(String(data?.['id']))).toMatchObject({
        status: 'completed',
        spec: { destination: `file://${drive}` },
      });
    }
  expect(await ask('POST', '/v1/check', { destination: `${drive}2` })).toMatchObject({
    status: 400,
    error: { code: 'INVALID_DESTINATION', details: { field: 'destination' } },
  });
  for (const list of ['/backup', '/restore', '/check', '/prune'])
    expect(await ask('GET', `/v1${list}?destination=file:///%25zz`)).toMatchObject({ status: 200 });
});

test('a source is found as it is spelled in backups, with or without a slash at its end', async () => {
  await using site = await openDaemonSite();
  site.write({ 'a.txt': 'a' });
  await backUpTo(site);
  const ask = await signedIn(site);
  const source = encodeURIComponent(`${site.source}//`);
  for (const list of ['/backup', '/snapshots', '/files', '/files/versions'])
    expect({
      list,
      items: (
        await ask(
          'GET',
          `/v1${list}?source=${source}&path=${encodeURIComponent(`${site.source}/a.txt`)}`.replace(
            list === '/backup' || list === '/snapshots' ? /&path=.*/ : /$^/,
            '',
          ),
        )
      ).data?.['items'],
    }).toEqual({ list, items: [expect.anything()] });
  const target = join(site.directory, 'target');
  expect(await ask('POST', '/v1/restore', { source: `${site.source}/`, target })).toMatchObject({
    status: 202,
  });
});

test('in place goes only where all of a snapshot may go', async () => {
  await using site = await openDaemonSite();
  site.write({ 'a.txt': 'a' });
  const { snapshot_id: id } = await backUpTo(site);
  await site.configure({ restore: { allowedRoots: [join(site.source, 'inner')] } });
  const ask = await signedIn(site);
  const body = { snapshot_id: id, in_place: true, options: { dry_run: true } };
  const inner = join(site.source, 'inner');
  const b64 = (path: string): object => ({ path_b64: Buffer.from(path, 'latin1').toString('base64url') });
  for (const path of [b64('\xff'), b64(`${inner}/\xff/../../a.txt`), `${inner}/../a.txt`, 'etc/shadow'])
    expect(await ask('POST', '/v1/restore', { ...body, paths: [path] })).toMatchObject({
      status: 400,
      error: { details: { reason: 'not_allowed' } },
    });
  expect(await ask('POST', '/v1/restore', body)).toMatchObject({
    status: 400,
    error: { details: { reason: 'not_allowed' } },
  });
});
