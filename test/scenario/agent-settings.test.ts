/** The configuration spoiled while the real agent runs and works: the last good one holds, and no job is dropped. */
// Turn 8 of 8.
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';

interface FullStatus {
  readonly data: {
    readonly status: string;
    readonly config: { readonly status: string; readonly error: string | null };
    readonly sources: readonly { readonly path: string }[];
  };
}

let site: DaemonSite;
/** Of the first configuration: slow enough to be in the middle of a backup all the time. */
let good: { readonly sources: readonly object[]; readonly bandwidth: readonly object[] };
/** One that runs and one that waits. */
let jobs: readonly string[];

beforeAll(async () => {
  site = await openDaemonSite();
  site.write({ 'first/large': randomBytes(8_000_000), 'second/a.txt': 'content' });
  good = {
    sources: ['first', 'second'].map((name) => ({
      path: join(site.source, name),
      schedule: 'off',
      watch: false,
    })),
    bandwidth: [{ from: '00:00', uploadLimit: '64 KiB' }],
  };
  await site.configure(good);
  jobs = site.jobs('backup').map(({ id }) => id);
  expect(jobs).toHaveLength(2);
  await eventually(() => states().join() === 'queued,running', 'the first backup');
});
afterAll(async () => await site[Symbol.asyncDispose]());

const states = (): readonly string[] => jobs.map((id) => site.agent.job(id)?.status ?? 'gone').toSorted();
const write = (content: string | Uint8Array): void =>
  writeFileSync(site.configFile, content, { mode: 0o600 });
const status = async (): Promise<FullStatus['data']> => (await site.get<FullStatus>('/v1/status')).data;
const text = (): string => JSON.stringify(good, null, 2);

const HARMS: readonly (readonly [what: string, spoil: () => void, said: RegExp])[] = [
  ['emptied', () => write(''), /line 1, column 1: The file is empty/],
  ['half-written', () => write(text().slice(0, text().indexOf('"schedule"') + 5)), /line \d+, column \d+/],
  [
    'turned to garbage',
    () => write(Buffer.from(Array.from({ length: 999 }, (_, i) => (i * 71) % 256))),
    /line 1, column 3/,
  ],
  [
    'given an unknown setting',
    () => write('{\n  "sourcse": []\n}'),
    /line 2, column 3: "sourcse" is not a setting/,
  ],
  [
    'replaced by a directory',
    () => {
      rmSync(site.configFile);
      mkdirSync(site.configFile, { mode: 0o700 });
    },
    /is a directory/,
  ],
];

test.each(HARMS)(
  'a configuration that is %s leaves settings and jobs alone, and is told of',
  async (_, spoil, said) => {
    spoil();
    await eventually(async () => {
      const { config } = await site.agent.fullStatus();
      return config.status === 'degraded' && said.test(config.error ?? '');
    }, String(said));
    const shown = await status();
    expect(shown.config.error).toMatch(said);
    expect(shown.status).toBe('degraded');
    expect(shown.sources).toHaveLength(2);
    const { status: publicly, checks } = await site.status();
    expect(publicly).toBe('degraded');
    expect(checks).toContainEqual(expect.objectContaining({ name: 'configuration', status: 'warning' }));
    expect(site.daemon.config.current.bandwidth).toEqual([{ from: '00:00', uploadLimit: 65_536 }]);
    expect(states()).toEqual(['queued', 'running']);

    rmSync(site.configFile, { recursive: true });
    write(text());
    await eventually(() => site.daemon.config.state.status === 'ok', 'a good configuration again');
    expect(states()).toEqual(['queued', 'running']);
  },
);

test('the jobs come to their end with the settings that hold then', async () => {
  await site.configure({ ...good, bandwidth: [] });
  for (const id of jobs)
    expect(await site.ended(id)).toMatchObject({ status: 'completed', attempt: 1, files_done: 1 });
  expect(site.jobs()).toHaveLength(2);
});
