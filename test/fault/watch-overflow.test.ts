/** A hundred thousand events at once overflow the kernel's queue: that is noticed and told, and nothing is missed. */
// Turn 2 of 8.

import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { treePath } from '../../src/base/tree-path.ts';
import { queueLength } from '../../src/watch/event-pressure.ts';
import { eventually, openDaemonSite } from '../support/daemon-site.ts';
import { entryOf, openEngine } from '../support/engine.ts';
import { openEventQueue } from '../support/libc.ts';
import { runScript } from '../support/run-script.ts';
import { until, watchDirectory } from '../unit/watch/watched-source.ts';

const EVENTS = 100_000;

/**
 * Storms in one directory, and changes other files and makes directories in between. `stop` is a process that does
 * nothing meanwhile, as one on a busy machine: what the kernel cannot keep for it is lost.
 */
const STORM = `
  import { appendFileSync, closeSync, mkdirSync, openSync, renameSync, unlinkSync, utimesSync } from 'node:fs';
  const [, , root, stop] = process.argv;
  const [one, other] = [root + '/storm/one', root + '/storm/other'];
  if (stop !== undefined) process.kill(Number(stop), 'SIGSTOP');
  let events = 0;
  try {
    for (let count = 0; events < ${EVENTS}; count += 1) {
      closeSync(openSync(one, 'w'));
      utimesSync(one, 1e9, count);
      for (let times = 0; times < 20; times += 1) {
        renameSync(one, other);
        renameSync(other, one);
      }
      unlinkSync(one);
      events += 83;
      if (count % 10 === 0) appendFileSync(root + '/quiet-' + (count % 60) / 10 + '/file', 'more');
      if (count % 200 === 0) mkdirSync(root + '/new-' + count + '/below', { recursive: true });
      if (count % 200 === 0) appendFileSync(root + '/new-' + count + '/below/file', 'new');
    }
  } finally {
    if (stop !== undefined) process.kill(Number(stop), 'SIGCONT');
  }
  process.stdout.write(String(events));
`;
/** The last directory that a storm makes. */
const LAST = 'new-1200/below/file';

function makeDirectories(source: string): void {
  mkdirSync(join(source, 'storm'));
  for (let count = 0; count < 6; count += 1) {
    mkdirSync(join(source, `quiet-${count}`));
    writeFileSync(join(source, `quiet-${count}/file`), 'content');
  }
}

/** Makes a storm that is known to have overflowed the queue of every watcher in this process. */
async function overflow(source: string): Promise<void> {
  using queue = openEventQueue(treePath(join(source, 'storm')));
  const events = Number(await runScript(STORM, { args: [source, String(process.pid)] }));
  expect(events).toBeGreaterThanOrEqual(EVENTS);
  const kept = queue.read();
  expect(kept.overflowed).toBe(true);
  expect(kept.events).toBeLessThanOrEqual(queueLength() + 1);
}

/** The same while its events are read as fast as they come. */
async function storm(source: string): Promise<void> {
  await runScript(STORM, { args: [source] });
}

test.for([
  ['while nobody reads', overflow],
  ['while they are read', storm],
] as const)(
  'a storm of events %s is survived: everything is walked, and a person is told',
  async ([, rage]) => {
    await using engine = await openEngine();
    const { source } = engine;
    makeDirectories(source);
    await using watched = await watchDirectory(source, { quietMs: 100 });
    const { watcher, lost, caughtUp } = watched;
    let parent = (await engine.backup()).snapshot.id;
    await caughtUp();
    watcher.take();

    await rage(source);
    const compare = async (): Promise<'paths' | 'unknown'> => {
      await caughtUp();
      const changes = watcher.take();
      const directories = changes.kind === 'paths' ? new Set(changes.paths) : undefined;
      const compared = { parent: { snapshot: parent } };
      const told = await engine.backup(undefined, {
        ...compared,
        changes: directories === undefined ? undefined : { directories, hiddenRules: false },
      });
      const whole = await engine.backup(undefined, compared);
      const ids = await Promise.all(
        [told, whole].map(async ({ snapshot }) => (await entryOf(engine, snapshot, source, 'directory')).id),
      );
      expect(ids[0]).toEqual(ids[1]);
      parent = told.snapshot.id;
      return changes.kind;
    };
    expect(await compare()).toBe('unknown');
    expect(lost.some((reason) => reason.includes('so much changed at once'))).toBe(true);
    // Directories that came in the storm are watched, and it knows again what changes.
    await until(() => watcher.state === 'watching');
    await compare();
    for (const name of ['quiet-3/file', LAST]) appendFileSync(join(source, name), 'later');
    await caughtUp();
    const again = watcher.take();
    expect(again).toMatchObject({ kind: 'paths' });
    const paths = again.kind === 'paths' ? again.paths : [];
    for (const name of ['quiet-3', 'new-1200/below']) expect(paths).toContain(treePath(join(source, name)));
  },
);

const site = await openDaemonSite();
afterAll(async () => await site[Symbol.asyncDispose]());

test('the agent says that it was not told everything, and its next backup has it all', async () => {
  makeDirectories(site.source);
  await site.configure({ sources: [{ path: site.source, schedule: 'off' }] });
  await site.endOfNext('backup', []);
  await eventually(async () => (await site.agent.fullStatus()).watcher.directories > 6, 'watching');
  const known = site.jobs();
  await overflow(site.source);
  const isTold = (): boolean => site.agent.publicStatus().checks.some(({ name }) => name === 'watching');
  await eventually(isTold, 'a word');
  expect(site.log.join('')).toContain('so much changed at once');
  const job = await site.endOfNext('backup', known);
  expect(job).toMatchObject({ status: 'completed', trigger: 'watch' });
  const said = site.agent.log(job.id).map(({ text }) => text);
  expect(said.join('\n')).toMatch(/Checking all files, because /);
  const files = await eventually(async () => {
    const { items } = await site.agent.files({ ...QUERY, snapshot: job.snapshot_id ?? '' });
    return items.length > 0 && items;
  }, 'the files of the snapshot');
  expect(files.map(({ path }) => path)).toContain(join(site.source, LAST));
  await eventually(() => !isTold(), 'the end of it');
});

const QUERY = { view: 'flat', sort: 'path', type: 'file', limit: 100 } as const;
