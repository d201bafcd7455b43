/** What somebody asks of a source that the settings have counts as they say, in whichever of its spellings it is asked. */
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';

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
    await site.ended((await site.agent.requestBackup({ source: site.source, destination: 'default', options: {} }, 'api')).id);
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
