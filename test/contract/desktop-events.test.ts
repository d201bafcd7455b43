/** Event streams of the Desktop API over real connections, judged by docs/api/desktop.yaml. */
// Turn 1 of 8.
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PING_MS } from '../../src/api/routes/event-stream.ts';
import type { Job } from '../../src/jobs/job.ts';
import { NO_PROGRESS } from '../../src/jobs/job.ts';
import { type ApiSite, openApiSite } from '../support/api-site.ts';
import { settle } from '../support/manual-clock.ts';
import { BACKUP_OPTIONS, type MemoryAgent, memoryAgent } from '../support/memory-agent.ts';
import { eventData, judge } from '../support/openapi-judge.ts';

let site: ApiSite;
let agent: MemoryAgent;
let token: string;

beforeEach(async () => {
  agent = memoryAgent(() => site.clock);
  site = await openApiSite({ agent });
  token = await site.token();
});

afterEach(async () => {
  await site[Symbol.asyncDispose]();
});

interface Stream {
  readonly response: IncomingMessage;
  readonly text: () => string;
  /** As `4711 job.updated running`: id, kind and state of the job. */
  readonly events: () => readonly string[];
  readonly ended: Promise<void>;
  /** Breaks the connection off, and waits until the server has noticed. */
  leave(): Promise<void>;
}

async function follow(target: string, headers: Readonly<Record<string, string>> = {}): Promise<Stream> {
  const request = httpRequest({
    host: '127.0.0.1',
    port: site.port,
    path: target,
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
  request.end();
  const [response]: [IncomingMessage] = (await once(request, 'response')) as [IncomingMessage];
  let text = '';
  response.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  // A stream that was left ends with an error too, which is what was wanted.
  response.once('error', () => resolve()).once('close', () => resolve());
  await until(() => text !== '');
  return {
    response,
    text: () => text,
    events: () =>
      text
        .split('\n\n')
        .filter((block) => block.includes('event: '))
        .map((block) => {
          const id = /^id: (.*)$/m.exec(block)?.[1] ?? '-';
          const kind = /^event: (.*)$/m.exec(block)?.[1] ?? '';
          const [data] = eventData(block) as readonly { readonly job: { readonly status: string } | null }[];
          return `${id} ${kind} ${data?.job?.status ?? '-'}`;
        }),
    ended,
    async leave() {
      request.destroy();
      await until(() => agent.listeners === 0);
    },
  };
}

async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1_000 && !condition(); turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(condition()).toBe(true);
}

/** Moves the clock, and lets what is sent arrive. */
async function pass(ms: number): Promise<void> {
  await site.clock.advance(ms);
  await settle();
  await new Promise((resolve) => setTimeout(resolve, 20));
}

function judged(target: string, { response, text }: Stream): void {
  judge('GET', target, { status: response.statusCode ?? 0, headers: response.headers, text: text() });
}

function addBackup(changes: Partial<Job> = {}): Job {
  return agent.add(
    { type: 'backup', source: '/home/ana', destination: 'default', options: BACKUP_OPTIONS },
    changes,
  );
}

const ALARM = {
  id: 'alm_burst_0_1a2b3c4d',
  kind: 'burst',
  source: '/home/ana',
  at: 0,
  text: '40,000 files of /home/ana were rewritten.',
  facts: { files: 40_000 },
  before: null,
};
const RUNNING = { status: 'running', phase: 'uploading', started_at: 0 } as const;
const COMPLETED = { status: 'completed', result: 'success', phase: null, finished_at: 9 } as const;

describe('the stream of all events', () => {
  test('tells of what happens from now on, in the form of the document', async () => {
    addBackup();
    const stream = await follow('/v1/events');
    expect(stream.response.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    const { id } = addBackup();
    agent.add({ type: 'drill', destination: 'default', files: 5 });
    agent.tell({ kind: 'alarm', jobId: null, data: { ...ALARM } });
    agent.tell({ kind: 'config', jobId: null, data: { status: 'ok', error: null } });
    agent.tell({ kind: 'status', jobId: null, data: { paused: true, until: 0 } });
    agent.change(id, COMPLETED);
    await until(() => stream.events().length === 6);
    expect(stream.events()).toEqual([
      '2 job.created completed',
      '3 job.created queued',
      '4 alarm -',
      '5 config -',
      '6 status -',
      '7 job.finished completed',
    ]);
    judged('/v1/events', stream);
    expect(stream.text()).toContain('"kind":"burst"');
    expect(stream.text()).toMatch(/^retry: 3000\n\n/);
    expect(stream.text()).not.toContain('not for the stream');
    await stream.leave();
  });

  test('goes on behind the last event that the client has', async () => {
    for (let count = 0; count < 5; count += 1) addBackup();
    const stream = await follow('/api/v1/events', { 'last-event-id': '3' });
    await until(() => stream.events().length === 2);
    expect(stream.events()).toEqual(['4 job.created queued', '5 job.created queued']);
    judged('/api/v1/events', stream);
    await stream.leave();
  });

  test('is refused to who names no event', async () => {
    const reply = await site.call('/v1/events', { token, headers: { 'last-event-id': 'x' } });
    judge('GET', '/v1/events', reply);
    expect(reply.json.error?.code).toBe('INVALID_REQUEST');
  });

  test('ends when its credential is revoked, before the next event is told', async () => {
    const credential = site.credential();
    token = await site.token(credential);
    const stream = await follow('/v1/events');
    addBackup();
    await until(() => stream.events().length === 1);
    site.server.credentials.revoke(credential.api_key);
    addBackup();
    await stream.ended;
    expect(stream.events()).toEqual(['1 job.created queued']);
    await until(() => agent.listeners === 0);
  });

  test('ends when its token has expired, also when nothing happens', async () => {
    const stream = await follow('/v1/events');
    for (let at = PING_MS; at < 3_600_000; at += PING_MS) await site.clock.advance(PING_MS);
    await pass(0);
    expect(stream.response.complete).toBe(false);
    await pass(PING_MS);
    await stream.ended;
    expect(stream.response.complete).toBe(true);
    await until(() => agent.listeners === 0);
  });

  test('is never silent for longer than 15 seconds', async () => {
    const stream = await follow('/v1/events');
    await pass(14_999);
    expect(stream.text()).not.toContain(': ping');
    await pass(1);
    expect(stream.text().match(/^: ping$/gm)).toHaveLength(1);
    await pass(15_000);
    expect(stream.text().match(/^: ping$/gm)).toHaveLength(2);
    await stream.leave();
  });

  test('tells of progress twice a second, and of the latest', async () => {
    const { id } = addBackup(RUNNING);
    const stream = await follow('/v1/events');
    for (let done = 1; done <= 100; done += 1) {
      agent.change(id, { progress: { ...NO_PROGRESS, bytes_done: done } });
      await pass(20);
    }
    const shown = stream.events();
    expect(shown.length).toBeGreaterThanOrEqual(3);
    expect(shown.length).toBeLessThanOrEqual(4);
    await pass(550);
    expect(stream.text()).toContain('"bytes_done":100');
    agent.change(id, COMPLETED);
    await until(() => stream.events().at(-1)?.endsWith('job.finished completed') === true);
    await stream.leave();
  });

  test('is not followed by HEAD', async () => {
    const reply = await site.call('/v1/events', { method: 'HEAD', token });
    judge('HEAD', '/v1/events', reply);
    expect([reply.status, reply.text]).toEqual([200, '']);
    await until(() => agent.listeners === 0);
  });

  test('ends when the server closes', async () => {
    const stream = await follow('/v1/events');
    await site.server.close(10_000);
    await stream.ended;
    expect(stream.response.complete).toBe(true);
  });
});

describe('the stream of a job', () => {
  test('begins with its state and ends when it has ended', async () => {
    const { id } = addBackup();
    const target = `/v1/backup/${id}/events`;
    const stream = await follow(target);
    addBackup();
    agent.change(id, RUNNING);
    await until(() => stream.events().length === 2);
    agent.change(id, COMPLETED);
    await stream.ended;
    expect(stream.events()).toEqual([
      '- job.updated queued',
      '3 job.updated running',
      '4 job.finished completed',
    ]);
    judged(target, stream);
    expect(agent.listeners).toBe(0);
  });

  test('of one that has ended says so at once', async () => {
    const { id } = addBackup(COMPLETED);
    const stream = await follow(`/v1/backup/${id}/events`);
    await stream.ended;
    expect(stream.events()).toEqual(['- job.finished completed']);
  });

  test('is resumed where it broke off, though the job has ended since', async () => {
    const { id } = addBackup(RUNNING);
    for (let done = 1; done <= 4; done += 1) agent.change(id, { files_done: done });
    agent.change(id, COMPLETED);
    await site.clock.advance(1_000);
    const stream = await follow(`/v1/backup/${id}/events`, { 'last-event-id': '4' });
    await stream.ended;
    expect(stream.events()).toEqual(['5 job.updated completed', '6 job.finished completed']);
  });

  test('is resumed by a client that has everything, and ends', async () => {
    const { id } = addBackup();
    agent.change(id, COMPLETED);
    const stream = await follow(`/v1/backup/${id}/events`, { 'last-event-id': '2' });
    await pass(500);
    await stream.ended;
    expect(stream.events()).toEqual(['- job.finished completed']);
  });

  test('exists for every type of job', async () => {
    const { id } = agent.add({ type: 'check', destination: 'default', read_data: 0 }, COMPLETED);
    const stream = await follow(`/v1/check/${id}/events`);
    await stream.ended;
    judged(`/v1/check/${id}/events`, stream);
    expect(stream.text()).toContain('"type":"check"');
  });
});
