/** A destination whose name comes to mean another place while the agent works. */
// Turn 6 of 8.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { eventually, openDaemonSite } from '../support/daemon-site.ts';

test('a job goes on to the place where it began; the new place has a backup of its own at once, and is told of alone', async () => {
  const site = await openDaemonSite();
  onTestFinished(async () => await site[Symbol.asyncDispose]());
  const [before, after] = ['before', 'after'].map((name) => join(site.directory, name));
  const go = join(site.directory, 'go');
  const settings = (url: string | undefined, hook: string | null): object => ({
    destinations: { main: { url } },
    defaultDestination: 'main',
    sources: [
      { path: site.source, destination: 'main', watch: false, schedule: 'off', hooks: { after: hook } },
    ],
  });
  site.write({ a: 'x'.repeat(5_000) });
  mkdirSync(after ?? '');
  // The first backup begins by itself, and does not end before it is let.
  await site.configure(settings(before, `while ! test -e '${go}'; do sleep 0.05; done`));
  const first = await eventually(() => site.jobs('backup').find(({ status }) => status === 'running'), 'it');
  await site.configure(settings(after, null));
  writeFileSync(go, '');
  expect(await site.ended(first.id)).toMatchObject({ status: 'completed' });

  const second = await eventually(
    () => site.jobs('backup').find(({ id }) => id !== first.id),
    'a new backup',
  );
  const ended = await site.ended(second.id);
  expect(ended).toMatchObject({ status: 'completed', files_done: 1 });
  const { sources, destinations } = await site.agent.fullStatus();
  expect(sources.map((source) => source.last_good_backup_at)).toEqual([ended.source_read_at]);
  expect(destinations.find(({ name }) => name === 'main')?.used_bytes).toBeGreaterThan(0);
  // Both are known for what they are: what a job finds there later is not taken for a repository that was replaced.
  const { data } = await site.get<{ data: { items: readonly { backup_id: string }[] } }>('/v1/snapshots');
  expect(data.items.map(({ backup_id: id }) => id).sort()).toEqual([first.id, second.id].sort());
  for (const url of [before, after]) {
    await site.configure(settings(url, null));
    expect(await site.backUp()).toMatchObject({ status: 'completed' });
  }
});
