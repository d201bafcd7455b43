/** A hundred thousand events at once overflow the kernel's queue: the next set says so, and nothing is missed. */

import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bytesOfText } from '../../src/base/byte-path.ts';
import { entryOf, openEngine } from '../support/engine.ts';
import { runScript } from '../support/run-script.ts';
import { until, watchDirectory } from '../unit/watch/watched-source.ts';

/**
 * Storms while it changes other files in between: some storms come and go under a few names, others make new ones, and
 * touching is told under one name again and again.
 */
const STORM = `
  import { appendFileSync, closeSync, mkdirSync, openSync, unlinkSync, utimesSync } from 'node:fs';
  const [, , root] = process.argv;
  const started = performance.now();
  let events = 0;
  for (let count = 0; events < 100_000; count += 1) {
    const name = root + '/storm/' + (count % 7);
    closeSync(openSync(name, 'w'));
    utimesSync(name, 1e9, count);
    unlinkSync(name);
    events += 3;
    if (count % 50 === 0) appendFileSync(root + '/quiet-' + (count % 300) / 50 + '/file', 'more');
    if (count % 500 === 0) mkdirSync(root + '/new-' + count + '/below', { recursive: true });
    if (count % 500 === 0) appendFileSync(root + '/new-' + count + '/below/file', 'new');
  }
  process.stdout.write(String(Math.round(performance.now() - started)));
`;

test('a storm of events is survived: everything is walked, and a person is told', async () => {
  await using engine = await openEngine();
  const { source } = engine;
  mkdirSync(join(source, 'storm'));
  for (let count = 0; count < 6; count += 1) {
    mkdirSync(join(source, `quiet-${count}`));
    writeFileSync(join(source, `quiet-${count}/file`), 'content');
  }
  await using watched = await watchDirectory(source, { quietMs: 100 });
  const { watcher, lost, caughtUp } = watched;
  let parent = (await engine.backup()).snapshot.id;
  await caughtUp();
  watcher.take();

  const milliseconds = Number(await runScript(STORM, { args: [source] }));
  expect(milliseconds).toBeGreaterThan(0);
  const compare = async (): Promise<'paths' | 'unknown'> => {
    await caughtUp();
    const changes = watcher.take();
    const directories = changes.kind === 'paths' ? new Set(changes.paths) : undefined;
    const compared = { parent: { snapshot: parent } };
    const told = await engine.backup(undefined, {
      ...compared,
      changes: directories === undefined ? undefined : { directories },
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
  for (const name of ['quiet-3/file', 'new-500/below/file']) appendFileSync(join(source, name), 'later');
  await caughtUp();
  const later = watcher.take('barrier');
  expect(later.kind).toBe('paths');
  const again = watcher.take();
  expect(again).toMatchObject({ kind: 'paths' });
  const paths = again.kind === 'paths' ? again.paths : [];
  for (const name of ['quiet-3', 'new-500/below']) expect(paths).toContain(bytesOfText(join(source, name)));
});
