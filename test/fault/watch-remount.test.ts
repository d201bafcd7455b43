/** A file system in a source that is unmounted and mounted again between two looks, in a mount namespace of its own. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SOURCE_FLAGS } from '../support/node-flags.ts';
import { removeTree } from '../support/remove-tree.ts';
import { moduleUrl } from '../support/run-script.ts';

const SCRIPT = `
  import { execFileSync } from 'node:child_process';
  import { mkdirSync, writeFileSync } from 'node:fs';
  import { setTimeout as delay } from 'node:timers/promises';
  const { watchSource } = await import('${moduleUrl('src/watch/source-watcher.ts')}');
  const { bytesOfText } = await import('${moduleUrl('src/base/byte-path.ts')}');
  const { systemClock } = await import('${moduleUrl('src/base/clock.ts')}');
  const [, , root, mounted] = process.argv;
  const mount = () => {
    execFileSync('mount', ['-t', 'tmpfs', 'none', mounted]);
    mkdirSync(mounted + '/directory');
  };
  mount();
  const lost = [];
  const watcher = watchSource(
    { root: bytesOfText(root), never: [], poll: false, clock: systemClock },
    { changed: () => {}, lost: (reason) => lost.push(reason), problem: () => {} },
  );
  const watching = async () => {
    while (watcher.state === 'starting') await delay(5);
    watcher.take();
  };
  await watching();
  const before = watcher.take();
  execFileSync('umount', [mounted]);
  mount();
  const after = watcher.take();
  await watching();
  writeFileSync(mounted + '/directory/file', 'new');
  let later = watcher.take();
  for (let waited = 0; waited < 3_000 && later.paths?.length === 0; waited += 20) {
    await delay(20);
    later = watcher.take();
  }
  const { state } = watcher;
  await watcher.close();
  process.stdout.write(JSON.stringify({ before, after, later: later.paths, lost, state }));
`;

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-watch-remount-'));
  mkdirSync(join(directory, 'source/mounted'), { recursive: true });
  writeFileSync(join(directory, 'script.mjs'), SCRIPT);
});
afterEach(() => removeTree(directory));

function inNamespace(command: readonly string[]): string {
  return execFileSync('unshare', ['-Urm', ...command], { encoding: 'utf8', timeout: 60_000 });
}

function canMount(): boolean {
  try {
    execFileSync('unshare', ['-Urm', 'mount', '-t', 'tmpfs', 'none', tmpdir()], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe.runIf(canMount())('a file system that is unmounted and mounted again at once', () => {
  test.each([
    ['in a source', 'source'],
    ['that is the source', 'source/mounted'],
  ])('%s is noticed, and watched', (_, root) => {
    const script = [join(directory, 'script.mjs'), join(directory, root), join(directory, 'source/mounted')];
    const said = JSON.parse(inNamespace([process.execPath, ...SOURCE_FLAGS, ...script])) as object;
    const reason = 'a file system was mounted or unmounted in the source';
    expect(said).toMatchObject({ before: { kind: 'paths', paths: [] }, after: { kind: 'unknown', reason } });
    expect(said).toMatchObject({
      lost: [reason],
      state: 'watching',
      later: [join(directory, 'source/mounted/directory')],
    });
  });
});
