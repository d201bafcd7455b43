/** A Linux source tree, stored by the program and restored by recover.py: byte for byte, with modes, owners and times. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it, test } from 'vitest';
import { cacheDirectory } from '../servers/cache-directory.ts';
import { debianPrograms } from '../servers/debian-programs.ts';
import { runCommand } from '../servers/run-command.ts';
import { ServerUnavailable, startOrSkip } from '../servers/unavailable.ts';
import { openPlace, PASSPHRASE } from '../support/cli.ts';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import { removeTree } from '../support/remove-tree.ts';
import { openRecoverProgram } from './program.ts';

const HOUR = 3_600_000;

/** Unpacked once, from Debian's package of the kernel's sources. */
async function linuxTree(): Promise<string> {
  const unpacked = path.join(cacheDirectory(), 'linux-tree');
  if (existsSync(unpacked)) return unpacked;
  const { directory } = await debianPrograms('linux-source', ['linux-source']);
  const sources = path.join(directory, 'usr', 'src');
  const archive = readdirSync(sources).find((name) => /^linux-source-.*\.tar\.xz$/.test(name));
  if (archive === undefined) throw new ServerUnavailable('the package linux-source has no archive');
  const growing = `${unpacked}.${process.pid}`;
  await mkdir(growing);
  await runCommand('tar', ['--extract', '--file', path.join(sources, archive), '--directory', growing]);
  await rename(growing, unpacked);
  return unpacked;
}

const found = await startOrSkip(async () => ({
  program: await openRecoverProgram(),
  source: await linuxTree(),
}));
if ('missing' in found) test.skip(`the Linux tree was not restored: ${found.missing}`, () => {});
else
  describe('recover.py and a Linux tree', () => {
    const { program, source } = found.server;
    const home = mkdtempSync(path.join(tmpdir(), 'holdfast-recover-'));
    afterAll(() => {
      removeTree(home);
    });

    it(
      'restores it byte for byte',
      async () => {
        await using place = await openPlace();
        await place.expectRun(['init']);
        await place.expectRun(['backup', '--quiet', source]);
        const secret = path.join(home, 'secret');
        writeFileSync(secret, PASSPHRASE);
        const target = path.join(home, 'target');
        const begin = performance.now();
        const words = [place.repository, '--secret-file', secret, '--any-cost', 'restore', 'latest', target];
        const { code, stderr } = await program.run(words);
        process.stdout.write(`${stderr.trim()} in ${Math.round((performance.now() - begin) / 1_000)} s\n`);
        const restored = path.join(target, source);
        const different = spawnSync('diff', ['--recursive', '--no-dereference', source, restored], {
          encoding: 'utf8',
        });

        expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('Restored from') });
        expect({ status: different.status, said: different.stdout }).toEqual({ status: 0, said: '' });
        expect(compareTrees(source, restored).map(shownDifference)).toEqual([]);
      },
      2 * HOUR,
    );
  });
