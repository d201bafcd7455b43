/** A directory that is watched, and a way to know that everything that happened in it has been reported. */

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { bytesOfText } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { HoldfastError } from '../../../src/base/errors.ts';
import { watchSource, type SourceWatcher, type WatchRequest } from '../../../src/watch/source-watcher.ts';
import { removeTree } from '../../support/remove-tree.ts';
import type { Changes, ChangeSummary } from '../../../src/watch/change-feed.ts';

export interface WatchedSource extends AsyncDisposable {
  readonly root: string;
  /** Beside the source, on the same file system. */
  readonly outside: string;
  readonly watcher: SourceWatcher;
  readonly summaries: readonly ChangeSummary[];
  readonly lost: readonly string[];
  readonly problems: readonly HoldfastError[];
  /** Resolves once everything that has happened until now has been reported. */
  caughtUp(): Promise<void>;
  /** What was taken, relative to the source and sorted; the reason in brackets when it is unknown. */
  taken(reader?: string): readonly string[];
}

const BARRIER = '.barrier';

/** Begins to watch a directory, which `prepare` may fill before, and waits until it is watched. */
export async function openWatched(
  prepare: (root: string, outside: string) => void = () => {},
  overrides: Partial<WatchRequest> | ((root: string) => Partial<WatchRequest>) = {},
): Promise<WatchedSource> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-watched-'));
  const [root, outside] = [join(directory, 'source'), join(directory, 'outside')];
  for (const path of [root, outside]) mkdirSync(path);
  prepare(root, outside);
  const watched = await watchDirectory(root, typeof overrides === 'function' ? overrides(root) : overrides);
  return {
    ...watched,
    outside,
    [Symbol.asyncDispose]: async () => {
      await watched.watcher.close();
      removeTree(directory);
    },
  };
}

/** The same for a directory that is there, and stays. */
export async function watchDirectory(
  root: string,
  overrides: Partial<WatchRequest> = {},
): Promise<Omit<WatchedSource, 'outside'>> {
  const barrier = join(root, BARRIER);
  mkdirSync(barrier);
  writeFileSync(join(barrier, 'mark'), '');
  const summaries: ChangeSummary[] = [];
  const lost: string[] = [];
  const problems: HoldfastError[] = [];
  const request = { root: treePath(root), never: [], poll: false, clock: systemClock, ...overrides };
  const watcher = watchSource(request, {
    changed: (summary) => summaries.push(summary),
    lost: (reason) => lost.push(reason),
    problem: (problem) => problems.push(problem),
  });
  await until(() => watcher.state !== 'starting');
  watcher.take();
  watcher.take('barrier');

  let marks = 0;
  /** Changes the mark and waits for it. A set that is unknown does not show it: then it is changed again. */
  const passBarrier = async (): Promise<void> => {
    for (;;) {
      await until(() => watcher.state !== 'starting', 'the watcher to start over');
      marks += 1;
      writeFileSync(join(barrier, 'mark'), `${marks}`);
      const end = performance.now() + 200;
      while (performance.now() < end) {
        const changes = watcher.take('barrier');
        if (changes.kind === 'paths' && changes.paths.includes(bytesOfText(barrier))) return;
        await delay(5);
      }
    }
  };
  const caughtUp = async (): Promise<void> => {
    await passBarrier();
    // Directories that came later are subscribed by themselves, and may be reported one round after the mark.
    await passBarrier();
    await delay(20);
  };
  return {
    root,
    watcher,
    summaries,
    lost,
    problems,
    caughtUp,
    taken: (reader) => shown(watcher.take(reader), root),
    [Symbol.asyncDispose]: async () => await watcher.close(),
  };
}

export async function until(condition: () => boolean, what = 'the condition'): Promise<void> {
  const end = performance.now() + 20_000;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`waited in vain for ${what}`);
    await delay(5);
  }
}

function shown(changes: Changes, root: string): readonly string[] {
  if (changes.kind === 'unknown') return [`[${changes.reason}]`];
  const names = changes.paths.map((path) => (path === treePath(root) ? '.' : path.slice(root.length + 1)));
  return names.filter((name) => name !== BARRIER).sort();
}
