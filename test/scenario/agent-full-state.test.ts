/** The real agent while there is no room for its state. */
// Turn 1 of 8.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openAgentState } from '../../src/jobs/open-state.ts';
import { eventually, openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';
import { failingDatabase, type FailingDatabase } from '../support/failing-database.ts';
import { httpReceiver, type HttpReceiver } from '../unit/notify/http-receiver.ts';

const HOUR_MS = 3_600_000;

let database: FailingDatabase;
let site: DaemonSite;
let http: HttpReceiver;
let go: string;

beforeAll(async () => {
  database = failingDatabase();
  [site, http] = [await openDaemonSite(), await httpReceiver()];
  go = join(site.directory, 'go');
  site.write({ 'a.txt': 'content' });
  await site.configure({
    sources: [{ path: site.source, schedule: 'hourly', watch: false }],
    maintenance: { prune: 'off', check: 'off', drill: 'off' },
    notices: { webhook: { url: `${http.url}/hook` } },
  });
  await site.endOfNext('backup', []);
});
afterEach(() => void database.disarm());
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await http.close();
  database[Symbol.dispose]();
});

const told = (kind: string): readonly { readonly data: { readonly text: string } }[] =>
  http.received
    .map(
      ({ body }) => JSON.parse(body) as { readonly type: string; readonly data: { readonly text: string } },
    )
    .filter(({ type }) => type === kind);
const stateCheck = async (): Promise<unknown> =>
  (await site.ask('status', {})).checks.find(({ name }) => name === 'state');

/** What a program is told that signs in. */
async function statusFor({ api_key, secret }: Record<'api_key' | 'secret', string>): Promise<string> {
  const address = `http://127.0.0.1:${site.daemon.listening.port}/v1`;
  const signIn = await fetch(`${address}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key, secret }),
  });
  const { data } = (await signIn.json()) as { readonly data: { readonly access_token: string } };
  const headers = { authorization: `Bearer ${data.access_token}` };
  const reply = await fetch(`${address}/status`, { headers });
  return ((await reply.json()) as { readonly data: { readonly status: string } }).data.status;
}

test('a backup that is due and cannot be noted is told once, and is an error until there is room', async () => {
  const before = site.jobs('backup');
  const program = await site.ask('create_credential', { name: 'a program' });
  database.fill();
  site.clock.skip(HOUR_MS);
  await eventually(() => {
    site.clock.skip(60_000);
    return told('state.failed').length > 0;
  }, 'the notice');
  expect(await stateCheck()).toMatchObject({
    status: 'error',
    message: expect.stringContaining('Free up space'),
  });
  expect((await site.ask('status', {})).status).toBe('error');
  expect(await statusFor(program)).toBe('error');
  // Again and again the run is offered, and cannot be noted, which is said once.
  const refused = database.refusals;
  await eventually(() => {
    site.clock.skip(60_000);
    return database.refusals > refused + 5;
  }, 'more tries');
  expect(told('state.failed')).toHaveLength(1);
  expect(site.log.filter((line) => line.includes('could not be begun'))).toHaveLength(1);
  expect(told('state.failed')[0]?.data.text).toContain(site.state);

  database.disarm();
  site.clock.skip(120_000);
  expect((await site.endOfNext('backup', before)).status).toBe('completed');
  expect(await stateCheck()).toBeUndefined();
  expect(told('state.failed')).toHaveLength(1);
});

test('a backup that fails meanwhile is told at once, and once', async () => {
  const before = `while [ ! -e ${go} ]; do sleep 0.05; done; exit 1`;
  await site.configure({
    sources: [{ path: site.source, schedule: 'off', watch: false, hooks: { before, onFailure: 'fail' } }],
    maintenance: { prune: 'off', check: 'off', drill: 'off' },
    notices: { webhook: { url: `${http.url}/hook` } },
  });
  const { id } = await site.agent.requestBackup({ source: site.source, options: {} }, 'schedule');
  await eventually(() => site.agent.job(id)?.status === 'running', 'the hook');
  database.fill();
  writeFileSync(go, '');
  await eventually(() => told('backup.failed').length > 0, 'the notice');
  expect(site.agent.job(id)?.status).toBe('running');
  expect(await stateCheck()).toMatchObject({ status: 'error' });

  database.disarm();
  expect(await site.ended(id)).toMatchObject({ status: 'failed', error: { code: 'HOOK_FAILED' } });
  await eventually(async () => (await stateCheck()) === undefined, 'an end of it');
  expect(told('backup.failed')).toHaveLength(1);
});

test('an alarm that finds no room is raised as soon as there is some, and the failed backup is told before', async () => {
  const before = told('backup.failed').length;
  rmSync(go, { force: true });
  await site.configure({
    sources: [{ path: site.source, schedule: 'off', watch: false }],
    maintenance: { prune: 'off', check: 'off', drill: 'off' },
    notices: { webhook: { url: `${http.url}/hook` } },
  });
  rmSync(join(site.source, 'a.txt'));
  database.fill(/^INSERT OR REPLACE INTO settings/);
  const { id } = await site.agent.requestBackup({ source: site.source, options: {} }, 'schedule');
  await eventually(() => told('backup.failed').length > before, 'the notice');
  expect(await site.ask('alarms', {})).toEqual([]);
  database.disarm();
  expect(await site.ended(id)).toMatchObject({ error: { code: 'SOURCE_SUSPICIOUSLY_EMPTY' } });
  await eventually(() => told('alarm').length > 0, 'the alarm');
  expect(await site.ask('alarms', {})).toMatchObject([{ kind: 'empty', source: site.source }]);
  expect([told('backup.failed').length, told('alarm').length]).toEqual([before + 1, 1]);
});

test('an end that the agent did not come to tell before it was killed is told by the next start, once', async () => {
  const before = told('backup.failed').length;
  const last = site.jobs('backup')[0];
  await site.restart(() => {
    const state = openAgentState(site.state, site.clock);
    const untold = [{ id: last?.id, compared: null, copied: false }];
    state.database.settings.set('ends to tell', JSON.stringify(untold));
    state.close();
  });
  await eventually(() => told('backup.failed').length > before, 'the notice');
  await site.restart();
  expect(told('backup.failed')).toHaveLength(before + 1);
});

test('changes that were seen while there was no room are backed up as soon as there is some, and nothing else has to happen', async () => {
  site.write({ 'a.txt': 'content' });
  await site.configure({
    sources: [{ path: site.source, schedule: 'off', watch: true }],
    maintenance: { prune: 'off', check: 'off', drill: 'off' },
  });
  await eventually(() => site.daemon.agent.fullStatus().then((s) => s.sources[0]?.watching), 'the watcher');
  const before = site.jobs('backup');
  database.fill();
  const refused = database.refusals;
  site.write({ 'b.txt': 'new' });
  await eventually(() => database.refusals > refused, 'a backup that cannot be noted');
  database.disarm();
  site.clock.skip(120_000);
  expect(await site.endOfNext('backup', before)).toMatchObject({ status: 'completed', trigger: 'watch' });
});
