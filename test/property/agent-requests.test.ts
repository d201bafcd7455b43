/**
 * The requests of desktop-requests.test.ts to the whole agent: with its queue, its engine processes, its catalog and a
 * real repository behind them. 5,000 with HOLDFAST_LONG=1.
 */
// Turn 7 of 8.
import { existsSync } from 'node:fs';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JobType } from '../../src/jobs/job.ts';
import type { Asked } from '../support/arbitrary-requests.ts';
import { anyRequest } from '../support/desktop-requests.ts';
import { socketAsker } from '../support/ask-over-socket.ts';
import { type DaemonSite, openDaemonSite } from '../support/daemon-site.ts';
import { judge } from '../support/openapi-judge.ts';

const LONG = process.env['HOLDFAST_LONG'] === '1';
const REQUESTS = LONG ? 5_000 : 150;
/** Requests between two steps of the clock: fewer than any plan takes in an hour, or an address in a minute. */
const STEP = 300;
const HOUR_MS = 3_600_000;

let site: DaemonSite;
let token: string;

beforeAll(async () => {
  site = await openDaemonSite();
  site.write({ 'a.txt': 'hello', 'd/b.txt': 'b', 'd/\u{1f4be}': 'disk' });
  // Restores stay below the directory that is removed in the end; no request can change that.
  await site.configure({ plan: 'pro', restore: { allowedRoots: [site.directory] } });
  await site.backUp();
  token = await signIn();
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

async function signIn(): Promise<string> {
  const { api_key, secret } = await site.ask('create_credential', { name: 'fuzz' });
  const reply = await fetch(`http://127.0.0.1:${site.daemon.listening.port}/v1/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key, secret }),
  });
  const { data } = (await reply.json()) as { readonly data: { readonly access_token: string } };
  return data.access_token;
}

function known(kind: string): readonly string[] {
  if (kind === 'source') return [site.source];
  if (kind === 'restored') return [`${site.directory}/restored`];
  return site.jobs(kind as JobType).map(({ id }) => id);
}

/** What would read or write other places of this machine, or wait for a job. */
function isHarmless({ method, target, body, headers }: Asked): boolean {
  if (headers['prefer'] !== undefined) return false;
  if (method === 'PUT') return false;
  if (method !== 'POST' || !/\/backup(?:$|\?)/.test(target) || typeof body !== 'string') return true;
  const { source, destination } = parsed(body);
  if (typeof destination === 'string' && /[/:~\\]/.test(destination)) return false;
  return typeof source !== 'string' || source.startsWith('known-') || !existsSync(source);
}

function parsed(body: string): { readonly source?: unknown; readonly destination?: unknown } {
  try {
    return (JSON.parse(body) as object | null) ?? {};
  } catch {
    // The agent will say so.
    return {};
  }
}

test(
  `the whole agent takes ${REQUESTS.toLocaleString('en')} requests without a fault of its own`,
  async () => {
    using asker = socketAsker({ port: site.daemon.listening.port, token: () => token, known });
    const seen = new Map<number, number>();
    let asked = 0;
    await fc.assert(
      fc.asyncProperty(anyRequest.filter(isHarmless), async (request) => {
        asked += 1;
        if (asked % STEP === 0) {
          site.clock.skip(HOUR_MS);
          token = await signIn();
        }
        const { target, reply } = await asker.ask(request);
        seen.set(reply.status, (seen.get(reply.status) ?? 0) + 1);
        expect(reply.status, reply.text.slice(0, 500)).toBeLessThan(500);
        if (!target.startsWith('/internal/')) judge(request.method, target, reply);
      }),
      { numRuns: REQUESTS },
    );
    if (LONG) process.stdout.write(`${JSON.stringify(Object.fromEntries(seen))}\n`);
    expect(seen.get(200)).toBeGreaterThan(REQUESTS / 20);
    expect((await site.status()).version).toBe('0.0.0');
    expect(site.log.filter((line) => line.includes('A request failed'))).toEqual([]);
  },
  LONG ? 3_600_000 : 120_000,
);
