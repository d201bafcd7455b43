/** What the agent says of directories that it could not read, and that it looks again. */
// Turn 4 of 8.
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { FileQuery } from '../../src/jobs/agent.ts';
import { eventually, openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';
import { addresses, dav, pathOf } from '../support/webdav-client.ts';
import { namesBelow } from '../support/names-below.ts';

const HOUR_MS = 3_600_000;

/** Of all packs below a directory. */
function packsBelow(directory: string): readonly string[] {
  return namesBelow(directory)
    .filter((path) => /(^|\/)packs\/.*[0-9a-f]{64}$/.test(path))
    .map((path) => join(directory, path));
}

function inTree(path: string): FileQuery {
  return { snapshot: 'latest', path, view: 'tree', sort: 'name', limit: 9 };
}

async function checkOf(site: DaemonSite): Promise<string | undefined> {
  return (await site.status()).checks.find(({ name }) => name === 'catalog')?.status;
}

test('a directory that cannot be read for a while is no empty one, and is listed once it is back', async () => {
  await using site = await openDaemonSite();
  site.write({ 'letters/first': '1', 'letters/second': '2' });
  await site.backUp();
  const away = packsBelow(site.state);
  expect(away).not.toEqual([]);
  site.write({ beside: '3' });
  await site.backUp();
  const letters = join(site.source, 'letters');
  await eventually(async () => (await site.agent.files(inTree(letters))).items.at(1), 'the letters');
  expect(await checkOf(site)).toBeUndefined();

  const aside = join(site.directory, 'aside');
  mkdirSync(aside);
  await site.restart(() => {
    for (const [i, path] of away.entries()) renameSync(path, join(aside, String(i)));
    rmSync(join(site.state, 'catalog'), { recursive: true });
  });
  await eventually(async () => await checkOf(site), 'the check of the catalog');

  expect(await checkOf(site)).toBe('warning');
  expect((await site.status()).status).toBe('degraded');
  expect(site.log.join('\n')).toContain('could not be read');
  await expect(site.agent.files(inTree(letters))).rejects.toMatchObject({ code: 'CORRUPT_DATA' });
  const around = await site.agent.files({ ...inTree(site.source), view: 'flat' });
  expect(around).toMatchObject({ unreadable: 1 });
  const { address } = await site.ask('turn_on_webdav', {});
  const { port } = site.daemon.listening;
  const [, source = ''] = await addresses(port, pathOf(address));
  const listed = async (): Promise<number> =>
    (await dav(port, `${source}latest/letters/`, { method: 'PROPFIND', headers: { depth: '1' } })).status;
  expect(await listed()).toBe(502);
  expect((await dav(port, `${source}latest/letters/first`)).status).toBe(502);

  for (const [i, path] of away.entries()) renameSync(join(aside, String(i)), path);
  site.clock.skip(HOUR_MS);
  await eventually(async () => ((await checkOf(site)) === undefined ? 'well' : undefined), 'the end of it');
  const { items } = await site.agent.files(inTree(letters));
  expect(items.map(({ name }) => name)).toEqual(['first', 'second']);
  expect(await listed()).toBe(207);
});
