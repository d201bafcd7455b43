/** Overview, jobs, alarms and previews: for the page that is signed in, and for nobody else. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OpenAlarm } from '../../src/api/page/insight-routes.ts';
import { ListingOf, PageOf } from '../../src/api/framework/route.ts';
import { Entries, SearchHit } from '../../src/api/schemas/page/entries.ts';
import { JobLog } from '../../src/api/schemas/job.ts';
import { Overview } from '../../src/api/schemas/page/overview.ts';
import { Alarms, AnyJob, RestorePreview } from '../../src/api/schemas/page/jobs.ts';
import type { Job, RestorePreview as Preview } from '../../src/jobs/job.ts';
import { jobOf, RESTORE_SPEC } from '../support/api-jobs.ts';
import { openApiSite, type ApiSite } from '../support/api-site.ts';
import { requireSchema } from '../support/daemon-page.ts';
import { signIn } from '../support/page-session.ts';

const RESTORE = 'rst_00000000000000000000000000';
const DONE: Job = jobOf(RESTORE_SPEC, { id: RESTORE, status: 'completed', finished_at: 5 });
const NAME = '/home/ana/<img src=x onerror=alert(1)>\u202e\u0000\ufffd';
const ALARM: OpenAlarm = {
  id: 'alarm-1',
  kind: 'shrunk',
  source: NAME,
  at: 1_600_000_000_000,
  text: `Most of ${NAME} is gone.`,
  facts: { files_before: 5 },
};
const PREVIEW: Preview = {
  filesNew: 1,
  filesOverwritten: 1,
  filesKept: 1,
  filesUnchanged: 1,
  filesDeleted: 1,
  bytes: 9,
  items: [{ path: NAME, what: 'deleted' }],
  isCut: true,
};

/** What was changed, in the order of it. */
const changes: string[] = [];
let site: ApiSite;

beforeAll(async () => {
  const change = (what: string): never => {
    changes.push(what);
    throw new Error(what);
  };
  site = await openApiSite({
    agent: {
      job: (id) => (id === RESTORE ? DONE : undefined),
      jobs: () => [DONE],
      log: () => [{ at: 1, level: 'warn', text: NAME }],
      destinationOf: () => 'default',
      submit: async ({ type }) => change(`submit ${type}`),
      cancel: async (id) => change(`cancel ${id}`),
    },
    insight: {
      alarms: { open: () => [ALARM], acknowledge: () => change('acknowledge') },
      previewOf: () => PREVIEW,
    },
  });
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

const READ = [
  ['/overview', Overview],
  ['/jobs', PageOf(AnyJob)],
  [`/jobs/${RESTORE}`, AnyJob],
  [`/jobs/${RESTORE}/log`, JobLog],
  ['/alarms', Alarms],
  ['/search?q=a', ListingOf(SearchHit)],
  [`/entries?snapshot=${'ab'.repeat(32)}&path=/`, Entries],
  [`/restore-preview/${RESTORE}`, RestorePreview],
] as const;
const CHANGE = [`/jobs/${RESTORE}/cancel`, '/drill', '/alarms/acknowledge'];
const ALL = [
  ...READ.map(([path]) => ({ method: 'GET', path })),
  { method: 'GET', path: `/archive?snapshot=${'ab'.repeat(32)}&path=/` },
  ...CHANGE.map((path) => ({ method: 'POST', path })),
];

describe('the routes of overview, jobs, alarms and previews', () => {
  test('refuse whoever has no session, and whoever has a token of the API instead', async () => {
    const token = await site.token();
    const headers = { origin: `http://${site.host}` };
    for (const { method, path } of ALL) {
      for (const caller of [{}, { token }, { headers: { cookie: `holdfast_session_${site.port}=x` } }]) {
        const reply = await site.inject(`/internal/v1${path}`, {
          method,
          ...caller,
          headers: { ...headers, ...caller.headers },
        });
        expect([reply.status, reply.json.error?.code], `${method} ${path}`).toEqual([401, 'UNAUTHORIZED']);
      }
    }
    // There is none of them in the Desktop API.
    for (const { method, path } of ALL)
      expect((await site.inject(`/v1${path}`, { method, token })).status).toBe(404);
    expect(changes).toEqual([]);
  });

  test('refuse the page of another site that has the cookie', async () => {
    const { cookie } = await signIn(site);
    for (const { method, path } of ALL) {
      const headers = { cookie, origin: 'http://evil.example', 'sec-fetch-site': 'cross-site' };
      const reply = await site.inject(`/internal/v1${path}`, { method, headers });
      expect(reply.status, `${method} ${path}`).toBe(403);
    }
    expect(changes).toEqual([]);
  });

  test('change nothing when they are read, and give what their schemas say', async () => {
    const { ask } = await signIn(site);
    for (const [path, schema] of READ) {
      const reply = await ask(path);
      expect(reply.status, reply.text).toBe(200);
      expect(reply.headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      });
      requireSchema(schema, reply.json.data);
      for (const method of ['PUT', 'DELETE', 'PATCH'])
        expect((await ask(path, { method })).status, `${method} ${path}`).toBe(405);
    }
    expect(changes).toEqual([]);
    expect((await ask(`/restore-preview/${RESTORE}`)).json.data).toMatchObject({
      items: [{ path: NAME, what: 'deleted' }],
      is_cut: true,
    });
    for (const path of CHANGE) await ask(path, { method: 'POST' });
    expect(changes).toEqual([`cancel ${RESTORE}`, 'submit drill', 'acknowledge']);
  });

  test('take no field that they do not know', async () => {
    const { ask } = await signIn(site);
    for (const path of CHANGE) {
      const reply = await ask(path, { method: 'POST', body: { other: 1 } });
      expect([reply.status, reply.json.error?.code], path).toEqual([400, 'UNKNOWN_FIELD']);
    }
    for (const query of ['?types=check', '?type=copy', '?limit=0', '?limit=101', '?status=done', '?cursor=x'])
      expect((await ask(`/jobs${query}`)).status, query).toBe(400);
  });
});
