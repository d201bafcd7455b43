/** Waiting for the end of a job, over connections that break off. */
import { describe, expect, test } from 'vitest';
import type { Backup } from '../../../dist/client/desktop-api.d.ts';
import { desktopClient } from '../../../src/client/desktop-client.ts';
import { openClientSite, refusal } from '../../support/client-site.ts';
import { presentBackup } from '../../support/presented-backup.ts';
import type { ScriptedReply } from '../../support/scripted-server.ts';

const EVENTS = 'GET /v1/backup/bkp_1/events';
const QUEUED = presentBackup('bkp_1', 'queued');
const DONE = presentBackup('bkp_1', 'completed');

function event(job: Backup | null, id?: number): string {
  const data = JSON.stringify({ type: 'job.updated', at: '2026-11-21T00:00:00.000Z', job, data: {} });
  return `${id === undefined ? '' : `id: ${id}\n`}event: job.updated\ndata: ${data}\n\n`;
}

function stream(...parts: readonly string[]): ScriptedReply {
  return { body: ['retry: 3000\n\n: ping\n\n', ...parts] };
}

describe('waiting for a job', () => {
  test('asks nothing about one that has ended', async () => {
    await using site = await openClientSite(() => refusal(500, 'INTERNAL_ERROR'));
    expect(await site.client.waitForJob(DONE)).toBe(DONE);
    expect(site.server.asked).toEqual([]);
  });

  test('takes the promise of a job as well, and says so when it is given no job', async () => {
    await using site = await openClientSite(() => stream(event(DONE)));
    expect(await site.client.waitForJob(Promise.resolve(QUEUED))).toEqual(DONE);
    for (const other of [undefined, {}, { items: [] }, Promise.resolve({ id: 'bkp_1' })])
      await expect(site.client.waitForJob(other as never)).rejects.toThrow('something else than a job');
  });

  test('is one request, and tells how the job goes on', async () => {
    const running = presentBackup('bkp_1', 'running');
    const other = presentBackup('bkp_2', 'completed');
    await using site = await openClientSite(() =>
      stream(event(QUEUED), event(running, 7), event(other, 8), event(null, 9), event(DONE, 10)),
    );
    const seen: string[] = [];
    const ended = await site.client.waitForJob(QUEUED, { onProgress: ({ status }) => seen.push(status) });
    expect(ended).toEqual(DONE);
    expect(seen).toEqual(['queued', 'running']);
    expect(site.asked().map(({ target }) => target)).toEqual([EVENTS]);
  });

  test('understands an event that comes in pieces, within a letter too', async () => {
    const bytes = Buffer.from(event({ ...DONE, source: '/ä' }));
    const at = bytes.indexOf('ä') + 1;
    await using site = await openClientSite(() => stream());
    let sent = 0;
    const pieces = [bytes.subarray(0, at), bytes.subarray(at)];
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces[sent];
        sent += 1;
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
    });
    const client = desktopClient({
      address: site.server.address,
      apiKey: 'a',
      secret: 'b',
      fetch: async (address, init) =>
        address.endsWith('/events') ? new Response(body) : await fetch(address, init),
    });
    expect(await client.waitForJob(QUEUED)).toMatchObject({ source: '/ä', status: 'completed' });
  });

  test('goes on behind the last event after a connection that broke off, three seconds later and then less often', async () => {
    await using site = await openClientSite((_, count) =>
      count === 1 ? stream(event(QUEUED), event(QUEUED, 41)) : count < 4 ? stream() : stream(event(DONE)),
    );
    const waiting = site.client.waitForJob(QUEUED);
    expect(await site.secondsUntil(waiting)).toBe(3 + 6 + 12);
    expect(await waiting).toEqual(DONE);
    expect(site.asked().map(({ headers }) => headers['last-event-id'])).toEqual([
      undefined,
      '41',
      '41',
      '41',
    ]);
  });

  test('uses up no plan with connections that never last', async () => {
    await using site = await openClientSite(() => stream(event(QUEUED)));
    const over = new AbortController();
    const waiting = site.client.waitForJob(QUEUED, { signal: over.signal });
    const threeMinutes = (async () => {
      while (site.clock.monotonic() < 200_000) await new Promise((resolve) => setTimeout(resolve, 1));
    })();
    await site.secondsUntil(threeMinutes);
    over.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(site.asked().length).toBeLessThan(9);
  });

  test('waits as long as it takes until the plan allows another request', async () => {
    const used = refusal(429, 'RATE_LIMIT_EXCEEDED', { headers: { 'retry-after': '120' } });
    await using site = await openClientSite((_, count) =>
      count === 1 ? stream() : count === 2 ? used : stream(event(DONE)),
    );
    const waiting = site.client.waitForJob(QUEUED);
    expect(await site.secondsUntil(waiting)).toBe(123);
    expect(await waiting).toEqual(DONE);
  });

  test('fails at once when the first request is refused', async () => {
    await using site = await openClientSite(() => refusal(404, 'BACKUP_NOT_FOUND'));
    await expect(site.client.waitForJob(QUEUED)).rejects.toMatchObject({ code: 'BACKUP_NOT_FOUND' });
  });

  test('gives up when the agent stays away', async () => {
    await using site = await openClientSite((_, count) =>
      count === 1 ? stream() : refusal(503, 'SHUTTING_DOWN'),
    );
    const waiting = site.client.waitForJob(QUEUED);
    waiting.catch(() => undefined);
    expect(await site.secondsUntil(waiting)).toBeGreaterThan(60);
    await expect(waiting).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });

  test.each([
    [presentBackup('bkp_1', 'failed'), { code: 'DESTINATION_UNREACHABLE', details: { destination: 'nas' } }],
    [presentBackup('bkp_1', 'canceled'), { code: 'JOB_CANCELED' }],
  ])('fails with what the job failed with', async (job, error) => {
    await using site = await openClientSite(() => stream(event(job)));
    await expect(site.client.waitForJob(QUEUED)).rejects.toMatchObject(error);
    await expect(site.client.waitForJob(job)).rejects.toMatchObject({
      name: 'HoldfastError',
      status: undefined,
    });
  });

  test('ends with its signal', async () => {
    await using site = await openClientSite(() => ({ ...stream(event(QUEUED)), hold: true }));
    const over = new AbortController();
    const waiting = site.client.waitForJob(QUEUED, {
      signal: over.signal,
      onProgress: () => over.abort(new Error('enough')),
    });
    await expect(waiting).rejects.toThrow('enough');
  });
});

test('all events are followed from the one that is known, until nobody listens', async () => {
  await using site = await openClientSite(() => stream(event(null, 5), event(QUEUED, 6)));
  const ids: unknown[] = [];
  for await (const { id, job } of site.client.events({ after: '4' })) {
    ids.push([id, job?.status]);
    if (id === '6') break;
  }
  expect(ids).toEqual([
    ['5', undefined],
    ['6', 'queued'],
  ]);
  expect(site.asked()).toMatchObject([{ target: 'GET /v1/events', headers: { 'last-event-id': '4' } }]);
});
