/** Commands on a bare system: without /proc, as in a rescue system or a chroot, and with files in an old encoding. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openPlace, type Place } from '../support/cli.ts';
import { restoredPath } from '../support/restored-path.ts';

/** Runs what follows it with an empty /proc. */
const WITHOUT_PROC = ['unshare', '-Urm', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh'];

function canHideProc(): boolean {
  try {
    const [program = '', ...words] = WITHOUT_PROC;
    return execFileSync(program, [...words, 'ls', '/proc'], { encoding: 'utf8', stdio: 'pipe' }) === '';
  } catch {
    return false;
  }
}

async function openInitialised(): Promise<Place> {
  const place = await openPlace();
  await place.expectRun(['init']);
  return place;
}

test.runIf(canHideProc())('a backup and its restore need no /proc', async () => {
  await using place = await openInitialised();
  await place.write({ 'd/f': 'kept', g: 'too' });
  const options = { under: WITHOUT_PROC };
  await place.expectRun(['backup', place.source], 0, options);
  const target = join(place.directory, 'restored');
  await place.expectRun(['restore', 'latest', '--target', target], 0, options);
  const found = ['d/f', 'g'].map((name) => readFileSync(restoredPath(target, place.source, name), 'utf8'));
  expect(found).toEqual(['kept', 'too']);
});

test('a password file that is not UTF-8 neither makes a repository nor opens one', async () => {
  await using place = await openInitialised();
  const file = join(place.directory, 'password');
  const options = { env: { HOLDFAST_PASSWORD: undefined } };
  // The same letters but for those that no encoding but Latin-1 knows.
  for (const ending of [0xe4, 0xfc]) {
    writeFileSync(file, Buffer.concat([Buffer.from('passwort-'), Buffer.from([ending])]));
    const words = ['--password-file', file];
    const made = await place.run(['init', '-r', join(place.directory, 'new'), ...words], options);
    const opened = await place.run(['snapshots', ...words], options);
    for (const { code, stderr } of [made, opened]) {
      expect(code).not.toBe(0);
      expect(stderr).toContain('UTF-8');
    }
  }
});
