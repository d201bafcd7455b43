/** The agent as a person starts it and an application uses it: the real program, real HTTP, real files. */
// Turn 6 of 8.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { jsonLines, openPlace, type Place } from '../support/cli.ts';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import { judge } from '../support/openapi-judge.ts';
import { restoredPath } from '../support/restored-path.ts';

interface RunningAgent extends AsyncDisposable {
  readonly address: string;
  readonly process: ChildProcess;
}

const fresh = { env: { HOLDFAST_REPOSITORY: undefined, HOLDFAST_PASSWORD: undefined } };

async function startAgent(place: Place, words: readonly string[] = []): Promise<RunningAgent> {
  const child = place.start(['start', '--port', '0', '--json', ...words], fresh);
  child.stderr?.resume();
  const ended = once(child, 'exit');
  for await (const line of createInterface(child.stdout ?? process.stdin)) {
    const said = JSON.parse(line) as { type: string; address?: string };
    if (said.type !== 'ready') throw new Error(line);
    child.stdout?.resume();
    return {
      address: said.address ?? '',
      process: child,
      async [Symbol.asyncDispose]() {
        if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
        await ended;
      },
    };
  }
  throw new Error('the agent ended at once');
}

/** As in the README of an application: plain curl. */
async function curl(
  words: readonly string[],
): Promise<{ status: number; headers: Record<string, string>; text: string }> {
  const child = spawn('curl', ['--silent', '--include', '--max-time', '60', ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const parts: Buffer[] = [];
  child.stdout.on('data', (part: Buffer) => parts.push(part));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`curl ended with ${code}`);
  const reply = Buffer.concat(parts).toString('utf8');
  const end = reply.indexOf('\r\n\r\n');
  const [first = '', ...lines] = reply.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  return { status: Number(first.split(' ')[1]), headers, text: reply.slice(end + 4) };
}

interface Caller {
  get(path: string): Promise<Reply>;
  post(path: string, body: object, more?: readonly string[]): Promise<Reply>;
}

/** What these tests look at; the document judges the whole of it. */
interface Data {
  readonly id: string;
  readonly status: string;
  readonly access_token: string;
  readonly sources?: unknown;
  readonly items: readonly { readonly path: string; readonly name: string }[];
  readonly storage: { readonly used_bytes: number };
}

interface Reply {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly data: Data;
  readonly error: { readonly message: string };
}

function caller(base: string, token?: string): Caller {
  const auth = token === undefined ? [] : ['--header', `Authorization: Bearer ${token}`];
  const call = async (method: string, path: string, words: readonly string[]): Promise<Reply> => {
    const { status, headers, text } = await curl([...auth, ...words, `${base}${path}`]);
    const body: unknown = JSON.parse(text);
    judge(method, `/v1${path}`, { status, headers, text });
    return { status, headers, ...(body as Pick<Reply, 'data' | 'error'>) };
  };
  return {
    get: async (path) => await call('GET', path, []),
    post: async (path, body, more = []) =>
      await call('POST', path, [
        ...more,
        '--header',
        'Content-Type: application/json',
        '--data',
        JSON.stringify(body),
      ]),
  };
}

async function token(place: Place, base: string): Promise<string> {
  const made = await place.expectRun(['credentials', 'create', '--name', 'test', '--json'], 0, fresh);
  const { api_key, secret } = jsonLines(made)[0] as { api_key: string; secret: string };
  const { data } = await caller(base).post('/auth/token', { api_key, secret });
  return data.access_token;
}

const hasCurl = spawnSync('curl', ['--version']).status === 0;

describe.runIf(hasCurl)('the agent', () => {
  test.each(['/v1', '/api/v1'])(
    'does what the contract says under %s, called by plain curl',
    async (prefix) => {
      await using place = await openPlace();
      await place.write({ 'a.txt': 'hello', 'deep/er/b.bin': randomBytes(3_000_000), 'empty/': '' });
      await using agent = await startAgent(place);
      const base = `${agent.address}${prefix}`;
      const status = await caller(base).get('/status');
      expect(status.data).toMatchObject({ status: 'starting', api_version: 'v1' });
      expect(status.data.sources).toBeUndefined();

      const api = caller(base, await token(place, base));
      const options = { compression: 'zstd', encryption: true, deduplication: true };
      const asked = await api.post('/backup', { source: place.source, destination: 'default', options });
      expect(asked.status).toBe(202);
      expect(asked.headers['location']).toBe(`${prefix}/backup/${asked.data.id}`);
      expect(asked.headers['x-ratelimit-limit']).toBe('100');
      let job = asked.data;
      while (!['completed', 'failed', 'canceled'].includes(job.status)) {
        await delay(100);
        job = (await api.get(`/backup/${job.id}`)).data;
      }
      expect(job).toMatchObject({
        status: 'completed',
        result: 'success',
        files_backed_up: 2,
        size_bytes: 3_000_005,
      });

      const files = await api.get(`/files?backup_id=${job.id}&type=file`);
      expect(files.data.items.map((item) => item.path)).toEqual([
        join(place.source, 'a.txt'),
        join(place.source, 'deep/er/b.bin'),
      ]);
      const target = join(place.directory, 'back');
      const restored = await api.post('/restore', { backup_id: job.id, target }, [
        '--header',
        'Prefer: wait=60',
      ]);
      expect(restored.data).toMatchObject({ status: 'completed', files_restored: 2, files_failed: 0 });
      expect(compareTrees(place.source, restoredPath(target, place.source)).map(shownDifference)).toEqual([]);

      const missing = await api.post('/backup', { source: '/no/such/place' });
      expect(missing.status).toBe(400);
      expect(missing.error).toMatchObject({
        code: 'INVALID_SOURCE',
        details: { path: '/no/such/place', reason: 'not_found' },
      });
      expect(missing.error.message).toContain('does not exist');
    },
  );

  test('backs a named source up at once, again when it changes, and says that it protects', async () => {
    await using place = await openPlace();
    await place.write({ a: 'one' });
    await using agent = await startAgent(place, ['--source', place.source]);
    const api = caller(`${agent.address}/v1`, await token(place, `${agent.address}/v1`));
    const snapshots = async (): Promise<number> => (await api.get('/snapshots')).data.items.length;
    while ((await snapshots()) < 1) await delay(200);
    await place.expectRun(['status'], 0, fresh);
    await place.write({ b: 'two' });
    while ((await snapshots()) < 2) await delay(300);
    const found = await api.get('/files?q=b&type=file');
    expect(found.data.items.map((item) => item.name)).toEqual(['b']);
    const said = await place.expectRun(['status'], 0, fresh);
    expect(said.stdout).toMatch(/^Protected(?: from mistakes)?[:,] .*last good (?:backup|one) is /);
  });

  test('ends within ten seconds when it is told to, and only one runs on a state directory', async () => {
    await using place = await openPlace();
    await using agent = await startAgent(place);
    const second = await place.run(['start', '--port', '0'], fresh);
    expect(second.code).toBe(1);
    expect(second.stderr).toContain('The agent is already running');
    const began = performance.now();
    agent.process.kill('SIGTERM');
    const [code] = (await once(agent.process, 'exit')) as [number];
    expect(code).toBe(0);
    expect(performance.now() - began).toBeLessThan(10_000);
    const gone = await place.run(['status'], fresh);
    expect(gone.code).toBe(1);
    expect(gone.stdout).toContain('the agent is not running');
  });

  test('killed in the middle of a backup, completes it at the next start without storing anything twice', async () => {
    await using place = await openPlace();
    for (let i = 0; i < 60; i += 1) await place.write({ [`file-${i}`]: randomBytes(1_000_000) });
    const first = await startAgent(place);
    const api = caller(`${first.address}/v1`, await token(place, `${first.address}/v1`));
    const { data } = await api.post('/backup', { source: place.source });
    while ((await api.get(`/backup/${data.id}`)).data.status === 'queued') await delay(10);
    await delay(150);
    first.process.kill('SIGKILL');
    await once(first.process, 'exit');

    await using second = await startAgent(place);
    const again = caller(`${second.address}/v1`, await token(place, `${second.address}/v1`));
    let job = (await again.get(`/backup/${data.id}`)).data;
    while (!['completed', 'failed', 'canceled'].includes(job.status)) {
      await delay(100);
      job = (await again.get(`/backup/${data.id}`)).data;
    }
    expect(job).toMatchObject({ status: 'completed', files_backed_up: 60 });
    expect((await again.get('/snapshots')).data.items).toHaveLength(1);
    const { data: after } = await again.get('/status');
    expect(after.storage.used_bytes).toBeLessThan(60_000_000 * 1.1 + 33_554_432);
  });
});
