/** The resource routes of the Desktop API over real connections; every reply is judged by docs/api/desktop.yaml. */
// Turn 4 of 8.
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FULL_KEYS } from '../../src/base/stored-by.ts';
import type { Settings } from '../../src/config/settings.ts';
import { momentOf, type FileItem, type SnapshotSummary } from '../../src/jobs/agent.ts';
import type { Job, RestoreSpec } from '../../src/jobs/job.ts';
import { type ApiReply, type ApiSite, type CallOptions, openApiSite } from '../support/api-site.ts';
import { BACKUP_OPTIONS, type MemoryAgent, memoryAgent } from '../support/memory-agent.ts';
import { judge } from '../support/openapi-judge.ts';

let site: ApiSite;
let agent: MemoryAgent;
let token: string;

let settings: Settings;

beforeAll(async () => {
  agent = memoryAgent(() => site.clock);
  site = await openApiSite({ agent });
  token = await site.token();
  ({ settings } = site);
});

beforeEach(() => {
  agent.clear();
  site.settings = settings;
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

async function ask(method: string, target: string, options: CallOptions = {}): Promise<ApiReply> {
  const reply = await site.call(target, { method, token, ...options });
  judge(method, target, reply);
  return reply;
}

interface ItemPage {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

async function list(target: string): Promise<ItemPage> {
  const reply = await ask('GET', target);
  expect(reply.status).toBe(200);
  return reply.json.data as unknown as ItemPage;
}

async function refused(method: string, target: string, body: unknown, code: string): Promise<ApiReply> {
  const reply = await ask(method, target, body === undefined ? {} : { body });
  expect(reply.json.error?.code).toBe(code);
  return reply;
}

function addBackup(changes: Partial<Job> = {}, source = '/home/ana'): Job {
  return agent.add({ type: 'backup', source, destination: 'default', options: BACKUP_OPTIONS }, changes);
}

const ENDED = { status: 'completed', result: 'success', started_at: 0, finished_at: 5_000 } as const;

function summary(id: string, createdAt: number, source = '/home/ana'): SnapshotSummary {
  return {
    id,
    source,
    paths: [source],
    destination: 'default',
    host: 'desk',
    stored_by: FULL_KEYS,
    said_at: null,
    tags: ['weekly'],
    pinned: false,
    partial: false,
    unread: { paths: [], count: 0 },
    created_at: createdAt,
    files: 3,
    size_bytes: 30,
    rank: createdAt,
    unreadable: 0,
    backup_id: null,
  };
}

function fileItem(name: string): FileItem {
  return {
    path: `/home/ana/${name}`,
    path_b64: null,
    name,
    type: 'file',
    size_bytes: 10,
    modified_at: 1_600_000_000_123,
    mode: 0o644,
    link_target: null,
    children_count: null,
    snapshot_id: 'snap-1',
    backup_id: null,
    source: '/home/ana',
    stored_by: FULL_KEYS,
    backed_up_at: 1_600_000_000_000,
  };
}

describe('a backup', () => {
  test('is queued, and its place keeps the prefix of the request', async () => {
    const body = { source: '/home/ana', options: { compression: 'zstd:7', tags: ['x'] } };
    const reply = await ask('POST', '/v1/backup', { body });
    expect(reply.status).toBe(202);
    expect(reply.headers['location']).toBe(`/v1/backup/${String(reply.json.data?.['id'])}`);
    const options = { ...body.options, dry_run: false };
    expect(agent.asked).toEqual([{ ...body, options, destination: undefined, trigger: 'api' }]);
    const other = await ask('POST', '/api/v1/backup', { body });
    expect(other.headers['location']).toBe(`/api/v1/backup/${String(other.json.data?.['id'])}`);
  });

  test('shows the five fields of the contract from the first moment', async () => {
    const reply = await ask('POST', '/v1/backup', { body: { source: '/home/ana' } });
    expect(reply.json.data).toMatchObject({
      id: expect.stringMatching(/^bkp_/),
      status: 'queued',
      files_backed_up: 0,
      size_bytes: 0,
      duration_seconds: 0,
    });
  });

  test('of a path that does not exist is refused with the path', async () => {
    const reply = await refused('POST', '/v1/backup', { source: '/missing/x' }, 'INVALID_SOURCE');
    expect(reply.status).toBe(400);
    expect(reply.json.error?.message).toContain('does not exist');
    expect(reply.json.error?.details).toEqual({ path: '/missing/x', reason: 'not_found' });
  });

  test('has its path told as it was sent, whatever it looks like', async () => {
    const source = '/missing/token=abcdefghijkl/x';
    const reply = await refused('POST', '/v1/backup', { source }, 'INVALID_SOURCE');
    expect(reply.json.error?.details).toEqual({ path: source, reason: 'not_found' });
    expect(reply.json.error?.message).not.toContain('abcdefghijkl');
  });

  test.each([
    ['a misspelt option', { source: '/a', options: { encrpytion: false } }, 'UNKNOWN_FIELD'],
    ['text in place of a boolean', { source: '/a', options: { encryption: 'false' } }, 'INVALID_REQUEST'],
    ['a missing source', {}, 'MISSING_FIELD'],
    [
      'an unknown compression',
      { source: '/a', options: { compression: 'zstd:20' } },
      'UNSUPPORTED_COMPRESSION',
    ],
    ['a NUL in the path', { source: '/a\0b' }, 'INVALID_REQUEST'],
    ['4,097 bytes of path in fewer characters', { source: `/${'é'.repeat(2048)}` }, 'INVALID_REQUEST'],
    [
      '1,001 rules',
      { source: '/a', options: { exclude: Array.from({ length: 1001 }, () => 'x') } },
      'INVALID_REQUEST',
    ],
    [
      '51 tags',
      { source: '/a', options: { tags: Array.from({ length: 51 }, () => 'x') } },
      'INVALID_REQUEST',
    ],
    ['the tag of another backup', { source: '/a', options: { tags: ['job:x'] } }, 'INVALID_REQUEST'],
    ['an empty tag', { source: '/a', options: { tags: [''] } }, 'INVALID_REQUEST'],
    ['a list in place of a body', [], 'INVALID_REQUEST'],
  ])('with %s is refused', async (_what, body, code) => {
    await refused('POST', '/v1/backup', body, code);
    expect(agent.asked).toEqual([]);
  });

  test('that ends while the client waits is answered with 200', async () => {
    const waiting = ask('POST', '/v1/backup', { body: { source: '/a' }, headers: { prefer: 'wait=30' } });
    await until(() => agent.asked.length === 2);
    const [id = ''] = agent.added.keys();
    agent.change(id, { ...ENDED, snapshot_id: 'snap-1', files_done: 3, size_bytes: 30 });
    const reply = await waiting;
    expect(reply.status).toBe(200);
    expect(reply.headers['preference-applied']).toBe('wait=30');
    expect(reply.json.data).toMatchObject({ status: 'completed', files_backed_up: 3, snapshot_id: 'snap-1' });
  });

  test('that does not end in time is answered with 202, after a minute at the latest', async () => {
    const waiting = ask('POST', '/v1/backup', { body: { source: '/a' }, headers: { prefer: 'wait=90' } });
    await until(() => agent.asked.length === 2);
    expect(agent.asked[1]).toEqual({ waited: 60_000 });
    await site.clock.advance(60_000);
    expect((await waiting).status).toBe(202);
  });

  test('is made once for one idempotency key, under both prefixes', async () => {
    const request = { body: { source: '/a' }, headers: { 'idempotency-key': 'k1' } };
    const first = await ask('POST', '/v1/backup', request);
    const again = await ask('POST', '/api/v1/backup', request);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.headers['location']).toBe(`/api${String(first.headers['location'])}`);
    expect(again.json.data).toEqual(first.json.data);
    expect(agent.added.size).toBe(1);
  });

  test('that runs has lasted until now', async () => {
    const job = addBackup({ status: 'running', started_at: site.clock.now() });
    await site.clock.advance(12_900);
    const reply = await ask('GET', `/v1/backup/${job.id}`);
    expect(reply.json.data?.['duration_seconds']).toBe(12);
  });

  test('is not found under an unknown id, nor under that of another job', async () => {
    const check = agent.add({ type: 'check', destination: 'default', read_data: 0 });
    for (const id of ['bkp_0', check.id, 'a%20b', 'x'.repeat(500)]) {
      for (const rest of ['', '/log', '/events']) {
        await refused('GET', `/v1/backup/${id}${rest}`, undefined, 'BACKUP_NOT_FOUND');
      }
      await refused('POST', `/v1/backup/${id}/cancel`, undefined, 'BACKUP_NOT_FOUND');
    }
  });

  test('is canceled once', async () => {
    const { id } = addBackup();
    const reply = await ask('POST', `/v1/backup/${id}/cancel`);
    expect(reply.json.data).toMatchObject({ id, status: 'canceled' });
    expect((await refused('POST', `/v1/backup/${id}/cancel`, undefined, 'JOB_NOT_CANCELABLE')).status).toBe(
      409,
    );
    await refused('POST', `/v1/backup/${id}/cancel`, { now: true }, 'UNKNOWN_FIELD');
  });

  test('has a log with its problems', async () => {
    const problem = { path: '/home/ana/x', code: 'EACCES', message: 'it cannot be read' };
    const { id } = addBackup({ problems: [problem] });
    agent.lines.push({ at: 1_600_000_000_000, level: 'warn', text: 'one file could not be read' });
    const reply = await ask('GET', `/v1/backup/${id}/log`);
    expect(reply.json.data).toEqual({
      id,
      lines: [{ at: '2020-09-13T12:26:40.000Z', level: 'warn', text: 'one file could not be read' }],
      problems: [problem],
    });
  });

  test('that failed says why, whatever the details hold', async () => {
    const details = { errno: 'EIO', tries: 3, nested: { a: [1, null] } };
    const error = { code: 'READ_ERROR', message: 'The disk failed. Replace it.', details };
    const { id } = addBackup({ status: 'failed', error });
    expect((await ask('GET', `/v1/backup/${id}`)).json.data?.['error']).toEqual(error);
  });
});

describe('a list of jobs', () => {
  test('is cut into pages that hold every job once, newest first', async () => {
    const ids = Array.from({ length: 45 }, () => addBackup().id).toReversed();
    const seen: unknown[] = [];
    let target = '/v1/backup';
    for (;;) {
      const { items, has_more: more, next_cursor: cursor } = await list(target);
      seen.push(...items.map((item) => item['id']));
      if (!more) break;
      expect(items).toHaveLength(20);
      target = `/v1/backup?cursor=${String(cursor)}`;
    }
    expect(seen).toEqual(ids);
  });

  test('has no next page when the last one is full', async () => {
    for (let count = 0; count < 3; count += 1) addBackup();
    expect(await list('/v1/backup?limit=3')).toMatchObject({ has_more: false, next_cursor: null });
  });

  test('is narrowed by state, source, destination and time', async () => {
    const first = addBackup({ ...ENDED }, '/a');
    await site.clock.advance(1_000);
    const second = addBackup({}, '/b');
    agent.add({ type: 'check', destination: 'default', read_data: 0 });
    const ids = async (query: string): Promise<unknown[]> =>
      (await list(`/v1/backup?${query}`)).items.map((item) => item['id']);
    const between = new Date(first.created_at + 500).toISOString();
    expect(await ids('status=completed')).toEqual([first.id]);
    expect(await ids('source=%2Fb')).toEqual([second.id]);
    expect(await ids('destination=default')).toEqual([second.id, first.id]);
    expect(await ids('destination=other')).toEqual([]);
    expect(await ids(`created_after=${between}`)).toEqual([second.id]);
    expect(await ids(`created_before=${between}`)).toEqual([first.id]);
  });

  test('takes a cursor with the filters it was made with, and no other', async () => {
    for (let count = 0; count < 3; count += 1) addBackup();
    const { next_cursor: cursor } = await list('/v1/backup?limit=1&status=queued');
    await list(`/v1/backup?limit=2&status=queued&cursor=${String(cursor)}`);
    for (const target of [
      `backup?cursor=${String(cursor)}`,
      `restore?status=queued&cursor=${String(cursor)}`,
    ]) {
      await refused('GET', `/v1/${target}`, undefined, 'INVALID_CURSOR');
    }
    await refused('GET', '/v1/backup?cursor=abc', undefined, 'INVALID_CURSOR');
  });

  test.each([
    ['limit=0', 'INVALID_REQUEST'],
    ['limit=101', 'INVALID_REQUEST'],
    ['limit=ten', 'INVALID_REQUEST'],
    ['status=done', 'INVALID_REQUEST'],
    ['created_after=yesterday', 'INVALID_REQUEST'],
    ['created_after=2026-02-30T00:00:00Z', 'INVALID_REQUEST'],
    ['order=asc', 'UNKNOWN_FIELD'],
  ])('refuses %s', async (query, code) => {
    await refused('GET', `/v1/backup?${query}`, undefined, code);
  });

  test('of restores has no filter for the source', async () => {
    await refused('GET', '/v1/restore?source=%2Fa', undefined, 'UNKNOWN_FIELD');
  });
});

describe('a restore', () => {
  const spec = (): RestoreSpec => agent.asked.at(-1) as RestoreSpec;

  test('of a snapshot has the defaults of the contract', async () => {
    agent.summaries.push(summary('snap-1', 5));
    const target = path.join(site.directory, '..', 'holdfast-restored');
    const reply = await ask('POST', '/v1/restore', { body: { snapshot_id: 'snap-1', target } });
    expect(reply.status).toBe(202);
    expect(reply.headers['location']).toMatch(/^\/v1\/restore\/rst_/);
    expect(reply.json.data).toMatchObject({
      type: 'restore',
      status: 'queued',
      snapshot_id: 'snap-1',
      target: path.resolve(target),
      in_place: false,
      paths: [],
      files_restored: 0,
      files_skipped: 0,
      files_failed: 0,
    });
    expect(spec()).toEqual({
      type: 'restore',
      destination: 'default',
      snapshot_id: 'snap-1',
      stored_by: FULL_KEYS,
      paths: [],
      target: path.resolve(target),
      options: {
        overwrite: 'never',
        dry_run: false,
        verify: true,
        delete_extra: false,
        restore_ownership: false,
      },
    });
  });

  test('names its snapshot by the backup that made it, or by source and time', async () => {
    agent.summaries.push(summary('snap-3', 3_000), summary('snap-2', 2_000), summary('snap-1', 1_000));
    const backup = addBackup({ ...ENDED, snapshot_id: 'snap-2' });
    const body = { in_place: true };
    await ask('POST', '/v1/restore', { body: { ...body, backup_id: backup.id } });
    expect(spec()).toMatchObject({ snapshot_id: 'snap-2', target: null });
    // It was tagged since, and has another id than the job has noted.
    const tagged = addBackup({ ...ENDED, snapshot_id: 'snap-0' });
    agent.summaries.push({ ...summary('snap-0b', 0), backup_id: tagged.id });
    await ask('POST', '/v1/restore', { body: { ...body, backup_id: tagged.id } });
    expect(spec()).toMatchObject({ snapshot_id: 'snap-0b', target: null });
    agent.summaries.pop();
    await ask('POST', '/v1/restore', { body: { ...body, source: '/home/ana' } });
    expect(spec().snapshot_id).toBe('snap-3');
    const at = '1970-01-01T00:00:01.500Z';
    await ask('POST', '/v1/restore', { body: { ...body, source: '/home/ana', at } });
    expect(spec().snapshot_id).toBe('snap-1');
    const early = '1970-01-01T00:00:00.500Z';
    await refused('POST', '/v1/restore', { ...body, source: '/home/ana', at: early }, 'SNAPSHOT_NOT_FOUND');
    await refused('POST', '/v1/restore', { ...body, source: '/other' }, 'SNAPSHOT_NOT_FOUND');
    await refused('POST', '/v1/restore', { ...body, backup_id: addBackup().id }, 'SNAPSHOT_NOT_FOUND');
    await refused('POST', '/v1/restore', { ...body, backup_id: 'bkp_0' }, 'BACKUP_NOT_FOUND');
  });

  test('takes paths as text and as bytes', async () => {
    agent.summaries.push(summary('snap-1', 5));
    const odd = Buffer.from('/home/ana/\xff', 'latin1').toString('base64');
    const even = Buffer.from('/home/ana/é').toString('base64');
    const paths = ['/home/ana/a', { path_b64: odd }, { path_b64: even }];
    const reply = await ask('POST', '/v1/restore', {
      body: { snapshot_id: 'snap-1', in_place: true, paths },
    });
    expect(spec().paths).toEqual(['/home/ana/a', { b64: odd }, '/home/ana/é']);
    expect(reply.json.data?.['paths']).toEqual(['/home/ana/a', { path_b64: odd }, '/home/ana/é']);
  });

  test('is refused at once when a path is known not to be in the snapshot', async () => {
    agent.summaries.push(summary('snap-1', 5));
    agent.missing.add('/home/ana/gone');
    const body = { snapshot_id: 'snap-1', in_place: true, paths: ['/home/ana/a', '/home/ana/gone'] };
    await refused('POST', '/v1/restore', body, 'PATH_NOT_IN_SNAPSHOT');
    expect(agent.added.size).toBe(0);
    // Of what is not known yet the job tells.
    await ask('POST', '/v1/restore', { body: { ...body, paths: ['/home/ana/a', '/'] } });
    expect(spec().paths).toEqual(['/home/ana/a', '/']);
  });

  test.each([
    ['neither target nor in_place', { snapshot_id: 'snap-1' }, 'MISSING_FIELD'],
    ['nothing to restore', { in_place: true }, 'MISSING_FIELD'],
    ['two snapshots', { snapshot_id: 'snap-1', source: '/a', in_place: true }, 'INVALID_REQUEST'],
    [
      'a time without source',
      { snapshot_id: 'snap-1', at: '2026-01-01T00:00:00Z', in_place: true },
      'INVALID_REQUEST',
    ],
    ['a NUL in a path', { snapshot_id: 'snap-1', paths: ['/a\0'], in_place: true }, 'INVALID_REQUEST'],
    ['no base64', { snapshot_id: 'snap-1', paths: [{ path_b64: '%%' }], in_place: true }, 'INVALID_REQUEST'],
    [
      '1,001 paths',
      { snapshot_id: 'snap-1', paths: Array.from({ length: 1001 }, () => '/a'), in_place: true },
      'INVALID_REQUEST',
    ],
    [
      'an unknown mode',
      { snapshot_id: 'snap-1', in_place: true, options: { overwrite: 'yes' } },
      'INVALID_REQUEST',
    ],
    ['an unknown snapshot', { snapshot_id: 'snap-9', in_place: true }, 'SNAPSHOT_NOT_FOUND'],
  ])('with %s is refused', async (_what, body, code) => {
    agent.summaries.push(summary('snap-1', 5));
    await refused('POST', '/v1/restore', body, code);
    expect(agent.added.size).toBe(0);
  });

  test('goes nowhere it must not go', async () => {
    agent.summaries.push(summary('snap-1', 5));
    const repository = path.join(site.directory, '..', path.basename(site.directory).concat('-repository'));
    const outside = path.resolve(site.directory, '..', 'elsewhere');
    site.settings = {
      ...site.settings,
      destinations: [{ name: 'disk', url: `file://${repository}`, passphrase: null }],
    };
    const reasonFor = async (place: object): Promise<unknown> => {
      const body = { snapshot_id: 'snap-1', ...place };
      return (await refused('POST', '/v1/restore', body, 'INVALID_TARGET')).json.error?.details['reason'];
    };
    expect(await reasonFor({ target: 'here' })).toBe('not_absolute');
    expect(await reasonFor({ target: outside, in_place: true })).toBe('target_and_in_place');
    expect(await reasonFor({ target: site.directory })).toBe('inside_state_directory');
    expect(await reasonFor({ target: `${outside}/../${path.basename(site.directory)}/x` })).toBe(
      'inside_state_directory',
    );
    expect(await reasonFor({ target: `${repository}/packs` })).toBe('inside_repository');
    site.settings = { ...site.settings, restore: { allowedRoots: ['/home/ana'] } };
    expect(await reasonFor({ target: outside })).toBe('not_allowed');
    expect(
      (await ask('POST', '/v1/restore', { body: { snapshot_id: 'snap-1', in_place: true } })).status,
    ).toBe(202);
    site.settings = { ...site.settings, restore: { allowedRoots: ['/home/bo'] } };
    expect(await reasonFor({ in_place: true })).toBe('not_allowed');
  });

  test('does not go below a file', async () => {
    agent.summaries.push(summary('snap-1', 5));
    const place = path.join(site.directory, '..', `${path.basename(site.directory)}-place`);
    writeFileSync(place, '');
    try {
      const body = { snapshot_id: 'snap-1', target: `${place}/below` };
      const reply = await refused('POST', '/v1/restore', body, 'INVALID_TARGET');
      expect(reply.json.error?.details).toEqual({ reason: 'not_a_directory', path: `${place}/below` });
    } finally {
      rmSync(place);
    }
  });

  test('is listed, read, canceled and explained under its own routes', async () => {
    const { id } = agent.add({
      type: 'restore',
      destination: 'default',
      snapshot_id: 'snap-1',
      paths: [],
      target: null,
      options: {
        overwrite: 'never',
        dry_run: false,
        verify: true,
        delete_extra: false,
        restore_ownership: false,
      },
    });
    addBackup();
    expect((await list('/v1/restore')).items).toHaveLength(1);
    expect((await ask('GET', `/v1/restore/${id}`)).json.data).toMatchObject({ id, in_place: true });
    expect((await ask('GET', `/v1/restore/${id}/log`)).json.data).toMatchObject({ id });
    expect((await ask('POST', `/v1/restore/${id}/cancel`)).json.data?.['status']).toBe('canceled');
    await refused('GET', '/v1/restore/rst_0', undefined, 'RESTORE_NOT_FOUND');
  });
});

describe('the list of files', () => {
  test('asks for the newest snapshot, flat and by path, unless it is told otherwise', async () => {
    agent.items.push(fileItem('a'));
    expect((await list('/v1/files')).items).toEqual([
      {
        ...fileItem('a'),
        stored_by: { key: 'full', write_only_key: null, label: null },
        modified_at: '2020-09-13T12:26:40.123Z',
        backed_up_at: '2020-09-13T12:26:40.000Z',
      },
    ]);
    expect(agent.asked).toEqual([{ snapshot: 'latest', view: 'flat', sort: 'path', limit: 100 }]);
  });

  test('hands on every filter, paths as bytes and times as numbers', async () => {
    const b64 = encodeURIComponent(Buffer.from('/\xff', 'latin1').toString('base64'));
    await list(`/v1/files?path=${encodeURIComponent('/é')}&q=*.odt&type=file&view=tree&sort=size&limit=7`);
    await list(`/v1/files?path_b64=${b64}&snapshot=2020-09-13T12:26:40Z&source=%2Fa&backup_id=bkp_1`);
    expect(agent.asked).toEqual([
      {
        snapshot: 'latest',
        path: '/\xc3\xa9',
        q: '*.odt',
        type: 'file',
        view: 'tree',
        sort: 'size',
        limit: 7,
      },
      {
        snapshot: momentOf(1_600_000_000_000),
        path: '/\xff',
        source: '/a',
        backupId: 'bkp_1',
        view: 'flat',
        sort: 'path',
        limit: 100,
      },
    ]);
  });

  test('goes on where the page before ended, with the same filters', async () => {
    agent.items.push(...['a', 'b', 'c'].map(fileItem));
    const first = await list('/v1/files?limit=2&q=x');
    expect(first).toMatchObject({ has_more: true });
    const cursor = String(first.next_cursor);
    const second = await list(`/v1/files?limit=2&q=x&cursor=${cursor}`);
    expect(second.items.map((item) => item['name'])).toEqual(['c']);
    expect(second.next_cursor).toBeNull();
    await refused('GET', `/v1/files?limit=2&q=y&cursor=${cursor}`, undefined, 'INVALID_CURSOR');
  });

  test.each([
    'limit=1001',
    'view=list',
    'sort=date',
    'type=dir',
    'path=%00',
    'path=a&path_b64=YQ',
    'snapshot=2020-13-01',
  ])('refuses %s', async (query) => {
    await refused('GET', `/v1/files?${query}`, undefined, 'INVALID_REQUEST');
  });

  test('of versions needs a path, and is cut into pages', async () => {
    agent.fileVersions.push(
      ...['s3', 's2', 's1'].map((id) => ({ ...fileItem('a'), snapshot_id: id, change: 'modified' as const })),
    );
    await refused('GET', '/v1/files/versions', undefined, 'MISSING_FIELD');
    const first = await list('/v1/files/versions?path=%2Fa&limit=2');
    const second = await list(`/v1/files/versions?path=%2Fa&limit=2&cursor=${String(first.next_cursor)}`);
    expect([...first.items, ...second.items].map((item) => item['snapshot_id'])).toEqual(['s3', 's2', 's1']);
    expect(second.has_more).toBe(false);
  });
});

describe('content', () => {
  const target = '/v1/files/content?snapshot=snap-1&path=%2Fa%2Fb.txt';

  beforeEach(() => {
    agent.contents.set('/a/b.txt', Buffer.from('0123456789'));
  });

  test('is sent whole, as an attachment', async () => {
    const reply = await ask('GET', target);
    expect(reply.status).toBe(200);
    expect(reply.text).toBe('0123456789');
    expect(reply.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '10',
      'accept-ranges': 'bytes',
      'content-disposition': `attachment; filename="b.txt"; filename*=UTF-8''b.txt`,
    });
    expect(agent.asked).toEqual([{ snapshot: 'snap-1', path: '/a/b.txt' }]);
  });

  test.each([
    ['bytes=0-0', '0', 'bytes 0-0/10'],
    ['bytes=2-4', '234', 'bytes 2-4/10'],
    ['bytes=7-', '789', 'bytes 7-9/10'],
    ['bytes=-2', '89', 'bytes 8-9/10'],
    ['bytes=-99', '0123456789', 'bytes 0-9/10'],
    ['bytes=5-99', '56789', 'bytes 5-9/10'],
  ])('is sent in part for %s', async (range, text, contentRange) => {
    const reply = await ask('GET', target, { headers: { range } });
    expect(reply.status).toBe(206);
    expect(reply.text).toBe(text);
    expect(reply.headers['content-range']).toBe(contentRange);
    expect(reply.headers['content-length']).toBe(String(text.length));
  });

  test.each(['bytes=0-1,4-5', 'lines=1-2', 'bytes=4-2', 'bytes=x'])('is sent whole for %s', async (range) => {
    expect((await ask('GET', target, { headers: { range } })).status).toBe(200);
  });

  test('is sent whole when the range depends on a version that cannot be told', async () => {
    const headers = { range: 'bytes=2-4', 'if-range': '"x"' };
    expect((await ask('GET', target, { headers })).status).toBe(200);
  });

  test.each(['bytes=10-', 'bytes=-0', 'bytes=99-100'])('does not have %s', async (range) => {
    const reply = await ask('GET', target, { headers: { range } });
    expect(reply.status).toBe(416);
    expect(reply.json.error).toMatchObject({ code: 'RANGE_NOT_SATISFIABLE', details: { size_bytes: 10 } });
    expect(reply.headers['content-range']).toBe('bytes */10');
  });

  test('of an empty file is empty', async () => {
    agent.contents.set('/empty', Buffer.alloc(0));
    const reply = await ask('GET', '/v1/files/content?path=%2Fempty');
    expect([reply.status, reply.text]).toEqual([200, '']);
  });

  test('of many pieces comes whole', async () => {
    const bytes = Buffer.alloc(300_000, 'abcdefg');
    agent.contents.set('/big', bytes);
    expect((await ask('GET', '/v1/files/content?path=%2Fbig')).text).toBe(bytes.toString());
  });

  test('needs a path that is in the snapshot', async () => {
    await refused('GET', '/v1/files/content', undefined, 'MISSING_FIELD');
    await refused('GET', '/v1/files/content?path=%2Fnone', undefined, 'PATH_NOT_IN_SNAPSHOT');
  });

  test('answers HEAD without a body', async () => {
    const reply = await ask('HEAD', target);
    expect([reply.status, reply.text, reply.headers['content-length']]).toEqual([200, '', '10']);
  });
});

describe('snapshots', () => {
  beforeEach(() => {
    agent.summaries.push(...[3, 2, 1].map((number) => summary(`snap-${number}`, number)));
    agent.summaries.push(summary('other', 0, '/other'));
  });

  test('are listed in pages, and by source', async () => {
    const first = await list('/v1/snapshots?limit=2&source=%2Fhome%2Fana');
    const cursor = String(first.next_cursor);
    const second = await list(`/v1/snapshots?limit=2&source=%2Fhome%2Fana&cursor=${cursor}`);
    expect([...first.items, ...second.items].map((item) => item['id'])).toEqual([
      'snap-3',
      'snap-2',
      'snap-1',
    ]);
    expect(second.has_more).toBe(false);
    expect((await list('/v1/snapshots')).items).toHaveLength(4);
  });

  test('are listed of one destination alone, by any name that it has', async () => {
    agent.summaries.push({ ...summary('on-disk', 9), destination: 'disk' });
    for (const name of ['disk', encodeURIComponent('file:///disk')]) {
      const { items } = await list(`/v1/snapshots?destination=${name}`);
      expect(items.map(({ id, destination }) => [id, destination])).toEqual([['on-disk', 'disk']]);
    }
    expect((await list('/v1/snapshots?destination=nowhere')).items).toEqual([]);
  });

  test('go on behind one that has been deleted since', async () => {
    const first = await list('/v1/snapshots?limit=2');
    for (const { id } of first.items) await ask('DELETE', `/v1/snapshots/${String(id)}`);
    const second = await list(`/v1/snapshots?limit=2&cursor=${String(first.next_cursor)}`);
    expect(second.items.map(({ id }) => id)).toEqual(['snap-1', 'other']);
    expect(second.has_more).toBe(false);
  });

  test('of which the latest of a source is named by it', async () => {
    agent.summaries.push(summary('snap-1', 5), summary('snap-2', 3, '/etc'));
    const reply = await ask('GET', '/v1/snapshots/latest?source=/etc');
    expect(reply.json.data).toMatchObject({ id: 'snap-2', source: '/etc' });
    await refused('GET', '/v1/snapshots/latest?source=/nowhere', undefined, 'SNAPSHOT_NOT_FOUND');
    await refused('GET', '/v1/snapshots/snap-1?source=/etc', undefined, 'INVALID_REQUEST');
  });

  test('are read and forgotten one by one', async () => {
    const reply = await ask('GET', '/v1/snapshots/snap-2');
    expect(reply.json.data).toMatchObject({
      id: 'snap-2',
      files_count: 3,
      created_at: '1970-01-01T00:00:00.002Z',
    });
    expect((await ask('DELETE', '/v1/snapshots/snap-2')).json.data).toEqual({ id: 'snap-2', deleted: true });
    for (const method of ['GET', 'DELETE']) {
      await refused(method, '/v1/snapshots/snap-2', undefined, 'SNAPSHOT_NOT_FOUND');
    }
    await refused('GET', '/v1/snapshots/snap-2/diff', undefined, 'SNAPSHOT_NOT_FOUND');
    await refused('DELETE', '/v1/snapshots/latest', undefined, 'SNAPSHOT_NOT_FOUND');
  });

  test('are compared', async () => {
    agent.changes.push(
      { path: '/a', path_b64: null, change: 'added', size_before: null, size_after: 5 },
      { path: '/b', path_b64: null, change: 'removed', size_before: 7, size_after: null },
    );
    const first = await list('/v1/snapshots/snap-3/diff?base=snap-1&limit=1');
    expect(first.items).toEqual([agent.changes[0]]);
    expect(agent.asked).toEqual([{ id: 'snap-3', base: 'snap-1' }]);
    const cursor = String(first.next_cursor);
    const second = await list(`/v1/snapshots/snap-3/diff?base=snap-1&limit=1&cursor=${cursor}`);
    expect(second.items).toEqual([agent.changes[1]]);
    await refused(
      'GET',
      `/v1/snapshots/snap-2/diff?base=snap-1&cursor=${cursor}`,
      undefined,
      'INVALID_CURSOR',
    );
    const newest = agent.summaries.at(-1)?.id;
    await list('/v1/snapshots/latest/diff');
    expect(agent.asked.at(-1)).toEqual({ id: newest, base: undefined });
    await list('/v1/snapshots/snap-1/diff?base=latest');
    expect(agent.asked.at(-1)).toEqual({ id: 'snap-1', base: newest });
  });
});

describe('operations', () => {
  test('pause for a while, until a time, and for ever', async () => {
    const now = site.clock.now();
    const until = async (body?: object): Promise<unknown> => {
      const reply = await ask('POST', '/v1/pause', body === undefined ? {} : { body });
      expect(reply.json.data?.['paused']).toBe(true);
      return reply.json.data?.['paused_until'];
    };
    expect(await until({ for: '1h30m' })).toBe(new Date(now + 5_400_000).toISOString());
    expect(await until({ for: 90, interrupt: true })).toBe(new Date(now + 90_000).toISOString());
    expect(await until({ until: '2030-01-01T01:00:00+01:00' })).toBe('2030-01-01T00:00:00.000Z');
    expect(await until()).toBeNull();
    expect(agent.asked).toEqual([
      { until: now + 5_400_000, interrupt: false },
      { until: now + 90_000, interrupt: true },
      { until: Date.parse('2030-01-01T00:00:00Z'), interrupt: false },
      { until: null, interrupt: false },
    ]);
    expect((await ask('POST', '/v1/resume')).json.data).toEqual({ paused: false, paused_until: null });
  });

  test.each([
    { for: 'soon' },
    { for: '0.1s' },
    { for: 0 },
    { for: '60w' },
    { until: '2020-01-01T00:00:00Z' },
    { until: 'x' },
  ])('do not pause with %j', async (body) => {
    await refused('POST', '/v1/pause', body, 'INVALID_REQUEST');
    expect(agent.asked).toEqual([]);
  });

  test('check and prune a destination, the default one without a body', async () => {
    const check = await ask('POST', '/v1/check');
    expect(check.status).toBe(202);
    expect(check.headers['location']).toBe(`/v1/check/${String(check.json.data?.['id'])}`);
    await ask('POST', '/v1/check', { body: { destination: 'file:///disk', read_data: 0.5 } });
    await ask('POST', '/v1/prune', { body: { destination: 'disk', apply_retention: true } });
    await ask('POST', '/v1/prune');
    expect(agent.asked).toEqual([
      { type: 'check', destination: 'default', read_data: 0 },
      { type: 'check', destination: 'disk', read_data: 0.5 },
      { type: 'prune', destination: 'disk', apply_retention: true },
      { type: 'prune', destination: 'default', apply_retention: false },
    ]);
    await refused('POST', '/v1/check', { destination: 'nowhere' }, 'INVALID_DESTINATION');
    await refused('POST', '/v1/check', { read_data: 2 }, 'INVALID_REQUEST');
    await refused('POST', '/v1/prune', { apply_retention: 'yes' }, 'INVALID_REQUEST');
    expect((await list('/v1/check')).items).toHaveLength(2);
    expect((await list('/v1/prune?status=queued')).items).toHaveLength(2);
    expect((await ask('GET', String(check.headers['location']))).json.data).toMatchObject({ type: 'check' });
    await refused('GET', '/v1/prune/prn_0', undefined, 'NOT_FOUND');
  });
});

describe('both prefixes', () => {
  test('answer with the same', async () => {
    const { id } = addBackup({ ...ENDED, snapshot_id: 'snap-1' });
    agent.summaries.push(summary('snap-1', 1));
    agent.items.push(fileItem('a'));
    const targets = [
      '/backup',
      `/backup/${id}`,
      `/backup/${id}/log`,
      '/restore',
      '/check',
      '/prune',
      '/files',
      '/files?limit=0',
      '/files/versions?path=%2Fa',
      '/snapshots',
      '/snapshots/snap-1',
      '/snapshots/none',
      '/snapshots/snap-1/diff',
      '/backup/none',
      '/none',
    ];
    for (const target of targets) {
      const [short, long] = [await ask('GET', `/v1${target}`), await ask('GET', `/api/v1${target}`)];
      const bodies = [short, long].map(({ status, json: { meta: _meta, ...body } }) => ({ status, ...body }));
      expect(bodies[1]).toEqual(bodies[0]);
    }
  });

  test('need a token', async () => {
    for (const target of ['/v1/backup', '/api/v1/files', '/v1/events', '/api/v1/snapshots']) {
      const reply = await site.call(target);
      judge('GET', target, reply);
      expect(reply.json.error?.code).toBe('UNAUTHORIZED');
    }
  });
});

describe('everything else that the document describes', () => {
  test.each(['/v1/status', '/api/v1/status', '/healthz', '/readyz', '/openapi.json', '/docs'])(
    '%s answers without a token',
    async (target) => {
      expect((await ask('GET', target, { token: undefined })).status).toBe(200);
    },
  );

  test('the status tells more to who has a token', async () => {
    expect((await ask('GET', '/v1/status')).json.data).toHaveProperty('sources');
  });

  test('tokens are given for credentials, and for nothing else', async () => {
    const { api_key: key, secret } = site.credential();
    const login = async (body: unknown): Promise<number> =>
      (await ask('POST', '/v1/auth/token', { body, token: undefined })).status;
    expect(await login({ api_key: key, secret })).toBe(200);
    expect(await login({ api_key: key, secret: 'x' })).toBe(401);
    expect(await login({ api_key: key })).toBe(400);
    expect(await login('{')).toBe(400);
  });

  test.each([
    ['PUT', '/v1/backup', {}, 405],
    ['DELETE', '/v1/files', {}, 405],
    ['GET', '/v1/nothing', {}, 404],
    ['GET', '/v2/backup', {}, 404],
    ['GET', '/v1/backup/%zz', {}, 400],
    ['GET', '/v1/backup', { token: 'x.y.z' }, 401],
    ['GET', '/v1/backup', { headers: { host: 'example.org' } }, 403],
    ['GET', '/v1/backup', { headers: { origin: 'https://example.org' } }, 403],
    ['POST', '/v1/backup', { body: 'a=b', headers: { 'content-type': 'text/plain' } }, 415],
    ['POST', '/v1/backup', { body: '{"source":' }, 400],
    ['POST', '/v1/backup', { body: JSON.stringify({ source: 'x'.repeat(1_100_000) }) }, 413],
  ])('%s %s with %j is %d', async (method, target, options, status) => {
    expect((await ask(method, target, options)).status).toBe(status);
  });
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
