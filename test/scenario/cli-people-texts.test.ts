/** Texts that people write, as each editor and shell writes them: the same, or an error, and never something else. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openPlace } from '../support/cli.ts';

const utf16 = (text: string): Buffer => Buffer.from(`\uFEFF${text}`, 'utf16le');
const NO_VARIABLE = { env: { HOLDFAST_PASSWORD: undefined } };

test('a passphrase in bytes that are no text makes nothing and opens nothing', async () => {
  await using place = await openPlace();
  const file = join(place.directory, 'pass');
  const from = ['--password-file', file];
  await writeFile(file, Buffer.from('passwort-\u00e4\u00f6\n', 'latin1'));
  const refused = await place.expectRun(['init', ...from], 1, NO_VARIABLE);
  expect(refused.stderr).toContain('is not valid UTF-8');
  await place.expectRun(['init', '--password-command', `cat ${file}`], 1, NO_VARIABLE);
  const fromVariable = { env: { HOLDFAST_PASSWORD: 'passwort-\uFFFD\uFFFD' } };
  expect((await place.expectRun(['init'], 2, fromVariable)).stderr).toContain('is not valid UTF-8');
  await writeFile(file, 'passwort-\uFFFD\uFFFD\n');
  expect((await place.expectRun(['init', ...from], 2, NO_VARIABLE)).stderr).toContain(
    'stands for unreadable ones',
  );
  await writeFile(file, 'passwort \n');
  expect((await place.expectRun(['init', ...from], 2, NO_VARIABLE)).stderr).toContain('ends with a space');

  await writeFile(file, 'passwort-äö\n');
  await place.expectRun(['init', ...from], 0, NO_VARIABLE);
  await writeFile(file, Buffer.from('passwort-\u00fc\u00df\n', 'latin1'));
  await place.expectRun(['snapshots', ...from], 1, NO_VARIABLE);
  for (const same of [Buffer.from('\uFEFFpasswort-äö\r\n'), utf16('passwort-äö\r\n'), 'passwort-äö\n']) {
    await writeFile(file, same);
    await place.expectRun(['snapshots', ...from], 0, NO_VARIABLE);
    await place.expectRun(['snapshots', '--password-command', `cat ${file}`], 0, NO_VARIABLE);
  }
});

test('a command that gives the passphrase and leaves a process behind is not waited for', async () => {
  await using place = await openPlace();
  await place.expectRun(['init']);
  const begun = performance.now();
  const command = '(sleep 40 2>/dev/null &); echo "$CHOSEN"';
  await place.expectRun(['snapshots', '--password-command', command], 0, {
    env: { HOLDFAST_PASSWORD: undefined, CHOSEN: 'correct horse battery staple' },
  });
  expect(performance.now() - begun).toBeLessThan(30_000);
});

test('patterns of a file in UTF-16 hold, and what cannot be lines of patterns is refused', async () => {
  await using place = await openPlace();
  await place.expectRun(['init']);
  await place.write({ keep: '', 'secret.key': '', '.gitignore': utf16('*.key\r\n') });
  const list = join(place.directory, 'list');
  await writeFile(list, utf16('*.key\r\n').swap16());
  for (const options of [
    ['--exclude-file', list],
    ['--ignore-file', '.gitignore'],
  ]) {
    await place.expectRun(['backup', ...options, place.source]);
    const { stdout } = await place.expectRun(['ls', 'latest']);
    expect(stdout).toContain('keep');
    expect(stdout).not.toContain('secret.key');
  }
  const markless = Buffer.from('*.key\r\n', 'utf16le');
  await writeFile(list, markless);
  expect((await place.expectRun(['backup', '--exclude-file', list, place.source], 2)).stderr).toContain(
    'UTF-16',
  );
  await place.write({ '.gitignore': markless });
  const told = await place.expectRun(['backup', '--ignore-file', '.gitignore', place.source]);
  expect(told.stdout + told.stderr).toContain('UTF-16');
});
