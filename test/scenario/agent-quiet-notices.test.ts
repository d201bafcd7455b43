/** Notices during quiet hours, of the real agent, and what the page, programs and the command line say meanwhile. */
// Turn 4 of 8.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Overview } from '../../src/api/schemas/page/overview.ts';
import { openPlace, type Place } from '../support/cli.ts';
import { openPage } from '../support/daemon-page.ts';
import { eventually, openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';
import { httpReceiver, type HttpReceiver } from '../unit/notify/http-receiver.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let site: DaemonSite;
let http: HttpReceiver;
/** The command line in the state directory of the site, which removes it. */
let place: Place;

beforeAll(async () => {
  [site, http] = [await openDaemonSite(), await httpReceiver()];
  place = await openPlace(site.directory);
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await http.close();
});

const timeOfDay = (ms: number): string => new Date(ms).toISOString().slice(11, 16);
const told = (): readonly string[] =>
  http.received.filter(({ path }) => path === '/topic').map(({ body }) => body);
const hooks = (): readonly string[] =>
  http.received
    .filter(({ path }) => path === '/hook')
    .map(({ body }) => (JSON.parse(body) as { readonly type: string }).type);

interface Status {
  readonly data: { readonly notices: { readonly held: number; readonly held_until: string | null } };
}
const status = async (): Promise<Status['data']['notices']> =>
  (await site.get<Status>('/v1/status')).data.notices;

test('what is bad is told at once, and the rest together at the end, restarts notwithstanding', async () => {
  const [from, to] = [site.clock.now() - HOUR_MS, site.clock.now() + 2 * HOUR_MS].map(timeOfDay);
  const sources = ['one', 'two'].map((name) => join(site.source, name));
  const write = (): void => site.write({ 'one/a.txt': 'content', 'two/b.txt': 'content' });
  const backUp = async (): Promise<readonly string[]> => {
    const asked = await Promise.all(
      sources.map(async (source) => await site.agent.requestBackup({ source, options: {} }, 'api')),
    );
    const ended = await Promise.all(asked.map(async ({ id }) => await site.ended(id)));
    return ended.map((job) => job.status);
  };
  write();
  await site.configure({
    timeZone: 'UTC',
    sources: sources.map((path) => ({ path, schedule: 'off', watch: false })),
    maintenance: { prune: 'off', check: 'off', drill: 'off' },
    notices: {
      ntfy: { url: `${http.url}/topic` },
      webhook: { url: `${http.url}/hook` },
      quietHours: `${from}-${to}`,
    },
  });
  expect(await backUp()).toEqual(['completed', 'completed']);
  expect(await status()).toEqual({ held: 0, held_until: null });

  for (const [name, file] of [
    ['one', 'a.txt'],
    ['two', 'b.txt'],
  ] as const)
    rmSync(join(site.source, name, file));
  expect(await backUp()).toEqual(['failed', 'failed']);
  await eventually(() => told().length > 0, 'the failure');
  expect(told()[0]).toContain('is empty');
  // The second failure of that cause comes three minutes after the first.
  site.clock.skip(4 * MINUTE_MS);
  await eventually(() => told().length === 2, 'the other failure');

  write();
  expect(await backUp()).toEqual(['completed', 'completed']);
  await eventually(() => hooks().filter((type) => type === 'backup.completed').length >= 2, 'the calls');
  expect(await status()).toEqual({ held: 2, held_until: to });
  const page = await openPage(site.daemon);
  const overview = (await page.ask<Overview>('GET', '/overview', Overview)).data;
  expect(overview.held_notices).toEqual({ count: 2, until: to });
  const said = `2 notices held until ${to}, when the quiet hours of notices end`;
  expect((await place.run(['status'])).stdout).toContain(said);

  await site.restart();
  expect(await status()).toEqual({ held: 2, held_until: to });
  expect(JSON.parse((await place.run(['status', '--json'])).stdout)).toMatchObject({
    notices: { held: 2, held_until: to },
  });
  site.clock.skip(HOUR_MS);
  expect(told()).toHaveLength(2);
  site.clock.skip(HOUR_MS + MINUTE_MS);
  await eventually(() => told().length === 3, 'the end of the quiet hours');
  expect(told()[2]).toContain('2 notices waited for the end of the quiet hours:');
  for (const source of sources) expect(told()[2]).toContain(`Backup completed: ${source} to default: `);
  expect(await status()).toEqual({ held: 0, held_until: null });
  expect((await place.run(['status'])).stdout).not.toContain('quiet hours');
});

test('hours that are none are refused with the reason, and nothing is changed', async () => {
  const refused = await place.run(['config', 'set', 'notices.quietHours', '22-7']);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('"22-7" is not a range of times');
  expect(refused.stderr).toContain('Write HH:MM-HH:MM, such as 22:00-06:00.');
  await place.expectRun(['config', 'set', 'notices.quietHours', '22:00-07:00']);
  expect((await place.expectRun(['config', 'get', 'notices.quietHours'])).stdout).toContain('22:00-07:00');
});
