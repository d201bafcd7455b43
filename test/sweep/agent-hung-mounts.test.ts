/**
 * The real agent beside file systems that never answer: in its way lie one source of three, a part of another, and one
 * destination of two. Mounting takes root and /dev/fuse.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startAgent, prepareAgent, embeddedPlace, until, type RunningAgent } from './agent-program.ts';
import { canHang, HungMount } from './hung-mount.ts';
import { held, say } from './settings.ts';
import { Workspace } from './workspace.ts';

/** Milliseconds in which the agent answers whoever asks it, while it does everything else. */
const MOST_ASKED_MS = 1_000;
/** In which a backup of what hangs has ended, and the start of the agent. */
const MOST_MS = 30_000;
const HOURS = 'every 12h';

if (!canHang) test.skip('hung mounts were not tested: that takes root and /dev/fuse', () => {});

test.runIf(canHang)(
  'an agent goes on beside what never answers, and with it when it answers again',
  async () => {
    using workspace = new Workspace('agent-hung');
    const [near, far, part, disk] = ['near', 'far', 'part', 'disk'].map((name) => workspace.path(name));
    const inner = join(String(part), 'inner');
    for (const path of [near, far, inner]) {
      mkdirSync(String(path), { recursive: true });
      writeFileSync(join(String(path), 'file'), `in ${path}`);
    }
    mkdirSync(String(disk));
    const secret = workspace.path('passphrase');
    writeFileSync(secret, 'correct horse battery staple', { mode: 0o600 });
    const place = await prepareAgent(embeddedPlace(workspace.path('home')), {
      sources: [near, far, part].map((path) => ({ path, schedule: HOURS })),
      destinations: { disk: { url: disk, passphrase: { file: secret } } },
    });
    const before = await startAgent(place);
    for (const destination of ['default', 'disk']) await expectBackup(before, near, destination, 'success');
    await before.stop();

    const times: number[] = [];
    let agent: RunningAgent;
    {
      using _far = new HungMount(String(far));
      using _inner = new HungMount(inner);
      using _disk = new HungMount(String(disk));
      const started = performance.now();
      agent = await startAgent(place);
      expect(performance.now() - started).toBeLessThan(MOST_MS);
      const asking = keepAsking(agent, times);
      await expectBackup(agent, near, 'default', 'success');
      await expectBackup(agent, part, 'default', 'warning');
      const refused = await agent.ask('POST', '/backup', { source: far });
      expect(refused).toMatchObject({ status: 400, code: 'INVALID_SOURCE' });
      const { data } = await agent.ask('POST', '/backup', { source: near, destination: 'disk' });
      const { id } = data as { id: string };
      await until('waiting for the disk', async () => {
        const { status, waiting_for: reason } = await agent.job('/backup', id);
        return status === 'queued' && /destination/i.test(reason ?? '') ? true : undefined;
      });
      const list = await agent.ask('GET', '/status');
      expect(list.data).toMatchObject({ watcher: { status: 'degraded' } });
      await asking.stop();
    }
    for (const path of [far, part, near])
      for (const destination of ['default', 'disk']) await expectBackup(agent, path, destination, 'success');
    expect(await agent.stop()).toBe(0);
    const most = Math.max(...times);
    expect(times.length).toBeGreaterThan(20);
    expect(most).toBeLessThan(MOST_ASKED_MS);
    say(`agent beside hung mounts: ${times.length} questions, the slowest ${Math.round(most)} ms`, held(3));
  },
);

async function expectBackup(
  agent: RunningAgent,
  source: string | undefined,
  destination: string,
  result: 'success' | 'warning',
): Promise<void> {
  const started = performance.now();
  const { id } = await agent.submit('/backup', { source, destination });
  const job = await agent.finished('/backup', id);
  expect(job).toMatchObject({ status: 'completed', result, error: null });
  expect(performance.now() - started).toBeLessThan(MOST_MS);
}

function keepAsking(agent: RunningAgent, times: number[]): { stop(): Promise<void> } {
  const over = new AbortController();
  const ask = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const started = performance.now();
      expect((await agent.ask('GET', '/status')).status).toBe(200);
      times.push(performance.now() - started);
      await new Promise((resolve) => void setTimeout(resolve, 100));
    }
  };
  const asking = ask();
  return {
    async stop() {
      over.abort();
      await asking;
    },
  };
}
