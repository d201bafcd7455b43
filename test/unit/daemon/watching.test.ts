/** Which watchers follow from the settings. */
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { defaultSettings, defaultSource } from '../../../src/config/effective-settings.ts';
import { Watching } from '../../../src/daemon/watching.ts';
import { newJob } from '../../../src/jobs/job-states.ts';
import { removeTree } from '../../support/remove-tree.ts';
import { backupOf } from '../jobs/runner-site.ts';
import { until } from '../watch/watched-source.ts';

test('a change begins the backups of a path to all the destinations that settings of their own name for it', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-watching-'));
  onTestFinished(() => removeTree(directory));
  const path = join(directory, 'source');
  mkdirSync(path);
  const context = { home: directory, stateDirectory: join(directory, 'state') };
  const source = { ...defaultSource(path, defaultSettings(context), context), watch: true };
  const begun: string[] = [];
  const watching = new Watching({
    clock: systemClock,
    never: () => [],
    changed: ({ destinations }) => void begun.push(...destinations),
    whole: () => {},
    note: () => {},
    problem: () => {},
  });
  onTestFinished(async () => await watching[Symbol.asyncDispose]());
  watching.follow([
    { ...source, destinations: ['usb'] },
    { ...source, destinations: ['nas'], schedule: 'weekly' },
    { ...source, destinations: ['off'], watch: false },
  ]);
  await until(() => watching.stateOf(path) === 'watching', 'the watcher');
  writeFileSync(join(path, 'file'), 'x');
  await until(() => begun.length > 0, 'the change');
  expect([...new Set(begun)].sort()).toEqual(['nas', 'usb']);
});

test.each(['backups', 'link/backups'])(
  'a destination that comes to lie in a watched source, as %s, is left out from then on',
  async (named) => {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-watching-'));
    onTestFinished(() => removeTree(directory));
    const path = join(directory, 'source');
    const inside = join(path, 'backups');
    mkdirSync(inside, { recursive: true });
    symlinkSync(path, join(directory, 'link'));
    const context = { home: directory, stateDirectory: join(directory, 'state') };
    const source = { ...defaultSource(path, defaultSettings(context), context), watch: true };
    const outside = join(directory, 'elsewhere');
    let never: readonly string[] = [outside];
    const watching = new Watching({
      clock: systemClock,
      never: () => never,
      changed: () => {},
      whole: () => {},
      note: () => {},
      problem: () => {},
    });
    onTestFinished(async () => await watching[Symbol.asyncDispose]());
    let jobs = 0;
    /** Null: everything is looked at, as after a start. */
    const changed = (): readonly string[] | null => {
      const { job } = newJob(`bkp_${(jobs += 1)}`, backupOf(path), 'watch', 0);
      const taken = watching.take(job, 'default');
      watching.ended({ ...job, status: 'completed' });
      return taken?.paths.map(String) ?? null;
    };
    const following = async (): Promise<void> => {
      watching.follow([source]);
      await until(() => watching.stateOf(path) === 'watching', 'the watcher');
    };

    await following();
    expect(changed()).toBeNull();
    expect(changed()).toEqual([]);
    // What lies elsewhere makes no difference.
    never = [outside, join(directory, 'another')];
    await following();
    expect(changed()).toEqual([]);

    never = [outside, named === 'backups' ? inside : join(directory, named)];
    await following();
    expect(changed()).toBeNull();
    writeFileSync(join(inside, 'pack'), 'x');
    await delay(500);
    expect(changed()).toEqual([]);
    writeFileSync(join(path, 'file'), 'x');
    await until(() => changed()?.length !== 0, 'the change');
  },
);
