/** The real agent told to end while it works, and what it starts beside each other. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  embeddedPlace,
  leasesIn,
  prepareAgent,
  startAgent,
  until,
  type AgentPlace,
  type RunningAgent,
  type ShownJob,
} from './agent-program.ts';
import { isAlive } from '../support/is-alive.ts';
import { say } from './settings.ts';
import { Workspace } from './workspace.ts';

/** What a service manager is told that a stop takes at most. */
const STOP_MS = 10_000;

interface Site extends Disposable {
  readonly place: AgentPlace;
  readonly source: string;
  readonly snapshot: string;
  path(name: string): string;
}

/** @param uploadLimit as the settings have it */
async function openSite(name: string, files: number, uploadLimit: string | null): Promise<Site> {
  const workspace = new Workspace(name);
  const source = workspace.path('source');
  mkdirSync(source);
  for (let i = 0; i < files; i += 1) writeFileSync(join(source, `file${i}`), randomBytes(1_000_000));
  const bandwidth = [{ from: '00:00', uploadLimit }];
  const place = await prepareAgent(embeddedPlace(workspace.directory), { bandwidth });
  const agent = await startAgent(place);
  const first = await agent.finished('/backup', (await agent.submit('/backup', { source })).id);
  await agent.stop();
  return {
    place,
    source,
    snapshot: first.snapshot_id ?? '',
    path: (below) => workspace.path(below),
    [Symbol.dispose]: () => workspace[Symbol.dispose](),
  };
}

type Path = '/backup' | '/restore' | '/check' | '/prune';

async function begin(site: Site, agent: RunningAgent, path: Path, round: number): Promise<ShownJob> {
  switch (path) {
    case '/backup':
      for (let i = 0; i < 20; i += 1) writeFileSync(join(site.source, `more${i}`), randomBytes(2_000_000));
      return await agent.submit(path, { source: site.source });
    case '/restore': {
      const target = site.path(`target-${round}`);
      mkdirSync(target);
      return await agent.submit(path, { snapshot_id: site.snapshot, target });
    }
    case '/check':
      return await agent.submit(path, { read_data: 1 });
    case '/prune':
      return await agent.submit(path, {});
  }
}

describe('an agent that is told to end', () => {
  test('ends within ten seconds whatever it does, and goes on with it', async () => {
    using site = await openSite('agent-stop', 40, null);
    for (const path of ['/backup', '/restore', '/check', '/prune'] as const) {
      let stopped = 0;
      for (let round = 0; round < 2; round += 1) {
        const agent = await startAgent(site.place);
        const { id } = await begin(site, agent, path, round);
        await until(`${path} at work`, async () => {
          const job = await agent.job(path, id);
          return job.phase !== null || job.finished_at !== null || undefined;
        });
        const begunMs = performance.now();
        expect(await agent.stop()).toBe(0);
        const tookMs = performance.now() - begunMs;
        expect(tookMs).toBeLessThan(STOP_MS);
        expect(leasesIn(site.place.repository)).toEqual([]);
        const next = await startAgent(site.place);
        const job = await next.finished(path, id);
        expect(job).toMatchObject({ status: 'completed', attempt: 1 });
        const { data } = await next.ask('GET', `${path}/${id}/log`);
        const wasStopped = JSON.stringify(data).includes('Stopped; it will continue later.');
        stopped += wasStopped ? 1 : 0;
        say(`${path} ${wasStopped ? 'stopped' : 'over'}: the agent ended after ${Math.round(tookMs)} ms`);
        await next.stop();
      }
      // Checks and prunes of so little may be over before they are hit.
      if (path === '/backup' || path === '/restore') expect(stopped, path).toBeGreaterThan(0);
    }
  });

  test('ends within ten seconds when its engine does not answer', async () => {
    using site = await openSite('agent-stuck', 3, '4 MiB');
    const agent = await startAgent(site.place);
    const { id } = await begin(site, agent, '/backup', 0);
    await until(
      'the upload',
      async () => (await agent.job('/backup', id)).phase === 'uploading' || undefined,
    );
    const [engine = 0] = agent.engines();
    process.kill(engine, 'SIGSTOP');
    const begunMs = performance.now();
    expect(await agent.stop()).toBe(0);
    const tookMs = performance.now() - begunMs;
    say(`stop with a stuck engine: ${Math.round(tookMs)} ms`);
    expect(tookMs).toBeLessThan(STOP_MS);
    expect(isAlive(engine)).toBe(false);
    const next = await startAgent(site.place);
    expect(await next.finished('/backup', id)).toMatchObject({ status: 'completed', attempt: 1 });
    await next.stop();
  });
});

test('an agent never works on one destination or one source twice at a time', async () => {
  using site = await openSite('agent-beside', 40, null);
  const other = site.path('other');
  mkdirSync(other);
  for (let i = 0; i < 20; i += 1) writeFileSync(join(other, `file${i}`), randomBytes(1_000_000));
  const [one, two] = [site.path('one'), site.path('two')];
  const agent = await startAgent(site.place);
  const wanted = [
    [site.source, one],
    [site.source, two],
    [other, one],
    [other, two],
    [site.source, one],
    [other, `file://${two}`],
  ] as const;
  const jobs = await Promise.all(
    wanted.map(async ([source, destination]) => await agent.submit('/backup', { source, destination })),
  );
  const ended = await Promise.all(jobs.map(async ({ id }) => await agent.finished('/backup', id)));
  const times = ended.map((job, i) => ({
    source: wanted[i]?.[0],
    destination: wanted[i]?.[1].replace('file://', ''),
    from: Date.parse(job.started_at ?? ''),
    to: Date.parse(job.finished_at ?? ''),
  }));
  expect(ended.map(({ status }) => status)).toEqual(wanted.map(() => 'completed'));
  const pairs = times.flatMap((a, i) => times.slice(i + 1).map((b) => [a, b] as const));
  const beside = pairs.filter(([a, b]) => a.from < b.to && b.from < a.to);
  expect(beside.filter(([a, b]) => a.source === b.source || a.destination === b.destination)).toEqual([]);
  // What has nothing in common does run at the same time.
  expect(beside.length).toBeGreaterThan(0);
  await agent.stop();
});
