/** Which watchers follow from the settings. */
import { mkdirSync, mkdtempSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { defaultSettings, defaultSource } from '../../../src/config/effective-settings.ts';
import type { SourceSettings } from '../../../src/config/settings.ts';
import { Watching } from '../../../src/daemon/sources/watching.ts';
import type { ChangedPaths } from '../../../src/engine/protocol.ts';
import { newJob } from '../../../src/jobs/job-states.ts';
import { removeTree } from '../../support/remove-tree.ts';
import { backupOf } from '../jobs/runner-site.ts';
import { until } from '../watch/watched-source.ts';

/** What an engine says that has looked at the source. */
const LOOKED = { hasReadSource: true };

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
    readers: () => ({ has: () => true }),
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
      readers: () => ({ has: () => true }),
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
      watching.completed(job, LOOKED);
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

interface Followed {
  readonly path: string;
  readonly watching: Watching;
  readonly begun: readonly string[];
  /** Who may come for changes, by the settings. */
  readonly readers: Set<string>;
  follow(more?: Partial<SourceSettings>): Promise<void>;
  /** By a backup to a place that the settings do not name. */
  look(): ChangedPaths | null;
}

async function followed(): Promise<Followed> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-watching-'));
  onTestFinished(() => removeTree(directory));
  const path = join(directory, 'source');
  mkdirSync(path);
  const context = { home: directory, stateDirectory: join(directory, 'state') };
  const source = { ...defaultSource(path, defaultSettings(context), context), watch: true };
  const begun: string[] = [];
  const readers = new Set(['elsewhere', 'default']);
  const watching = new Watching({
    clock: systemClock,
    never: () => [],
    readers: () => readers,
    changed: ({ path: of }) => void begun.push(of),
    whole: () => {},
    note: () => {},
    problem: () => {},
  });
  onTestFinished(async () => await watching[Symbol.asyncDispose]());
  const follow = async (more: Partial<SourceSettings> = {}): Promise<void> => {
    watching.follow([{ ...source, ...more }]);
    await until(() => watching.stateOf(path) !== 'starting', 'the watcher');
  };
  const other = newJob('bkp_other', backupOf(path, 'elsewhere'), 'api', 0).job;
  const look = (): ChangedPaths | null => {
    const taken = watching.take(other, 'elsewhere');
    watching.completed(other, LOOKED);
    return taken;
  };
  await follow();
  return { path, watching, begun, readers, follow, look };
}

test('what has gathered before the settings change is backed up after them', async () => {
  const { path, begun, follow, look } = await followed();
  look();
  writeFileSync(join(path, 'file'), 'x');
  await until(() => (look()?.paths.length ?? 0) > 0, 'the change');
  await follow({ poll: true });
  expect(begun).toEqual([path]);
});

test('that not everything was told is said until a backup has looked at everything', async () => {
  const { path, watching } = await followed();
  const first = newJob('bkp_1', backupOf(path), 'watch', 0).job;
  watching.take(first, 'default');
  watching.completed(first, LOOKED);
  const before = newJob('bkp_2', backupOf(path), 'watch', 0).job;
  expect(watching.take(before, 'default')).not.toBeNull();
  renameSync(path, `${path} elsewhere`);
  mkdirSync(path);
  watching.take(newJob('bkp_other', backupOf(path, 'elsewhere'), 'api', 0).job, 'elsewhere');
  expect(watching.checks()).toHaveLength(1);
  watching.completed(before, LOOKED);
  expect(watching.checks()).toHaveLength(1);
  const whole = newJob('bkp_3', backupOf(path), 'watch', 0).job;
  expect(watching.take(whole, 'default')).toBeNull();
  watching.completed(whole, LOOKED);
  expect(watching.checks()).toEqual([]);
});

test('what is kept for backups that the settings do not name any more is let go with them', async () => {
  const { readers, follow, look } = await followed();
  expect(look()).toBeNull();
  await follow();
  expect(look()?.paths).toEqual([]);
  readers.delete('elsewhere');
  await follow();
  readers.add('elsewhere');
  await follow();
  expect(look()).toBeNull();
});
