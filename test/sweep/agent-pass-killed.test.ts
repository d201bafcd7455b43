/** The agent is killed while a source that goes to three destinations is read, and again while it is copied. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { prepareAgent, startAgent, until, type RunningAgent, type ShownJob } from '../sweep/agent-program.ts';
import { expectSame } from '../sweep/oracle.ts';
import { PASSPHRASE, succeed } from '../sweep/program.ts';
import { Workspace } from '../sweep/workspace.ts';

const NAMES = ['a', 'b', 'c'];

interface ShownBackup extends ShownJob {
  readonly destination: string;
  readonly progress: { readonly bytes_uploaded: number; readonly bytes_done: number };
}

/** By their destinations, in the order of `NAMES`. */
async function backupsOf(agent: RunningAgent): Promise<readonly ShownBackup[]> {
  const { data } = await agent.ask('GET', '/backup?limit=10');
  const { items } = data as { readonly items: readonly ShownBackup[] };
  return items.toSorted((x, y) => x.destination.localeCompare(y.destination));
}

test(
  'nothing of a pass is lost when the agent is killed in the middle of it, twice',
  { timeout: 240_000 },
  async () => {
    using workspace = new Workspace('pass-killed');
    const at = (name: string): string => workspace.path(name);
    for (const name of [...NAMES, 'source', 'source/deep']) mkdirSync(at(name));
    writeFileSync(at('source/one.bin'), randomBytes(700_000));
    writeFileSync(at('source/deep/two.bin'), randomBytes(700_000));
    const passphrase = at('passphrase');
    writeFileSync(passphrase, PASSPHRASE, { mode: 0o600 });
    const destinations = Object.fromEntries(
      NAMES.map((name) => [name, { url: at(name), passphrase: { file: passphrase } }]),
    );
    const place = await prepareAgent(
      { state: at('state'), repository: at('a'), cache: at('cache') },
      {
        sources: [],
        destinations,
        defaultDestination: 'a',
        // What is stored takes long enough to be hit.
        bandwidth: [{ from: '00:00', uploadLimit: '1 MiB' }],
      },
    );
    writeFileSync(
      join(place.state, 'config.json'),
      JSON.stringify({
        version: 1,
        plan: 'business',
        maintenance: { prune: 'off', check: 'off', drill: 'off' },
        sources: [{ path: at('source'), destinations: NAMES, schedule: 'off', watch: false }],
        destinations,
        defaultDestination: 'a',
        bandwidth: [{ from: '00:00', uploadLimit: '1 MiB' }],
      }),
      { mode: 0o600 },
    );

    const first = await startAgent(place);
    await until('the source to be read', async () => {
      const [a] = await backupsOf(first);
      return a?.status === 'running' && a.progress.bytes_done > 0 ? a : undefined;
    });
    await first.kill('agent and engines');

    const second = await startAgent(place);
    await until('a copy to be made', async () => {
      const jobs = await backupsOf(second);
      expect(jobs.map(({ status }) => status)).not.toContain('failed');
      const copying = jobs
        .slice(1)
        .some(({ status, phase }) => status === 'running' && phase === 'uploading');
      return copying ? jobs : undefined;
    });
    await second.kill('agent and engines');

    const third = await startAgent(place);
    const jobs = await Promise.all(
      (await backupsOf(third)).map(async ({ id }) => await third.finished('/backup', id)),
    );
    expect(jobs.map(({ status, error }) => [status, error])).toEqual(NAMES.map(() => ['completed', null]));
    // The one that was killed while it read went on itself.
    expect(jobs[0]?.attempt).toBe(2);
    const logs = await Promise.all(
      jobs.map(async ({ id }) => JSON.stringify((await third.ask('GET', `/backup/${id}/log`)).data)),
    );
    expect(logs.map((text) => text.includes('copied_from: a'))).toEqual([false, true, true]);
    expect(readdirSync(place.state)).not.toContain('spool');
    await third.stop();
    for (const [index, name] of NAMES.entries()) {
      expect(readdirSync(join(at(name), 'snapshots'))).toEqual([jobs[index]?.snapshot_id]);
      const target = workspace.fresh();
      await succeed({ ...place, repository: at(name) }, ['restore', 'latest', '--target', target]);
      expectSame(at('source'), join(target, at('source')));
    }
  },
);
