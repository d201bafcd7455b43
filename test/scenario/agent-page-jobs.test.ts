/** Jobs of all types, drills and alarms, as the page of the real agent has them. */
// Turn 1 of 8.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { JobLog } from '../../src/api/schemas/job.ts';
import { Drill } from '../../src/api/schemas/job.ts';
import { Overview } from '../../src/api/schemas/page/overview.ts';
import { Alarms, AnyJob } from '../../src/api/schemas/page/jobs.ts';
import { PageOf } from '../../src/api/framework/route.ts';
import { openDaemonSite } from '../support/daemon-site.ts';
import { openPage, type DaemonPage } from '../support/daemon-page.ts';

const List = PageOf(AnyJob);

interface JobPage {
  readonly items: readonly AnyJob[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

async function listed(page: DaemonPage, query: string): Promise<JobPage> {
  return (await page.ask<JobPage>('GET', `/jobs${query}`, List)).data;
}

it('lists the jobs of all types, the newest first, with filters and in pages', async () => {
  await using site = await openDaemonSite();
  site.write({ a: 'one' });
  const backup = await site.backUp();
  const page = await openPage(site.daemon);
  const check = await site.agent.submit({ type: 'check', destination: 'default', read_data: 0 }, 'api');
  await site.ended(check.id);
  const drill = await page.ask<Drill>('POST', '/drill', Drill, { files: 1 });
  expect([drill.status, drill.data.files, drill.data.trigger]).toEqual([202, 1, 'ui']);
  expect(drill.headers.get('location')).toBe(`/internal/v1/jobs/${drill.data.id}`);
  await site.ended(drill.data.id);

  const all = await listed(page, '');
  expect(all.items.map(({ id }) => id)).toEqual([drill.data.id, check.id, backup.id]);
  expect(all).toMatchObject({ has_more: false, next_cursor: null });
  const ids = async (query: string) => (await listed(page, query)).items.map(({ id }) => id);
  expect(await ids('?type=check')).toEqual([check.id]);
  expect(await ids(`?source=${encodeURIComponent(site.source)}`)).toEqual([backup.id]);
  expect(await ids('?status=failed')).toEqual([]);
  expect(await ids('?destination=default&status=completed')).toHaveLength(3);
  expect(await ids('?destination=elsewhere')).toEqual([]);
  expect(await ids(`?created_after=${new Date(backup.created_at).toISOString()}`)).toHaveLength(2);

  const first = await listed(page, '?limit=2');
  expect(first.has_more).toBe(true);
  const rest = await listed(page, `?limit=2&cursor=${encodeURIComponent(first.next_cursor ?? '')}`);
  expect([...first.items, ...rest.items].map(({ id }) => id)).toEqual(all.items.map(({ id }) => id));
  const mixed = await page.refused(
    'GET',
    `/jobs?type=check&cursor=${encodeURIComponent(first.next_cursor ?? '')}`,
  );
  expect([mixed.status, mixed.error?.code]).toEqual([400, 'INVALID_CURSOR']);

  for (const { id, type } of all.items) {
    expect((await page.ask<AnyJob>('GET', `/jobs/${id}`, AnyJob)).data).toMatchObject({ id, type });
    const log = (await page.ask<JobLog>('GET', `/jobs/${id}/log`, JobLog)).data;
    expect(log.lines.length).toBeGreaterThan(1);
  }
  const ended = await page.refused('POST', `/jobs/${check.id}/cancel`);
  expect([ended.status, ended.error?.code]).toEqual([409, 'JOB_NOT_CANCELABLE']);
  for (const path of ['/jobs/chk_none', '/jobs/chk_none/log'])
    expect((await page.refused('GET', path)).error?.code).toBe('NOT_FOUND');

  const overview = (await page.ask<Overview>('GET', '/overview', Overview)).data;
  expect(overview.destinations[0]?.last_drill).toMatchObject({ status: 'completed', result: 'success' });
  expect(overview.recent.map(({ id }) => id)).toEqual(all.items.map(({ id }) => id));
});

it('cancels a job, and refuses a drill of a destination that is not there', async () => {
  await using site = await openDaemonSite();
  site.write({ a: 'one' });
  await site.backUp();
  const page = await openPage(site.daemon);
  await site.agent.pause(null, false);
  const drill = await page.ask<Drill>('POST', '/drill', Drill);
  expect(drill.data).toMatchObject({ status: 'queued', destination: 'default' });
  const canceled = await page.ask<AnyJob>('POST', `/jobs/${drill.data.id}/cancel`, AnyJob);
  expect(canceled.data.status).toBe('canceled');
  const nowhere = await page.refused('POST', '/drill', { destination: 'nowhere' });
  expect([nowhere.status, nowhere.error?.code]).toEqual([400, 'INVALID_DESTINATION']);
  for (const body of [{ files: 0 }, { files: 'all' }, { other: 1 }])
    expect((await page.refused('POST', '/drill', body)).status, JSON.stringify(body)).toBe(400);
});

it('shows the alarms that are open, until they are acknowledged', async () => {
  await using site = await openDaemonSite();
  const names = Array.from({ length: 20 }, (_, index) => `f${index}`);
  site.write(Object.fromEntries(names.map((name) => [name, name])));
  await site.configure({ sources: [{ path: site.source, schedule: 'off', watch: false }] });
  await site.ended(site.jobs('backup')[0]?.id ?? '');
  const page = await openPage(site.daemon);
  expect((await page.ask<Alarms>('GET', '/alarms', Alarms)).data.items).toEqual([]);
  for (const name of names) rmSync(join(site.source, name));
  expect((await site.backUp()).status).toBe('failed');
  const { items } = (await page.ask<Alarms>('GET', '/alarms', Alarms)).data;
  expect(items).toMatchObject([{ kind: 'empty', source: site.source }]);
  expect(items[0]?.text).toContain(site.source);
  const overview = (await page.ask<Overview>('GET', '/overview', Overview)).data;
  expect(overview.alarms).toBe(1);
  expect(overview.headline).toMatchObject({ code: 'source_empty', level: 'bad', paths: [site.source] });
  // Reading them changes nothing; acknowledging does, as on the command line.
  expect(await site.ask('alarms', {})).toHaveLength(1);
  const told = (await page.ask<Alarms>('POST', '/alarms/acknowledge', Alarms)).data;
  expect(told.items).toEqual(items);
  expect((await page.ask<Alarms>('GET', '/alarms', Alarms)).data.items).toEqual([]);
  expect(await site.ask('alarms', {})).toEqual([]);
  // What is empty may be, from now on.
  expect((await site.backUp()).status).toBe('completed');
});
