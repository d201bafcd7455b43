/**
 * Requests made from the document, right and wrong ones, one after the other on the same state: whatever is asked, the
 * reply is one that the document describes, and never a fault of the agent. 20,000 of them with HOLDFAST_LONG=1.
 */
// Turn 7 of 8.
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FULL_KEYS } from '../../src/base/stored-by.ts';
import type { FileItem } from '../../src/jobs/agent.ts';
import { type ApiSite, openApiSite } from '../support/api-site.ts';
import { anyRequest } from '../support/desktop-requests.ts';
import { socketAsker } from '../support/ask-over-socket.ts';
import { BACKUP_OPTIONS, type MemoryAgent, memoryAgent } from '../support/memory-agent.ts';
import { judge } from '../support/openapi-judge.ts';

const LONG = process.env['HOLDFAST_LONG'] === '1';
const REQUESTS = LONG ? 20_000 : 1_000;

let site: ApiSite;
let agent: MemoryAgent;
let token: string;

beforeAll(async () => {
  agent = memoryAgent(() => site.clock);
  const requests = { requests: 1_000_000, windowMs: 1_000 };
  const plans = { free_trial: requests, pro: requests, business: requests };
  const failedLogins = { perKey: requests, total: requests };
  site = await openApiSite({
    // Nobody turns the clock here: a wait is over at once.
    agent: { ...agent, waitFor: async (id) => await Promise.resolve(requireJob(id)) },
    limits: { plans, failedLogins, anonymous: requests },
  });
  token = await site.token();
  fillAgent();
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

function requireJob(id: string) {
  const job = agent.job(id);
  if (job === undefined) throw new Error(`no job ${id}`);
  return job;
}

function fillAgent(): void {
  const backup = (source: string) =>
    ({ type: 'backup', source, destination: 'default', options: BACKUP_OPTIONS }) as const;
  agent.add(backup('/home/ana'), {
    status: 'completed',
    result: 'warning',
    finished_at: 5,
    snapshot_id: 'snap-1',
  });
  agent.add(backup('/home/bo'), { status: 'running', phase: 'uploading', started_at: 5 });
  agent.add(backup('/home/\u202e\0'), {
    status: 'failed',
    finished_at: 5,
    error: { code: 'NO_SUCH_CODE', message: 'x', details: {} },
  });
  agent.add({ type: 'check', destination: 'default', read_data: 0.5 });
  agent.add(
    { type: 'prune', destination: 'default', apply_retention: true },
    { status: 'canceled', finished_at: 5 },
  );
  agent.lines.push({ at: 5, level: 'warn', text: '\ud800' });
  for (let count = 0; count < 400; count += 1) {
    agent.summaries.push({
      id: `snap-${count}`,
      source: '/home/ana',
      paths: ['/home/ana'],
      destination: 'default',
      host: 'desk',
      stored_by: FULL_KEYS,
      said_at: null,
      tags: [],
      pinned: false,
      partial: false,
      unread: { paths: [], count: 0 },
      created_at: count,
      files: 3,
      size_bytes: 30,
      rank: count,
      unreadable: 0,
      backup_id: null,
    });
  }
  for (const name of ['a', 'ü', '\ufffd', '']) agent.items.push(fileItem(name));
  for (const item of agent.items) agent.fileVersions.push({ ...item, change: 'added' });
  agent.changes.push({
    path: '/home/ana/a',
    path_b64: null,
    change: 'added',
    size_before: null,
    size_after: 5,
  });
  agent.contents.set('/home/ana', Buffer.from('0123456789'));
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

function known(kind: string): readonly string[] {
  if (kind === 'source') return ['/home/ana'];
  if (kind === 'restored') return ['/restored'];
  return [...agent.added.values()].filter((job) => job.type === kind).map(({ id }) => id);
}

test(
  `every reply to ${REQUESTS.toLocaleString('en')} requests is one that the document describes, and none is a fault of the agent`,
  async () => {
    using asker = socketAsker({ port: site.port, token: () => token, known });
    const seen = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(anyRequest, async (asked) => {
        const { target, reply } = await asker.ask(asked);
        seen.set(reply.status, (seen.get(reply.status) ?? 0) + 1);
        expect(reply.status, reply.text.slice(0, 500)).toBeLessThan(500);
        // The routes of the product's own page are in no document.
        if (!target.startsWith('/internal/')) judge(asked.method, target, reply);
      }),
      { numRuns: REQUESTS },
    );
    if (LONG) process.stdout.write(`${JSON.stringify(Object.fromEntries(seen))}\n`);
    // Not everything is refused at the door.
    expect(seen.get(200)).toBeGreaterThan(REQUESTS / 20);
    expect(seen.get(400)).toBeGreaterThan(REQUESTS / 20);
    for (const status of [202, 401, 403, 404, 405, 409]) {
      expect(seen.get(status), String(status)).toBeGreaterThan(0);
    }
    expect((await site.inject('/v1/status')).status).toBe(200);
  },
  LONG ? 3_600_000 : 120_000,
);
