/** What somebody asks of a source that the settings have counts as they say, in whichever of its spellings it is asked. */
// Turn 4 of 8.
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually, openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';
import { restoredPath } from '../support/restored-path.ts';

async function siteWithNas(source: object = {}): Promise<DaemonSite> {
  const site = await openDaemonSite();
  site.write({ 'a.txt': 'one' });
  const { directory, source: path } = site;
  await site.configure({
    destinations: { nas: { url: join(directory, 'nas') } },
    sources: [{ path, destination: 'nas', watch: false, schedule: 'off', ...source }],
  });
  return site;
}

describe('a backup whose request says little', () => {
  test('goes where the settings send the source, and is stored as they say', async () => {
    await using site = await siteWithNas({ encryption: false, compression: 'none', tags: ['kept'] });
    const { spec, status } = await site.backUp();
    expect({ status, spec }).toMatchObject({
      status: 'completed',
      spec: { destination: 'nas', options: { encryption: false, compression: 'none', tags: ['kept'] } },
    });
    const tried = await site.backUp({ dry_run: true, compression: 'zstd:9', tags: [] });
    expect(tried.spec).toMatchObject({
      destination: 'nas',
      options: { dry_run: true, encryption: false, compression: 'zstd:9', tags: [] },
    });
  });

  test('names the source by a link to it', async () => {
    await using site = await siteWithNas();
    const link = join(site.directory, 'link');
    symlinkSync(site.source, link);
    const { spec } = await site.agent.requestBackup({ source: link, options: {} }, 'api');
    expect(spec).toMatchObject({ destination: 'nas', source: site.source });
  });

  test('goes to the embedded repository by its name, though nothing has ever gone there', async () => {
    await using site = await siteWithNas();
    const { configFile, source } = site;
    const settings = JSON.parse(readFileSync(configFile, 'utf8')) as object;
    await site.configure({ ...settings, defaultDestination: 'nas' });
    expect(() => site.agent.destinationOf('embedded')).toThrow('Nothing has been backed up to');
    const request = { source, destination: 'embedded', options: {} };
    const job = await site.ended((await site.agent.requestBackup(request, 'api')).id);
    expect(job).toMatchObject({ status: 'completed', error: null, spec: { destination: 'embedded' } });
    expect(existsSync(join(site.state, 'repository', 'snapshots'))).toBe(true);
    const { id } = await site.agent.newestOf(source, undefined);
    expect(id).toBe(job.snapshot_id);
    expect(site.agent.destinationOf('embedded')).toBe('embedded');
    expect(() => site.agent.destinationOf('nowhere')).toThrow('nowhere');
  });

  test('of a source that the settings do not have goes to the default destination', async () => {
    await using site = await siteWithNas();
    const source = join(site.directory, 'other');
    mkdirSync(source);
    const { spec } = await site.agent.requestBackup({ source, options: {} }, 'api');
    expect(spec).toMatchObject({ source, destination: 'default', options: { encryption: true } });
  });
});

describe('a check that names no destination', () => {
  test('looks at the one that has the backups', async () => {
    await using site = await siteWithNas();
    expect(site.agent.destinationOf(undefined)).toBe('nas');
    await site.ended(
      (await site.agent.requestBackup({ source: site.source, destination: 'default', options: {} }, 'api'))
        .id,
    );
    expect(site.agent.destinationOf(undefined)).toBe('default');
  });

  test('asks which is meant where backups go to several, and none is the default one', async () => {
    await using site = await openDaemonSite();
    const { directory, source: path } = site;
    await site.configure({
      destinations: { nas: { url: join(directory, 'nas') }, usb: { url: join(directory, 'usb') } },
      sources: [{ path, destinations: ['nas', 'usb'], watch: false, schedule: 'off' }],
    });
    expect(() => site.agent.destinationOf(undefined)).toThrow('No destination was named');
  });
});

describe('a source behind a symbolic link', () => {
  async function siteBehindLink(): Promise<DaemonSite & { readonly link: string }> {
    const site = await openDaemonSite();
    site.write({ 'a.txt': 'one', 'below/b.txt': 'two' });
    const link = join(site.directory, 'link');
    symlinkSync(site.source, link);
    await site.configure({ sources: [{ path: link, watch: false, schedule: 'off' }] });
    expect(await site.endOfNext('backup', [])).toMatchObject({ status: 'completed', spec: { source: link } });
    return Object.assign(site, { link });
  }

  test('is listed, found and restored by its own path, and by where it lies', async () => {
    await using site = await siteBehindLink();
    const { agent, link, source, directory } = site;
    for (const path of [link, source]) {
      expect(await agent.snapshots({ source: path, limit: 5 })).toHaveLength(1);
      const listed = await agent.files({
        snapshot: 'latest',
        source: path,
        path,
        view: 'tree',
        sort: 'name',
        limit: 9,
      });
      expect(listed.items.map(({ name }) => name)).toEqual(['a.txt', 'below']);
      expect(await agent.versions(`${path}/below/b.txt`, path)).toHaveLength(1);
      expect((await agent.content('latest', `${path}/a.txt`)).size).toBe(3);
    }
    const snapshot = await agent.newestOf(link, undefined);
    expect(agent.pathIn(snapshot, link as never)).toBe(source);
    const target = join(directory, 'back');
    mkdirSync(target);
    const restore = await agent.submit(
      {
        type: 'restore',
        destination: 'default',
        snapshot_id: snapshot.id,
        paths: [`${link}/below`],
        target,
        options: {
          overwrite: 'never',
          dry_run: false,
          verify: true,
          delete_extra: false,
          restore_ownership: false,
        },
      },
      'api',
    );
    expect(await site.ended(restore.id)).toMatchObject({ status: 'completed', error: null });
    expect(readFileSync(restoredPath(target, source, 'below/b.txt'), 'utf8')).toBe('two');
    expect(agent.jobs({ types: ['backup'], source, limit: 5 })).toHaveLength(1);
  });

  test('that leads to an empty directory is no good backup, and what it led to before is still had by its name', async () => {
    await using site = await siteBehindLink();
    const { agent, link } = site;
    rmSync(link);
    mkdirSync(join(site.directory, 'empty'));
    symlinkSync(join(site.directory, 'empty'), link);
    const job = await site.ended((await agent.requestBackup({ source: link, options: {} }, 'api')).id);
    expect(job.error).toMatchObject({ code: 'SOURCE_SUSPICIOUSLY_EMPTY' });
    expect(job.error?.message).toContain(link);
    expect((await agent.content('latest', `${link}/a.txt`)).size).toBe(3);
  });
});

test('a source that is taken out before its first backup began, and put back, is backed up at once', async () => {
  await using site = await openDaemonSite();
  const paths = ['one', 'two'].map((name) => join(site.directory, name));
  for (const path of paths) mkdirSync(path);
  const [first = '', second = ''] = paths;
  const sources = paths.map((path) => ({ path, schedule: 'off', watch: false }));
  const backupsOf = (source: string) => site.agent.jobs({ types: ['backup'], source, limit: 10 });
  await site.agent.pause(null, false);
  await site.configure({ sources });
  await eventually(() => backupsOf(second).length === 1, 'its first backup');
  await site.configure({ sources: sources.slice(0, 1) });
  expect(backupsOf(second).map(({ status }) => status)).toEqual(['canceled']);
  await site.configure({ sources });
  const again = await eventually(
    () => backupsOf(second).find(({ status }) => status === 'queued'),
    'another',
  );
  expect(backupsOf(first)).toHaveLength(1);
  await site.agent.resume();
  expect(await site.ended(again.id)).toMatchObject({ status: 'completed' });

  // What a person has canceled stays so.
  await site.agent.pause(null, false);
  const third = join(site.directory, 'three');
  mkdirSync(third);
  const more = [...sources, { path: third, schedule: 'off', watch: false }];
  await site.configure({ sources: more });
  const { id } = await eventually(() => backupsOf(third)[0], 'the first backup of another');
  await site.agent.cancel(id);
  await site.configure({ sources: more, timeZone: 'UTC' });
  expect(backupsOf(third).map(({ status }) => status)).toEqual(['canceled']);
});
