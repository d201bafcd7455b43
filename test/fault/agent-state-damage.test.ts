/** The real agent with a state directory in which something was damaged while it did not run. */
// Turn 1 of 8.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  embeddedPlace,
  prepareAgent,
  startAgent,
  type AgentPlace,
  type RunningAgent,
  type ShownJob,
} from '../sweep/agent-program.ts';
import { jsonLines, run, succeed } from '../sweep/program.ts';
import { removeTree } from '../support/remove-tree.ts';

let directory: string;
let place: AgentPlace;
/** A completed backup, a canceled one and one that waits, as the agent told of them before it was killed. */
let jobs: readonly ShownJob[];

async function jobsOf(agent: RunningAgent): Promise<readonly ShownJob[]> {
  const { data } = await agent.ask('GET', '/backup');
  return (data as { items: readonly ShownJob[] }).items;
}

beforeAll(async () => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-agent-damage-')));
  const source = join(directory, 'source');
  execFileSync('mkdir', [source]);
  writeFileSync(join(source, 'a.txt'), 'hello');
  place = await prepareAgent(embeddedPlace(directory));
  const agent = await startAgent(place);
  const { id } = await agent.submit('/backup', { source, options: { tags: ['mine'] } });
  await agent.finished('/backup', id);
  await agent.ask('POST', '/pause', {});
  const canceled = await agent.submit('/backup', { source });
  await agent.ask('POST', `/backup/${canceled.id}/cancel`);
  await agent.submit('/backup', { source, destination: join(directory, 'elsewhere') });
  jobs = await jobsOf(agent);
  expect(jobs.map(({ status }) => status)).toEqual(['queued', 'canceled', 'completed']);
  await agent.kill('agent and engines');
});

afterAll(() => removeTree(directory));

let copies = 0;

/** A place of its own, left as the agent left it and then changed. */
function spoiled(change: (state: string) => void): AgentPlace {
  copies += 1;
  const copy = join(directory, `copy-${copies}`);
  execFileSync('mkdir', [copy]);
  execFileSync('cp', ['-a', '--', place.state, join(copy, 'state')]);
  change(join(copy, 'state'));
  return { ...embeddedPlace(copy), credential: place.credential };
}

/** Takes the log in, so that the file is all there is. */
function settled(state: string, change: (database: Sqlite.Database) => void = () => {}): string {
  const path = join(state, 'state.db');
  const database = new Sqlite(path);
  change(database);
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
  return path;
}

function rewrite(path: string, change: (bytes: Buffer) => Buffer): void {
  writeFileSync(path, change(readFileSync(path)));
}

const setAside = ({ state }: AgentPlace): readonly string[] =>
  readdirSync(state).filter((name) => /^state\.db\.damaged-[^-]+-\d\d-[^-]*-\d\d-\d\d-\d{3}Z$/.test(name));

describe.concurrent('a state database', () => {
  test.each<readonly [string, 'set aside' | 'kept' | 'gone', (state: string) => void]>([
    [
      'whose first page is garbage',
      'set aside',
      (state) => rewrite(settled(state), (bytes) => bytes.fill(0xee, 0, 4096)),
    ],
    [
      'with a page of garbage in the middle',
      'set aside',
      (state) => rewrite(settled(state), (bytes) => bytes.fill(0x55, 8 * 4096, 9 * 4096)),
    ],
    [
      'in which a value is no longer what was written',
      'set aside',
      (state) =>
        settled(state, (database) => database.exec("UPDATE jobs SET detail = replace(detail, '{', '!')")),
    ],
    [
      'whose log is damaged',
      'kept',
      (state) => rewrite(join(state, 'state.db-wal'), (bytes) => bytes.fill(7, 5_000)),
    ],
    ['that is gone together with its log', 'gone', (state) => rmSync(settled(state))],
  ])('%s costs no job, no credential and no setting', async (_, what, damage) => {
    const copy = spoiled(damage);
    const agent = await startAgent(copy);
    expect(await jobsOf(agent)).toEqual(jobs);
    // That a state database had to be replaced is told until somebody confirms it; a pause does not hide it.
    const isTold = what === 'set aside' || what === 'gone';
    expect((await agent.ask('GET', '/status')).data).toMatchObject({
      status: isTold ? 'degraded' : 'paused',
    });
    expect(await agent.stop()).toBe(0);
    expect(setAside(copy)).toHaveLength(what === 'set aside' ? 1 : 0);
    if (what === 'set aside')
      expect(readFileSync(join(copy.state, 'agent.log'), 'utf8')).toContain('The state database was damaged');
  });

  test('that is damaged together with its journal is rebuilt from the repository', async () => {
    const copy = spoiled((state) => {
      rewrite(settled(state), (bytes) => bytes.fill(0xee, 0, 4096));
      for (const name of readdirSync(join(state, 'journal')).filter((one) => one.endsWith('.jnl')))
        rewrite(join(state, 'journal', name), (bytes) => bytes.fill(0x41, 0, bytes.length));
    });
    const agent = await startAgent(copy);
    const shown = jsonLines(await succeed(copy, ['jobs', '--json']));
    const completed = jobs.at(-1);
    expect(shown).toMatchObject([
      {
        id: completed?.id,
        status: 'completed',
        snapshot_id: completed?.snapshot_id,
        files_done: 1,
        size_bytes: 5,
      },
    ]);
    expect(shown[0]?.['spec']).toMatchObject({
      source: join(directory, 'source'),
      options: { tags: ['mine'] },
    });
    expect(await agent.stop()).toBe(0);
    // And it stays so.
    const again = await startAgent(copy);
    expect(jsonLines(await succeed(copy, ['jobs', '--json']))).toEqual(shown);
    expect(await again.stop()).toBe(0);
    expect(setAside(copy)).toHaveLength(1);
  });

  test('of a newer program is refused in plain words, and left as it is', async () => {
    const copy = spoiled((state) => settled(state, (database) => database.pragma('user_version = 99')));
    const { code, stderr } = await run(copy, ['start', '--port', '0']);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /state\.db was written by a newer version of Holdfast\n.*Install the newer Holdfast again/,
    );
    const database = new Sqlite(join(copy.state, 'state.db'), { readonly: true });
    expect(database.pragma('user_version', { simple: true })).toBe(99);
    expect(database.prepare('SELECT count(*) FROM jobs').pluck().get()).toBe(3);
    database.close();
    expect(setAside(copy)).toEqual([]);
  });
});

test('a damaged lock, catalog or list of addresses does not keep the agent from starting', async () => {
  const { state } = place;
  writeFileSync(join(state, 'run', 'lock'), 'x'.repeat(5_000));
  writeFileSync(join(state, 'run', 'holdfast.json'), '{');
  for (const name of readdirSync(join(state, 'catalog')).filter((one) => one.endsWith('.db')))
    writeFileSync(join(state, 'catalog', name), 'x'.repeat(5_000));
  const agent = await startAgent(place);
  const { data } = await agent.ask('GET', '/files?q=a.txt');
  expect((data as { items: unknown[] }).items).toHaveLength(1);
  const second = await run(place, ['start', '--port', '0']);
  expect(second.code).toBe(1);
  expect(second.stderr).toContain('already running');
  expect(await agent.stop()).toBe(0);
});
