/**
 * A write-only key stores a snapshot in the name of the agent's own machine, of its paths and begun in an hour: API, folder,
 * restores, drills and backups of the agent do not take it for theirs, and an alarm says so once.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RestoreSpec } from '../../src/jobs/job.ts';
import { PASSPHRASE, eventually, openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';
import { openForgerAt, type Forger } from '../support/forged-snapshot.ts';
import { addresses, dav, pathOf } from '../support/webdav-client.ts';
import { restoredPath } from '../support/restored-path.ts';

interface Told {
  readonly data: {
    readonly id: string;
    readonly created_at: string;
    readonly claimed_start: string | null;
    readonly stored_by: {
      readonly key: string;
      readonly write_only_key: number | null;
      readonly label: string | null;
    };
  };
}

let site: DaemonSite;
let thief: Forger;
let genuine: string;
let forged: string;

beforeAll(async () => {
  site = await openDaemonSite();
  site.write({ 'a.txt': 'genuine' });
  await site.configure({
    sources: [{ path: site.source, schedule: 'every 12h', watch: false, destinations: ['usb'] }],
    destinations: { usb: { url: join(site.directory, 'usb') } },
    defaultDestination: 'usb',
    maintenance: { prune: 'off', check: 'off', drill: 'off' },
  });
  const first = await eventually(() => site.jobs('backup')[0], 'the first backup');
  genuine = (await site.ended(first.id)).snapshot_id ?? '';
  thief = await openForgerAt(join(site.directory, 'usb'), PASSPHRASE);
  writeFileSync(join(site.source, 'a.txt'), 'forged');
  forged = (await thief.store(site.source)).id;
  writeFileSync(join(site.source, 'a.txt'), 'genuine');
  // Any job makes the catalog look.
  await site.ended((await site.ask('check', { destination: 'usb', read_data: 0 })).id);
  await eventually(async () => (await site.agent.snapshots({ limit: 9 })).length === 2, 'both snapshots');
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

async function restoredFrom(id: string, name: string): Promise<string> {
  const { destination, stored_by: by } = await site.agent.snapshot(id);
  const target = join(site.directory, name);
  mkdirSync(target);
  const options = {
    overwrite: 'always',
    dry_run: false,
    verify: true,
    delete_extra: false,
    restore_ownership: false,
  } as const;
  const { id: snapshot } = await site.agent.snapshot(id);
  const spec: RestoreSpec = {
    type: 'restore',
    destination,
    snapshot_id: snapshot,
    stored_by: by,
    paths: [],
    target,
    options,
  };
  const { id: job } = await site.agent.submit(spec, 'api');
  expect(await site.ended(job)).toMatchObject({ status: 'completed' });
  return readFileSync(restoredPath(target, site.source, 'a.txt'), 'utf8');
}

test('the latest snapshot is that of full keys; the other one is named, by whom, and when the storage got it', async () => {
  const latest = await site.get<Told>('/v1/snapshots/latest');
  expect(latest.data).toMatchObject({ id: genuine, stored_by: { key: 'full', write_only_key: null } });
  const source = encodeURIComponent(site.source);
  expect((await site.get<Told>(`/v1/snapshots/latest?source=${source}`)).data.id).toBe(genuine);
  const own = await site.get<Told>('/v1/snapshots/latest?stored_by=1');
  expect(own.data).toMatchObject({ id: forged, stored_by: { write_only_key: 1, label: 'web1' } });
  expect(Date.parse(own.data.created_at)).toBeLessThan(Date.now() + 60_000);
  expect(Date.parse(own.data.claimed_start ?? '')).toBeGreaterThan(Date.now() + 50 * 60_000);
  expect((await site.get<Told>(`/v1/snapshots/latest?stored_by=${own.data.stored_by.key}`)).data.id).toBe(
    forged,
  );
  const listed = await site.get<{ data: { items: readonly { id: string }[] } }>(
    '/v1/snapshots?stored_by=full',
  );
  expect(listed.data.items.map(({ id }) => id)).toEqual([genuine]);
});

test('files, versions and contents are those of full keys', async () => {
  const path = encodeURIComponent(join(site.source, 'a.txt'));
  interface Items {
    readonly data: {
      readonly items: readonly { readonly snapshot_id: string; readonly stored_by: { key: string } }[];
    };
  }
  for (const address of [`/v1/files?q=a.txt`, `/v1/files/versions?path=${path}`]) {
    const { data } = await site.get<Items>(address);
    expect(data.items.map((one) => [one.snapshot_id, one.stored_by.key])).toEqual([[genuine, 'full']]);
    const mark = address.includes('?') ? '&' : '?';
    const own = await site.get<Items>(`${address}${mark}stored_by=1`);
    expect(own.data.items.map((one) => one.snapshot_id)).toEqual([forged]);
  }
  // In an hour from now both would be older than that.
  const later = new Date(Date.now() + 3 * 3_600_000).toISOString();
  const at = await site.get<Items>(`/v1/files?q=a.txt&snapshot=${encodeURIComponent(later)}`);
  expect(at.data.items.map((one) => one.snapshot_id)).toEqual([genuine]);
});

test('a restore of the latest, or of a source, brings what full keys stored', async () => {
  expect(await restoredFrom('latest', 'from latest')).toBe('genuine');
  expect((await site.agent.newestOf(site.source, undefined)).id).toBe(genuine);
  expect((await site.agent.newestOf(site.source, Date.now() + 3 * 3_600_000)).id).toBe(genuine);
  expect(await restoredFrom(forged, 'by its id')).toBe('forged');
  const [job] = site.jobs('restore');
  expect(job?.spec).toMatchObject({ stored_by: { kind: 'write-only-key', number: 1, label: 'web1' } });
});

test('what only a write-only key stored in the name of this machine is not restored as its own', async () => {
  writeFileSync(join(site.source, 'a.txt'), 'forged elsewhere');
  const elsewhere = join(site.directory, 'elsewhere');
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, 'x'), 'forged');
  await thief.store(elsewhere);
  writeFileSync(join(site.source, 'a.txt'), 'genuine');
  await site.ended((await site.ask('check', { destination: 'usb', read_data: 0 })).id);
  await eventually(async () => (await site.agent.snapshots({ limit: 9 })).length === 3, 'three snapshots');
  await expect(site.agent.newestOf(elsewhere, undefined)).rejects.toThrow('write-only key 1 (web1)');
  const named = await site.agent.newestOf(elsewhere, undefined, ['1']);
  expect(named.stored_by).toMatchObject({ number: 1 });
});

test('the folder shows it under a name of its own', async () => {
  const { address } = await site.ask('turn_on_webdav', {});
  const folders = await eventually(async () => {
    site.clock.skip(10_000);
    const found = await addresses(site.daemon.listening.port, pathOf(address));
    return found.length > 2 ? found : undefined;
  }, 'the folders');
  const names = folders.map((one) => decodeURIComponent(one)).filter((one) => one.includes('+source'));
  expect(names.filter((one) => one.includes('@'))).toEqual([
    expect.stringMatching(new RegExp(`@${hostname()}@key1-[0-9a-f]{8}`)),
  ]);
  const own = folders.find((one) => one.includes('source') && !decodeURIComponent(one).includes('@key'));
  expect((await dav(site.daemon.listening.port, `${own}latest/a.txt`)).text).toBe('genuine');
});

test('the next backup is compared with the last one of full keys, and a drill of both fails for neither', async () => {
  const job = await site.backUp();
  expect(job).toMatchObject({ status: 'completed', progress: { files_unchanged: 1, files_new: 0 } });
  const drill = await site.ended((await site.ask('drill', { destination: 'usb', files: 5 })).id);
  expect(drill).toMatchObject({ status: 'completed', files_done: 1 });
});

test('an alarm says so, until somebody has acknowledged it, and not again for the next night', async () => {
  const [alarm, ...others] = await site.ask('alarms', {});
  expect(others).toEqual([]);
  expect(alarm).toMatchObject({ kind: 'claimed', source: hostname() });
  expect(alarm?.text).toContain('Write-only key 1 (web1) stored a backup in the name of');
  const status = await site.ask('status', {});
  expect(status.headline).toMatchObject({ code: 'name_claimed', level: 'bad' });
  expect((await site.status()).headline.code).toBe('name_claimed');
  await site.ask('acknowledge', {});
  await thief.store(site.source);
  await site.ended((await site.ask('check', { destination: 'usb', read_data: 0 })).id);
  await eventually(async () => (await site.agent.snapshots({ limit: 9 })).length === 5, 'the next night');
  await site.restart();
  expect(await site.ask('alarms', {})).toEqual([]);
  expect((await site.ask('status', {})).headline.code).not.toBe('name_claimed');
});
