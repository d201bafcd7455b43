/** A restore killed at any moment: nothing incomplete looks finished, and the next run completes it. */
// Turn 8 of 8.
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { UNFINISHED_FILE } from '../../src/restorer/target/target-directory.ts';
import { processStart } from '../../src/system/process-identity.ts';
import { DEAD, temporaryNameOf } from '../support/restore-remains.ts';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import { openRestoreSite, type RestoreSite } from '../support/restore-site.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { namesBelow } from '../support/names-below.ts';

let site: RestoreSite;

beforeEach(async () => {
  site = await openRestoreSite();
  const random = seededRandom(11);
  for (let i = 0; i < 1_000; i += 1) {
    const directory = join(site.source, `dir${i % 23}`);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `file${i}`), random.bytes(random.below(20_000)));
  }
  for (let i = 0; i < 4; i += 1) writeFileSync(join(site.source, `large${i}`), random.bytes(5_000_000));
  await site.backup();
});

afterEach(async () => {
  await site[Symbol.asyncDispose]();
});

/** Files that look finished, by size and time, without having their content. */
function falselyFinished(restored: string): string[] {
  return namesBelow(restored).filter((name) => {
    const [there, here] = [join(restored, name), join(site.source, name)];
    const stat = lstatSync(there, { bigint: true });
    const wanted = lstatSync(here, { bigint: true, throwIfNoEntry: false });
    if (!stat.isFile() || wanted === undefined) return false;
    const looksFinished = stat.size === wanted.size && stat.mtimeNs === wanted.mtimeNs;
    const carriesMark = Number(stat.mode & 0o7777n) === UNFINISHED_FILE;
    const isRight = stat.size === wanted.size && readFileSync(there).equals(readFileSync(here));
    return !isRight && (looksFinished || !carriesMark);
  });
}

describe('after a kill', () => {
  test.each([
    ['never', 'never'],
    ['if_changed', 'if_newer'],
  ] as const)('a run with %s and then %s leaves the tree whole', async (first, second) => {
    const target = join(site.directory, 'out');
    const restored = site.below(target);
    let interrupted = 0;
    for (const ms of [60, 150, 240]) {
      const running = site.start({ target, overwrite: first });
      await running.ready;
      await delay(ms);
      running.process.kill('SIGKILL');
      if ((await running.ended) !== undefined) continue;
      interrupted += 1;
      // Made by this test, the directory would be one that stood before and keeps its time.
      if (existsSync(restored)) expect(falselyFinished(restored)).toEqual([]);
    }
    expect(interrupted).toBeGreaterThan(0);
    const outcome = await site.start({ target, overwrite: second }).ended;
    expect(outcome).toMatchObject({ status: 'complete', filesFailed: 0 });
    expect(compareTrees(site.source, restored, { owners: false, roots: true }).map(shownDifference)).toEqual(
      [],
    );
    expect(namesBelow(restored).filter((name) => name.includes('.holdfast-'))).toEqual([]);
  });

  test.runIf(process.platform === 'linux')(
    'the next run also takes away the files of one that needs a moment to die',
    async () => {
      const target = join(site.directory, 'out');
      const restored = site.below(target);
      mkdirSync(join(restored, 'dir3'), { recursive: true });
      const dying = spawn('sleep', ['1.5'], { stdio: 'ignore' });
      const living = spawn('sleep', ['60'], { stdio: 'ignore' });
      try {
        const [dead = '', alive = ''] = [dying, living].map(({ pid = 0 }) =>
          temporaryNameOf({ pid, start: processStart(pid) }, 7),
        );
        for (const name of [dead, alive]) {
          const path = join(restored, 'dir3', name);
          writeFileSync(path, 'half');
          chmodSync(path, UNFINISHED_FILE);
        }
        expect(await site.start({ target, overwrite: 'never' }).ended).toMatchObject({ status: 'complete' });
        const left = readdirSync(join(restored, 'dir3')).filter((name) => name.startsWith('.holdfast-'));
        expect(left).toEqual([alive]);
      } finally {
        living.kill();
      }
    },
  );

  test('the next run takes away whatever had not got its own name yet, however far it had come', async () => {
    const target = join(site.directory, 'out');
    const directory = join(site.below(target), 'dir3');
    mkdirSync(directory, { recursive: true });
    const names = [1, 2, 3].map((serial) => temporaryNameOf(DEAD, serial));
    const [begun = '', complete = '', link = ''] = names.map((name) => join(directory, name));
    writeFileSync(begun, 'half');
    chmodSync(begun, UNFINISHED_FILE);
    // Killed between its permissions and its name: the disk is waited for in between.
    writeFileSync(complete, 'all of it', { mode: 0o644 });
    symlinkSync('nowhere', link);
    mkdirSync(join(directory, temporaryNameOf(DEAD, 4)));
    // Somebody else's, however much its name looks like one of ours.
    writeFileSync(join(directory, '.holdfast-99999999-1-0123456789ab-5'), 'mine');
    expect(await site.start({ target, overwrite: 'never' }).ended).toMatchObject({ status: 'complete' });
    // No restore makes a directory of such a name.
    expect(readdirSync(directory).filter((name) => name.startsWith('.holdfast-'))).toEqual([
      '.holdfast-99999999-1-0123456789ab-5',
      temporaryNameOf(DEAD, 4),
    ]);
  });

  test('in the middle of changing existing files the next run goes on, whatever its overwrite mode', async () => {
    const target = join(site.directory, 'out');
    const restored = site.below(target);
    expect(await site.start({ target, overwrite: 'never' }).ended).toMatchObject({ status: 'complete' });
    const names = namesBelow(restored).filter((name) => lstatSync(join(restored, name)).isFile());
    let interrupted = 0;
    for (const ms of [150, 250]) {
      for (const name of names) writeFileSync(join(restored, name), 'something else');
      const running = site.start({ target, overwrite: 'if_changed' });
      await running.ready;
      await delay(ms);
      running.process.kill('SIGKILL');
      if ((await running.ended) !== undefined) continue;
      interrupted += 1;
      await site.start({ target, overwrite: 'never' }).ended;
      for (const name of names) {
        const content = readFileSync(join(restored, name));
        const isOld = content.equals(Buffer.from('something else'));
        if (!isOld) expect(content.equals(readFileSync(join(site.source, name))), name).toBe(true);
      }
    }
    expect(interrupted).toBeGreaterThan(0);
  });
});
