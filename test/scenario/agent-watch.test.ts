/** What a watched source reports, of a real directory through the real watchers. */
// Turn 5 of 8.

import {
  appendFileSync,
  chmodSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { asByteString, bytesOfText, joinBytes } from '../../src/base/byte-path.ts';
import { fsPath, treePath } from '../../src/base/tree-path.ts';
import { systemClock } from '../../src/base/clock.ts';
import { entryOf, openEngine } from '../support/engine.ts';
import { manualClock } from '../support/manual-clock.ts';
import { watchSource } from '../../src/watch/source-watcher.ts';
import { openWatched, until, watchDirectory } from '../unit/watch/watched-source.ts';

function fill(root: string): void {
  for (const name of ['a/deep/er', 'b', 'c/x']) mkdirSync(join(root, name), { recursive: true });
  for (const name of ['a/file', 'a/deep/er/file', 'b/file', 'c/x/file'])
    writeFileSync(join(root, name), name);
}

/** By this clock a look takes next to no time, and the next one need not wait for long. */
const QUICK_LOOKS = {
  poll: true,
  pollMs: 50,
  quietMs: 0,
  clock: { ...systemClock, monotonic: () => systemClock.monotonic() / 100 },
};

describe('a watched source', () => {
  test('names the directories in which something changed, and no others', async () => {
    await using watched = await openWatched(fill);
    const { root, watcher } = watched;
    expect(watcher.state).toBe('watching');
    expect(watcher.directories).toBe(8);
    appendFileSync(join(root, 'a/deep/er/file'), 'more');
    chmodSync(join(root, 'b/file'), 0o600);
    await watched.caughtUp();
    expect(watched.taken()).toEqual(['a/deep/er', 'b']);
    unlinkSync(join(root, 'b/file'));
    symlinkSync('nowhere', join(root, 'c/link'));
    writeFileSync(join(root, 'new'), '');
    await watched.caughtUp();
    expect(watched.taken()).toEqual(['.', 'b', 'c']);
    await watched.caughtUp();
    expect(watched.taken()).toEqual([]);
  });

  test('is unknown to a reader at first', async () => {
    await using watched = await openWatched(fill);
    expect(watched.watcher.take('other').kind).toBe('unknown');
    expect(watched.watcher.take('other').kind).toBe('paths');
  });

  test('keeps for the next set what changes while a backup runs, and takes back what a failed one had', async () => {
    await using watched = await openWatched(fill);
    const { root, watcher } = watched;
    appendFileSync(join(root, 'a/file'), 'more');
    await watched.caughtUp();
    const first = watcher.take();
    appendFileSync(join(root, 'b/file'), 'more');
    await watched.caughtUp();
    watcher.putBack(first);
    expect(watched.taken()).toEqual(['a', 'b']);
  });

  test('reports all of a directory that comes into it, and what happens in there later under its new name', async () => {
    await using watched = await openWatched((root, outside) => {
      fill(root);
      mkdirSync(join(outside, 'in/side/deep'), { recursive: true });
      writeFileSync(join(outside, 'in/side/deep/file'), '');
    });
    const { root, outside } = watched;
    renameSync(join(outside, 'in'), join(root, 'in'));
    await watched.caughtUp();
    expect(watched.taken()).toEqual(['.', 'in', 'in/side', 'in/side/deep']);
    await watched.caughtUp();
    watched.taken();
    appendFileSync(join(root, 'in/side/deep/file'), 'more');
    await watched.caughtUp();
    expect(watched.taken()).toEqual(['in/side/deep']);
  });

  test('goes on below a directory that was renamed, and then made anew under the old name', async () => {
    await using watched = await openWatched(fill);
    const { root } = watched;
    renameSync(join(root, 'a'), join(root, 'z'));
    await watched.caughtUp();
    expect(watched.taken()).toEqual(['.', 'z', 'z/deep', 'z/deep/er']);
    mkdirSync(join(root, 'a/deep/er'), { recursive: true });
    writeFileSync(join(root, 'a/deep/er/file'), '');
    await watched.caughtUp();
    watched.taken();
    // What is gone under the new name was known by the old one, too.
    rmSync(join(root, 'z/deep/er'), { recursive: true });
    await watched.caughtUp();
    watched.taken();
    appendFileSync(join(root, 'a/deep/er/file'), 'more');
    await watched.caughtUp();
    expect(watched.taken()).toEqual(['a/deep/er']);
  });

  test('sees into directories that are made in each other at once', async () => {
    await using watched = await openWatched();
    const { root } = watched;
    for (let count = 0; count < 20; count += 1)
      mkdirSync(join(root, `n${count}/1/2/3/4`), { recursive: true });
    await watched.caughtUp();
    watched.taken();
    for (let count = 0; count < 20; count += 1) writeFileSync(join(root, `n${count}/1/2/3/4/file`), '');
    await watched.caughtUp();
    watched.taken();
    for (let count = 0; count < 20; count += 1) appendFileSync(join(root, `n${count}/1/2/3/4/file`), 'more');
    await watched.caughtUp();
    expect(watched.taken()).toHaveLength(20);
  });

  test('starts over when too many directories came with others in them', async () => {
    await using watched = await openWatched();
    const { root, watcher } = watched;
    for (let count = 0; count < 100; count += 1)
      mkdirSync(join(root, `n${count}/below`), { recursive: true });
    await until(() => watcher.take('probe').kind === 'unknown' && watcher.state === 'starting');
    await until(() => watcher.state === 'watching');
    expect(watched.taken()[0]).toContain('[');
    await watched.caughtUp();
    watched.taken();
    for (let count = 0; count < 100; count += 1) writeFileSync(join(root, `n${count}/below/file`), '');
    await watched.caughtUp();
    expect(watched.taken()).toHaveLength(100);
  });

  test('does not say which names of a file changed when it has several', async () => {
    await using watched = await openWatched((root) => {
      fill(root);
      linkSync(join(root, 'a/file'), join(root, 'b/other'));
    });
    const { root } = watched;
    appendFileSync(join(root, 'a/file'), 'more');
    await watched.caughtUp();
    expect(watched.taken()).toEqual(['[a file with several names changed]']);
    linkSync(join(root, 'c/x/file'), join(root, 'c/other'));
    await watched.caughtUp();
    expect(watched.taken()).toEqual(['[a file with several names changed]']);
  });

  test('finds names that are not UTF-8, and what is below them', async () => {
    const name = asByteString('x\xff');
    await using watched = await openWatched((root) => mkdirSync(fsPath(joinBytes(treePath(root), name))));
    const directory = joinBytes(bytesOfText(watched.root), name);
    writeFileSync(fsPath(joinBytes(directory, name)), '');
    await watched.caughtUp();
    expect(watched.taken()).toEqual(['x\xff']);
    writeFileSync(fsPath(joinBytes(bytesOfText(watched.root), asByteString('\xfe'))), '');
    await watched.caughtUp();
    expect(watched.taken()).toContain('.');
  });

  test('has nothing to say of what is never backed up, whatever it is called', async () => {
    await using watched = await openWatched(
      (root) => mkdirSync(join(root, 'state [*]/run'), { recursive: true }),
      (root) => ({ never: [treePath(join(root, 'state [*]'))], quietMs: 50 }),
    );
    writeFileSync(join(watched.root, 'state [*]/run/file'), '');
    mkdirSync(join(watched.root, 'state [*]/run/new/below'), { recursive: true });
    await watched.caughtUp();
    expect(watched.taken()).toEqual([]);
    expect(watched.watcher.directories).toBe(2);
  });

  test.each([false, true])(
    'has nothing to say of what is never backed up when links lead to both (polled: %s)',
    async (poll) => {
      await using watched = await openWatched((root, outside) => {
        mkdirSync(join(root, 'state'));
        symlinkSync(root, join(outside, 'home'));
      });
      const home = join(watched.outside, 'home');
      let changed = 0;
      await using watcher = watchSource(
        {
          root: bytesOfText(home),
          never: [treePath(join(home, 'state'))],
          ...(poll ? QUICK_LOOKS : { poll, clock: systemClock, quietMs: 50 }),
        },
        { changed: () => (changed += 1), lost: () => {}, problem: () => {} },
      );
      await until(() => watcher.state !== 'starting' && watcher.directories > 0);
      await delay(500);
      const before = changed;
      writeFileSync(join(home, 'state/state.db'), '');
      await delay(700);
      expect(changed).toBe(before);
      writeFileSync(join(home, 'file'), '');
      await until(() => changed > before, 'a change beside it');
    },
  );

  test('may be watched twice, and inside of another one', async () => {
    await using watched = await openWatched(fill);
    await using inner = await watchDirectory(join(watched.root, 'a'));
    rmSync(join(watched.root, '.barrier'), { recursive: true });
    await using again = await watchDirectory(watched.root);
    appendFileSync(join(watched.root, 'a/deep/er/file'), 'more');
    await again.caughtUp();
    await inner.caughtUp();
    expect(inner.taken()).toEqual(['deep/er']);
    expect(again.taken()).toContain('a/deep/er');
    await inner[Symbol.asyncDispose]();
    mkdirSync(join(watched.root, 'b/later/below'), { recursive: true });
    await again.caughtUp();
    expect(again.taken()).toContain('b/later/below');
  });

  test('is watched where it lies when a link leads to it, and anew when the link leads elsewhere', async () => {
    await using watched = await openWatched(fill);
    const { root, outside } = watched;
    const link = join(outside, 'link');
    symlinkSync(join(root, 'a'), link);
    await using watcher = watchSource(
      { root: bytesOfText(link), never: [], poll: false, clock: systemClock },
      { changed: () => {}, lost: () => {}, problem: () => {} },
    );
    await until(() => watcher.state === 'watching');
    watcher.take();
    appendFileSync(join(root, 'a/deep/er/file'), 'more');
    await watched.caughtUp();
    expect(watcher.take()).toMatchObject({ paths: [treePath(join(root, 'a/deep/er'))] });
    unlinkSync(link);
    symlinkSync(join(root, 'b'), link);
    expect(watcher.take().kind).toBe('unknown');
    await until(() => watcher.state === 'watching');
    watcher.take();
    appendFileSync(join(root, 'b/file'), 'more');
    await watched.caughtUp();
    expect(watcher.take()).toMatchObject({ paths: [treePath(join(root, 'b'))] });
  });

  test('puts down what a backup does to it, which makes none worthwhile', async () => {
    await using watched = await openWatched(fill, { quietMs: 50 });
    const { root, watcher, summaries } = watched;
    await delay(200);
    const before = summaries.length;
    const ended = watcher.ownChanges();
    writeFileSync(join(root, 'a/dump'), '');
    await delay(1_000);
    unlinkSync(join(root, 'a/dump'));
    ended();
    await delay(1_400);
    expect(summaries).toHaveLength(before);
    expect(watched.taken()).toEqual(['a']);
    await delay(200);
    writeFileSync(join(root, 'a/other'), '');
    await until(() => summaries.length > before);
  });

  test('says that a backup is worthwhile once it is quiet', async () => {
    await using watched = await openWatched(fill, { quietMs: 1_500 });
    const { root, summaries } = watched;
    await delay(1_700);
    const before = summaries.length;
    for (let count = 0; count < 5; count += 1) {
      appendFileSync(join(root, 'a/file'), 'more');
      await delay(100);
    }
    expect(summaries).toHaveLength(before);
    await until(() => summaries.length > before);
    expect(summaries.at(-1)).toMatchObject({ directories: 1 });
    expect(summaries.at(-1)?.events).toBeGreaterThanOrEqual(1);
  });
});

describe('a source is unknown', () => {
  test('when another directory takes its place, and is watched again there', async () => {
    await using watched = await openWatched(fill);
    const { root, outside, watcher } = watched;
    renameSync(root, join(outside, 'away'));
    expect(watched.taken()[0]).toContain('[');
    expect(watcher.state).toBe('absent');
    expect(watched.lost.at(-1)).toContain('removed or unmounted');
    mkdirSync(root);
    fill(root);
    mkdirSync(join(root, '.barrier'));
    expect(watched.taken()).toEqual(['[the source has come back]']);
    await until(() => watcher.state === 'watching');
    watched.taken();
    await watched.caughtUp();
    watched.taken();
    appendFileSync(join(root, 'a/deep/er/file'), 'more');
    await watched.caughtUp();
    expect(watched.taken()).toEqual(['a/deep/er']);
  });

  test('when it was moved away and back, and all of it is watched again', async () => {
    await using watched = await openWatched(fill);
    const { root, outside, watcher } = watched;
    renameSync(root, join(outside, 'away'));
    renameSync(join(outside, 'away'), root);
    await until(() => watched.lost.length > 0, 'a word');
    expect(watcher.state).toBe('starting');
    expect(watched.taken()).toEqual(['[the source was moved or removed]']);
    await until(() => watcher.state === 'watching');
    watched.taken();
    writeFileSync(join(root, 'new'), '');
    await watched.caughtUp();
    expect(watched.taken()).toEqual(['.']);
    expect(watched.lost).toEqual(['the source was moved or removed']);
  });

  test('and what a run has taken for all begins no other one, unless that run is given back', async () => {
    const clock = manualClock();
    await using watched = await openWatched(fill, { clock });
    const { watcher, summaries } = watched;
    clock.jump(120_000);
    const taken = watcher.take('all', true);
    expect(taken.kind).toBe('unknown');
    await clock.advance(10_000);
    expect(summaries).toEqual([]);
    watcher.putBack(taken, 'all');
    await clock.advance(10_000);
    expect(summaries).toHaveLength(1);
    // For one of several destinations.
    clock.jump(120_000);
    watcher.take('all');
    await clock.advance(10_000);
    expect(summaries).toHaveLength(2);
  });

  test('after the computer slept', async () => {
    const clock = manualClock();
    await using watched = await openWatched(fill, { clock });
    clock.jump(120_000);
    expect(watched.taken()).toEqual(['[the computer slept, or its clock was set]']);
    expect(watched.lost).toEqual(['the computer slept, or its clock was set']);
    expect(watched.taken()).toEqual([]);
  });

  test('while it is polled, but a backup is worthwhile when it changes', async () => {
    await using watched = await openWatched(fill, QUICK_LOOKS);
    const { root, watcher, summaries } = watched;
    expect(watcher.state).toBe('polling');
    await until(() => watcher.directories >= 8);
    const before = summaries.length;
    await delay(200);
    expect(summaries).toHaveLength(before);
    appendFileSync(join(root, 'a/deep/er/file'), 'more');
    await until(() => summaries.length > before);
    expect(watched.taken()[0]).toContain('does not report changes');
  });

  test('while it is polled, and a backup is worthwhile for what comes and goes beyond the files that are looked at', async () => {
    await using watched = await openWatched(fill, { ...QUICK_LOOKS, mostPolled: 2 });
    const { root, watcher, summaries } = watched;
    await until(() => watcher.directories >= 8);
    const changes = [
      () => writeFileSync(join(root, 'c/x/new'), ''),
      () => unlinkSync(join(root, 'c/x/file')),
      () => mkdirSync(join(root, 'c/y')),
    ];
    for (const change of changes) {
      const before = summaries.length;
      change();
      await until(() => summaries.length > before, 'a summary');
    }
  });

  test('when it is a single file, which is polled', async () => {
    await using watched = await openWatched(fill);
    const file = join(watched.root, 'a/file');
    let changed = 0;
    await using watcher = watchSource(
      { root: treePath(file), never: [], poll: false, clock: manualClock(), pollMs: 50, quietMs: 0 },
      { changed: () => (changed += 1), lost: () => {}, problem: () => {} },
    );
    expect(watcher.state).toBe('polling');
    await delay(200);
    appendFileSync(file, 'more');
    await until(() => changed > 0);
    expect(watcher.take().kind).toBe('unknown');
  });
});

describe('a run that is told of the changes', () => {
  test('looks at every name of a file that has several, and at a directory that took the place of its twin', async () => {
    await using engine = await openEngine();
    const at = (name: string): string => join(engine.source, name);
    for (const name of ['a', 'b', 'one/x', 'two/x']) mkdirSync(at(name), { recursive: true });
    writeFileSync(at('a/file'), 'content');
    linkSync(at('a/file'), at('b/file'));
    writeFileSync(at('one/x/file'), 'first');
    writeFileSync(at('two/x/file'), 'second');
    await delay(40);
    const parent = (await engine.backup()).snapshot.id;
    appendFileSync(at('b/file'), 'more');
    renameSync(at('one'), at('spare'));
    renameSync(at('two'), at('one'));
    renameSync(at('spare'), at('two'));
    await delay(40);
    // As a watcher would, but without the other name of the file and what is below the two directories.
    const directories = new Set([engine.source, at('b'), at('one'), at('two')].map(treePath));
    const told = await engine.backup(undefined, {
      parent: { snapshot: parent },
      changes: { directories, hiddenRules: false },
    });
    const whole = await engine.backup(undefined, { parent: 'none' });
    const ids = await Promise.all(
      [told, whole].map(
        async ({ snapshot }) => (await entryOf(engine, snapshot, engine.source, 'directory')).id,
      ),
    );
    expect(ids[0]).toEqual(ids[1]);
  });
});
