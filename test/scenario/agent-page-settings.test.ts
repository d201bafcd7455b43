/** What the page's settings are told by the real agent: previews that hold, notices that are sent, its log and its bundle. */
// Turn 2 of 8.
import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as shapes from '../../src/api/schemas/page/settings.ts';
import type { Static, TSchema } from '../../src/base/schema-type.ts';
import { treePath } from '../../src/base/tree-path.ts';
import { systemClock } from '../../src/base/clock.ts';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import { openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { commitSnapshot, listSnapshots } from '../../src/repository/snapshots.ts';
import { openPage, requireSchema, type DaemonPage, type PageReply } from '../support/daemon-page.ts';
import { openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';
import { startPartnerStub } from '../support/partner-stub.ts';
import { httpReceiver, type HttpReceiver } from '../unit/notify/http-receiver.ts';
import { smtpReceiver, type SmtpReceiver } from '../unit/notify/smtp-receiver.ts';

const { signal } = new AbortController();
const DAY_MS = 86_400_000;
const MAINTENANCE = { prune: 'off', check: 'off', drill: 'off' };
const NOTHING_KEPT = {
  keepLast: null,
  keepHourly: null,
  keepDaily: null,
  keepWeekly: null,
  keepMonthly: null,
  keepYearly: null,
  keepWithin: null,
};

/** Of the embedded repository. */
const MACHINE_KEY = randomBytes(32);

async function opened(settings: object = {}): Promise<{ site: DaemonSite; page: DaemonPage }> {
  const site = await openDaemonSite({ machineKey: async () => await Promise.resolve(MACHINE_KEY) });
  await site.configure({ maintenance: MAINTENANCE, ...settings });
  return { site, page: await openPage(site.daemon) };
}

function good<Shape extends TSchema>(reply: PageReply<unknown>, shape: Shape): Static<Shape> {
  expect([reply.status, reply.error]).toEqual([200, undefined]);
  requireSchema(shape, reply.data);
  return reply.data as Static<Shape>;
}

describe('a preview of a schedule', () => {
  let site: DaemonSite;
  let page: DaemonPage;
  beforeAll(async () => {
    ({ site, page } = await opened({ timeZone: 'Asia/Kolkata' }));
  });
  afterAll(async () => await site[Symbol.asyncDispose]());

  async function next(schedule: string, zone?: string | null): Promise<shapes.SchedulePreview> {
    const body = { schedule, ...(zone === undefined ? {} : { time_zone: zone }) };
    return good(await page.refused('POST', '/schedule-preview', body), shapes.SchedulePreview);
  }

  test('has the next five times, on the clock of the zone or of that of the settings', async () => {
    for (const [zone, clock] of [
      ['Europe/Berlin', 'Europe/Berlin'],
      [null, 'Asia/Kolkata'],
      [undefined, 'Asia/Kolkata'],
    ] as const) {
      const { next: times, problem } = await next('daily at 02:30', zone);
      expect([times.length, problem]).toEqual([5, null]);
      expect(times.toSorted()).toEqual(times);
      for (const time of times) {
        expect(Date.parse(time)).toBeGreaterThan(Date.now());
        const shown = new Date(time).toLocaleTimeString('en-GB', { timeZone: clock });
        expect(shown).toBe('02:30:00');
      }
    }
    const intervals = (await next('every 4h')).next.map((time) => Date.parse(time));
    expect(intervals.slice(1).map((time, at) => time - (intervals[at] ?? 0))).toEqual(
      Array.from({ length: 4 }, () => 4 * 3_600_000),
    );
  });

  test('says of one that cannot be read what is wrong, and of none that there are none', async () => {
    expect(await next('off')).toEqual({ next: [], problem: null });
    for (const [schedule, zone, word] of [
      ['sometimes', 'UTC', 'sometimes'],
      ['daily at 25:00', 'UTC', '25:00'],
      ['0 0 31 2 *', 'UTC', ''],
      ['daily', 'Mars/Base', 'Mars/Base'],
    ] as const) {
      const { next: times, problem } = await next(schedule, zone);
      expect(times).toEqual([]);
      expect(problem?.message, schedule).toContain(word);
      expect(problem?.hint, schedule).not.toBe('');
    }
  });

  test('the settings are held against the file on the disk, which stays as it is', async () => {
    const before = readFileSync(site.configFile, 'utf8');
    const check = async (settings: object): Promise<PageReply<unknown>> =>
      await page.refused('POST', '/settings/validate', { settings });
    const sources = [{ path: '/a', schedule: 'daily at 25:00' }];
    const { problems } = good(await check({ sources }), shapes.Validation);
    expect(problems).toMatchObject([{ field: 'sources[0].schedule' }]);
    expect(good(await check({ sources: [{ path: '/a' }] }), shapes.Validation)).toEqual({ problems: [] });
    expect(readFileSync(site.configFile, 'utf8')).toBe(before);

    writeFileSync(site.configFile, '{"sources": [');
    const broken = await check({});
    expect([broken.status, broken.error?.code]).toEqual([409, 'CONFIG_INVALID']);
    await site.daemon.config.reload();
    const about = good(await page.refused('GET', '/about'), shapes.About);
    expect(about.config_error).toMatchObject({ line: 1, column: expect.any(Number) });
    writeFileSync(site.configFile, before);
    await site.daemon.config.reload();
  });
});

describe('a preview of retention', () => {
  let site: DaemonSite;
  let page: DaemonPage;
  let repository: Repository;
  let other: string;
  beforeAll(async () => {
    ({ site, page } = await opened());
    await configure(NOTHING_KEPT);
    other = join(site.directory, 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'b.txt'), 'b');
    site.write({ 'a.txt': 'content' });
    await site.backUp();
    repository = await openRepository(
      await openLocalDestination(join(site.state, 'repository')),
      { kind: 'machine', secret: MACHINE_KEY },
      { clock: systemClock, stateDirectory: undefined },
      signal,
    );
    await makeHistory();
    // The source is empty all at once: an alarm, and nothing of it is forgotten.
    rmSync(join(site.source, 'a.txt'));
    expect((await site.backUp()).error?.code).toBe('SOURCE_SUSPICIOUSLY_EMPTY');
    // The catalog takes in what a job finds there.
    const job = await site.agent.requestBackup({ source: other, options: {} }, 'api');
    expect(await site.ended(job.id)).toMatchObject({ status: 'completed' });
  });
  afterAll(async () => {
    await repository.close();
    await site[Symbol.asyncDispose]();
  });

  async function configure(retention: object): Promise<void> {
    await site.configure({
      maintenance: MAINTENANCE,
      retention,
      // Each time another text, so that it is another revision.
      notices: { absenceDays: 3 + site.jobs().length },
    });
  }

  /** Three sources over three years: some snapshots are pinned, some partial, one is from the future. */
  async function makeHistory(): Promise<void> {
    const [made] = (await listSnapshots(repository, signal)).live;
    if (made === undefined) throw new Error('there is no snapshot');
    const now = Date.now();
    const paths = [site.source, '/srv/a', '/srv/ä, b'];
    const runs = paths.flatMap((path, at) =>
      Array.from({ length: 40 }, (_, count) => {
        const ageMs = (count + at / 3) ** 2 * 0.7 * DAY_MS + 60_000;
        const startedMs = Math.round(at === 1 && count === 0 ? now + DAY_MS : now - ageMs);
        return {
          paths: [treePath(path)],
          startedMs,
          finishedMs: startedMs + 1_000,
          pinned: count % 17 === 16,
          status: count % 5 === 0 ? 'partial' : 'complete',
          tags: [],
        };
      }),
    );
    let live = 1;
    for (const run of runs.toSorted((a, b) => a.startedMs - b.startedMs))
      await commitSnapshot(repository, { ...made.record, ...run } as never, { live: (live += 1) }, signal);
  }

  async function preview(body: object = {}): Promise<shapes.RetentionPreview> {
    return good(await page.refused('POST', '/retention-preview', body), shapes.RetentionPreview);
  }

  async function stored(): Promise<readonly string[]> {
    return (await listSnapshots(repository, signal)).live.map(({ id }) => id).toSorted();
  }

  async function prune(): Promise<void> {
    const spec = { type: 'prune', destination: 'default', apply_retention: true } as const;
    const job = await site.ended((await site.agent.submit(spec, 'cli')).id);
    expect(job, JSON.stringify(job.error)).toMatchObject({ status: 'completed' });
  }

  const ids = ({ items }: shapes.RetentionPreview, keep: boolean): readonly string[] =>
    items
      .filter((item) => item.keep === keep)
      .map((item) => item.snapshot_id)
      .toSorted();

  test('is what the prune then does, with pins, partial ones, the future and an alarm', async () => {
    const steps = [
      NOTHING_KEPT,
      { ...NOTHING_KEPT, keepWithin: '2y' },
      { ...NOTHING_KEPT, keepHourly: 5, keepDaily: 7, keepWeekly: 4, keepMonthly: 12, keepYearly: 2 },
      { ...NOTHING_KEPT, keepLast: 3, keepMonthly: 4 },
      { ...NOTHING_KEPT, keepLast: 1 },
    ];
    const removals: number[] = [];
    for (const retention of steps) {
      const wished = await preview({ retention });
      const { destination, kept, removed, items } = wished;
      expect([destination, items.length]).toEqual(['default', kept + removed]);
      expect(items.map((item) => item.created_at)).toEqual(
        items
          .map((item) => item.created_at)
          .toSorted()
          .toReversed(),
      );
      // Nothing has been done by looking.
      expect(await stored()).toEqual([...ids(wished, true), ...ids(wished, false)].toSorted());
      await configure(retention);
      expect(await preview({ destination: 'default' })).toEqual(wished);
      await prune();
      expect(await stored()).toEqual(ids(wished, true));
      removals.push(removed);
    }
    expect(removals[0]).toBe(0);
    expect(removals.slice(1).every((removed) => removed > 0)).toBe(true);
  });

  test('names what keeps each', async () => {
    const { items } = await preview();
    const reasons = (source: string): readonly string[] =>
      [...new Set(items.filter((item) => item.source === source).flatMap((item) => item.reasons))].toSorted();
    expect(reasons(site.source)).toEqual(['alarm', 'last', 'pinned']);
    expect(reasons('/srv/a')).toEqual(['future', 'last', 'pinned']);
    expect(reasons(other)).toEqual(['last']);
  });

  test('lets go what an alarm held, once the alarm is acknowledged', async () => {
    const before = await preview();
    await site.ask('acknowledge', {});
    const after = await preview();
    expect([before.removed, after.removed > 30]).toEqual([0, true]);
    await prune();
    expect(await stored()).toEqual(ids(after, true));
  });

  test('of a place without repository has nothing, and of no place is refused', async () => {
    const empty = { destination: join(site.directory, 'nothing') };
    expect(await preview(empty)).toMatchObject({ kept: 0, removed: 0, items: [] });
    const unknown = await page.refused('POST', '/retention-preview', { destination: 'nowhere' });
    expect([unknown.status, unknown.error?.code]).toEqual([400, 'INVALID_DESTINATION']);
  });
});

describe('a test of a notice', () => {
  let site: DaemonSite;
  let page: DaemonPage;
  let http: HttpReceiver;
  let mail: SmtpReceiver;
  const SECRET = 'tk_a-token-that-nobody-sees';
  beforeAll(async () => {
    [http, mail] = [await httpReceiver(), await smtpReceiver()];
    ({ site, page } = await opened());
    const token = join(site.directory, 'token');
    writeFileSync(token, SECRET, { mode: 0o600 });
    await site.configure({
      maintenance: MAINTENANCE,
      notices: {
        ntfy: { url: `${http.url}/a-topic-that-is-secret`, token: { file: token } },
        webhook: { url: `${http.url}/hook`, secret: { file: join(site.directory, 'not-there') } },
        email: { host: '127.0.0.1', port: mail.port, from: 'agent@example.org', to: ['me@example.org'] },
      },
    });
  });
  afterAll(async () => {
    await site[Symbol.asyncDispose]();
    await http.close();
    await mail.close();
  });

  async function tested(channel: string): Promise<{ sent: boolean; problem: string | null }> {
    return good(await page.refused('POST', '/notices/test', { channel }), shapes.NoticeTest);
  }

  test('is one that arrives', async () => {
    expect(await tested('ntfy')).toEqual({ sent: true, problem: null });
    expect(http.received).toMatchObject([
      { path: '/a-topic-that-is-secret', headers: { authorization: `Bearer ${SECRET}` } },
    ]);
    expect(http.received[0]?.body).toContain('This is a test message of Holdfast');
    expect(await tested('email')).toEqual({ sent: true, problem: null });
    expect(mail.messages).toHaveLength(1);
  });

  test('that does not arrive says why, without the secret', async () => {
    http.answer = (_count, response) => {
      response.statusCode = 403;
      response.end(SECRET);
    };
    const refused = await tested('ntfy');
    expect(refused.sent).toBe(false);
    expect(refused.problem).toMatch(/answered with status 403\. Check the address and the token/);
    // Tried once.
    expect(http.received).toHaveLength(2);
    const lost = await tested('webhook');
    expect(lost.sent).toBe(false);
    expect(lost.problem).toContain('not-there');
    mail.reply = () => '554 go away\r\n';
    expect(await tested('email')).toMatchObject({ sent: false });
    for (const { problem } of [refused, lost]) expect(problem).not.toMatch(/tk_a-token|a-topic-that-is/);
  });

  test('by a channel that is not set up is refused', async () => {
    const reply = await page.refused('POST', '/notices/test', { channel: 'healthchecks' });
    expect([reply.status, reply.error?.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(reply.error?.message).toContain('save it first');
  });
});

describe('the account and support', () => {
  let site: DaemonSite;
  let page: DaemonPage;
  beforeAll(async () => {
    ({ site, page } = await opened({ plan: 'pro' }));
  });
  afterAll(async () => await site[Symbol.asyncDispose]());

  test('a device enrolls with a Partner service and leaves it', async () => {
    await using stub = await startPartnerStub({ now: () => site.clock.now() });
    const account = async (): Promise<shapes.Account> =>
      good(await page.refused('GET', '/account'), shapes.Account);
    expect(await account()).toMatchObject({ plan: 'pro', rate_limit: { limit: 1_000 }, partner: null });
    const wrong = { service: stub.address, token: 'hfe_wrong' };
    const refused = await page.refused('POST', '/account/enroll', wrong);
    expect([refused.status, refused.error?.code]).toEqual([400, 'ENROLLMENT_TOKEN_INVALID']);
    const wish = { service: stub.address, token: 'hfe_good', name: 'front desk' };
    const enrolled = good(await page.refused('POST', '/account/enroll', wish), shapes.Account);
    expect(enrolled.partner).toMatchObject({ name: 'front desk', status: 'active' });
    expect((await account()).partner).toMatchObject({ device_id: enrolled.partner?.device_id });
    expect(await site.ask('enrollment', {})).toMatchObject({ name: 'front desk' });
    const again = await page.refused('POST', '/account/enroll', wish);
    expect([again.status, again.error?.code]).toEqual([400, 'INVALID_REQUEST']);
    const left = good(await page.refused('DELETE', '/account/enrollment'), shapes.Account);
    expect(left).toMatchObject({ plan: 'pro', partner: null });
    const gone = await page.refused('DELETE', '/account/enrollment');
    expect([gone.status, gone.error?.code]).toEqual([404, 'NOT_FOUND']);
    const nowhere = await page.refused('POST', '/account/enroll', { ...wish, service: 'http://127.0.0.1:9' });
    expect([nowhere.status, nowhere.error?.code]).toEqual([502, 'DESTINATION_ERROR']);
  });

  test('the facts of the agent are told', async () => {
    const about = good(await page.refused('GET', '/about'), shapes.About);
    expect(about).toMatchObject({
      version: '0.0.0',
      node: process.versions.node,
      state_directory: site.state,
      config_file: site.configFile,
      config_error: null,
    });
    expect(about.addresses).toContain(`http://127.0.0.1:${site.daemon.listening.port}`);
  });

  test('the log is read from its end, by level, through both files', async () => {
    const log = join(site.state, 'agent.log');
    const line = (level: number, msg: string, more: object = {}): string =>
      `${JSON.stringify({ level, time: '2026-11-20T10:00:00.000Z', ...more, msg })}\n`;
    writeFileSync(`${log}.1`, line(50, 'long ago', { err: { message: 'The disk was full' } }));
    writeFileSync(log, 'half a line of a process that was kil\n');
    for (let count = 0; count < 100; count += 1) appendFileSync(log, line(30, `line ${count}`));
    appendFileSync(log, line(40, 'a warning', { part: 'api' }));
    const read = async (query: string): Promise<shapes.AgentLog> =>
      good(await page.refused('GET', `/agent-log?${query}`), shapes.AgentLog);
    expect(await read('lines=2')).toEqual({
      file: log,
      lines: [
        { at: '2026-11-20T10:00:00.000Z', level: 'info', text: 'line 99' },
        { at: '2026-11-20T10:00:00.000Z', level: 'warn', text: 'a warning' },
      ],
    });
    expect((await read('level=warn')).lines.map(({ text }) => text)).toEqual([
      'long ago: The disk was full',
      'a warning',
    ]);
    expect((await read('lines=2000')).lines).toHaveLength(102);
  });

  test('the bundle has findings, settings, status, jobs and log in one text', async () => {
    const line = { level: 40, time: '2026-11-20T10:00:00.000Z', msg: 'said of itself' };
    appendFileSync(join(site.state, 'agent.log'), `${JSON.stringify(line)}\n`);
    // Names that would make lines of their own, or turn the text around them.
    const named = join(site.directory, 'two\n== Settings ==\nlines');
    const source = join(site.directory, 'turned\u202earound');
    mkdirSync(named);
    writeFileSync(join(named, 'a.txt'), 'a');
    const job = await site.agent.requestBackup({ source: named, options: {} }, 'api');
    expect(await site.ended(job.id)).toMatchObject({ status: 'completed' });
    rmSync(join(named, 'a.txt'));
    const failing = await site.agent.requestBackup({ source: named, options: {} }, 'api');
    expect(await site.ended(failing.id)).toMatchObject({ status: 'failed' });
    await site.configure({
      maintenance: MAINTENANCE,
      sources: [{ path: source, schedule: 'off', hooks: { before: 'PGPASSWORD=hunter2hunter2 dump' } }],
      destinations: { far: { url: 'sftp://ann@nas.example/backups', passphrase: { env: 'FAR' } } },
      notices: { ntfy: { url: 'https://ntfy.example/topic', token: { command: 'pass show ntfy' } } },
    });
    const { headers, text } = await page.text('/diagnostics');
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename="holdfast-diagnostics-/);
    expect(text.split('\n')[0]).toMatch(/^Paths and names of your files/);
    expect(text.match(/^== .* ==$/gm)).toEqual([
      '== Program ==',
      '== Findings ==',
      '== Status ==',
      '== Settings ==',
      '== Jobs, newest first ==',
      '== End of the log of the agent ==',
    ]);
    for (const part of [
      'ok       disk space: ',
      'holdfast doctor',
      '"uptime_seconds"',
      '"finished_at": "20',
      '"before": "[a command]"',
      '"command": "[a command]"',
      '"env": "FAR"',
      '"url": "sftp://nas.example/backups"',
      '"url": "https://ntfy.example/[secret]"',
      `${job.id}  backup completed`,
      'SOURCE_SUSPICIOUSLY_EMPTY',
      '"msg":"said of itself"',
      'two⟨U+000A⟩== Settings ==⟨U+000A⟩lines to default',
      'turned⟨U+202E⟩around"',
    ])
      expect(text).toContain(part);
    for (const secret of ['hunter2', 'pass show', 'ann@', '/topic', '\u202e', '\r'])
      expect(text).not.toContain(secret);
  });
});
