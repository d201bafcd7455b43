/** An ordinary user's source with a directory that may not be read: the rest is watched all the same. */

import { chmodSync, chownSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { removeTree } from '../support/remove-tree.ts';
import { moduleUrl, runScript } from '../support/run-script.ts';

const NOBODY = 65_534;

const SCRIPT = `
  import { appendFileSync, chmodSync, mkdirSync } from 'node:fs';
  import { setTimeout as delay } from 'node:timers/promises';
  const { watchSource } = await import('${moduleUrl('src/watch/source-watcher.ts')}');
  const { bytesOfText } = await import('${moduleUrl('src/base/byte-path.ts')}');
  const { systemClock } = await import('${moduleUrl('src/base/clock.ts')}');
  const root = process.argv[2];
  const problems = [];
  const watcher = watchSource(
    { root: bytesOfText(root), never: [], poll: false, clock: systemClock },
    { changed: () => {}, lost: () => {}, problem: (error) => problems.push(error.message) },
  );
  while (watcher.state === 'starting') await delay(5);
  const { state } = watcher;
  watcher.take();
  appendFileSync(root + '/open/file', 'more');
  await delay(300);
  const closed = watcher.take();
  // Once it can be read, all that is in it counts as changed each time.
  chmodSync(root + '/closed', 0o755);
  await delay(300);
  watcher.take();
  const opened = watcher.take();
  await watcher.close();
  const names = (changes) => changes.paths?.map((path) => path.slice(root.length + 1)).sort();
  process.stdout.write(JSON.stringify({ state, problems, closed: names(closed), opened: names(opened) }));
`;

test.runIf(process.getuid?.() === 0)('what cannot be read is looked at by every backup', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-watch-unreadable-'));
  try {
    chmodSync(directory, 0o755);
    const source = join(directory, 'source');
    for (const name of ['open', 'closed/below']) mkdirSync(join(source, name), { recursive: true });
    writeFileSync(join(source, 'open/file'), '');
    for (const name of ['.', 'open', 'open/file', 'closed/below', 'closed'])
      chownSync(join(source, name), NOBODY, NOBODY);
    chmodSync(join(source, 'closed'), 0);
    expect(JSON.parse(await runScript(SCRIPT, { args: [source], uid: NOBODY }))).toEqual({
      state: 'watching',
      problems: [],
      closed: ['closed', 'open'],
      opened: ['closed', 'closed/below'],
    });
  } finally {
    removeTree(directory);
  }
});
