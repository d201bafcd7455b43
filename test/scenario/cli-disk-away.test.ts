/** A destination whose disk is away, and one on which another repository lies: no command leads to a second repository. */
// Turn 7 of 8.
import { existsSync } from 'node:fs';
import { chmod, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openPlace, type Outcome, type Place } from '../support/cli.ts';
import { startAgent } from '../support/started-agent.ts';

const fresh = { env: { HOLDFAST_REPOSITORY: undefined, HOLDFAST_PASSWORD: undefined } };

/** What `doctor` says of a check. */
function said({ stdout }: Outcome, check: string): string {
  return stdout.split('\n').find((line) => line.includes(`  ${check} `)) ?? '';
}

async function known(place: Place): Promise<boolean> {
  const { stdout } = await place.expectRun(['destinations', 'list', '--json'], 0, fresh);
  return /"name":"usb".*"repository_id":"[0-9a-f]{32}"/.test(stdout);
}

test('a known destination that is away is to be connected, and gets no second repository by its name', async () => {
  await using place = await openPlace();
  await place.write({ a: 'one' });
  await mkdir(place.state, { mode: 0o700 });
  const usb = join(place.directory, 'usb');
  await mkdir(usb);
  const secret = join(place.directory, 'secret');
  await writeFile(secret, 'correct horse battery\n', { mode: 0o600 });
  const settings = {
    destinations: { usb: { url: usb, passphrase: { file: secret } } },
    defaultDestination: 'usb',
    sources: [{ path: place.source, watch: false }],
  };
  await writeFile(join(place.state, 'config.json'), JSON.stringify(settings), { mode: 0o600 });
  await using agent = await startAgent(place);
  expect(agent).toBeDefined();
  for (let tries = 0; tries < 200 && !(await known(place)); tries += 1) await delay(100);
  expect(await known(place)).toBe(true);

  await rename(usb, `${usb}-away`);
  await mkdir(usb);
  const listed = await place.run(['snapshots', '-r', 'usb'], fresh);
  expect(listed.code).toBe(10);
  expect(listed.stderr).toContain('the destination usb');
  expect(listed.stderr).toContain('connect or mount its disk');
  expect(listed.stderr).not.toContain(' init ');
  const empty = await place.run(['doctor'], fresh);
  expect(said(empty, 'repository')).toMatch(/ERROR .*The repository that holds your backups .* is not at/);
  expect(said(empty, 'repository')).not.toContain(' init');
  const made = await place.run(['init', '-r', 'usb'], fresh);
  expect(made.code).not.toBe(0);
  expect(made.stderr).toContain('The backups of usb are in a repository');
  expect(existsSync(join(usb, 'keys'))).toBe(false);

  await place.expectRun(['init', '-r', usb, '--password-file', secret], 0, fresh);
  const examined = await place.run(['doctor'], fresh);
  expect(examined.code).toBe(1);
  expect(said(examined, 'repository')).toMatch(
    /ERROR .*The repository .* is not the one that holds your backups/,
  );
  const tested = await place.run(['destinations', 'test', 'usb'], fresh);
  expect(tested.stdout).toContain('is not the one that holds your backups');
  expect(tested.stdout).toContain('usb CANNOT be used.');

  // That the passphrase does not open another repository says nothing about the passphrase.
  await rename(usb, `${usb}-other`);
  await mkdir(usb);
  const foreign = join(place.directory, 'foreign');
  await writeFile(foreign, 'one that nobody here knows\n', { mode: 0o600 });
  await place.expectRun(['init', '-r', usb, '--password-file', foreign], 0, fresh);
  const strange = await place.run(['doctor'], fresh);
  expect(said(strange, 'repository')).toMatch(
    /ERROR .*The repository .* is not the one that holds your backups/,
  );
  const tried = await place.run(['destinations', 'test', 'usb'], fresh);
  expect(tried.stdout).toContain('is not the one that holds your backups');
  expect(tried.stdout).not.toContain('Wrong passphrase');
  const unopened = await place.run(['snapshots'], fresh);
  expect(unopened.code).toBe(12);
  expect(unopened.stderr).toContain(
    `The passphrase of the destination usb does not open the repository at ${usb}\nCheck that the right disk is mounted there.`,
  );
});

test('before the first start no key is missing, and what keeps it from starting is told', async () => {
  await using place = await openPlace();
  await mkdir(place.state, { mode: 0o700 });
  const usb = join(place.directory, 'usb');
  await mkdir(usb);
  const settings = { destinations: { usb: { url: usb } }, defaultDestination: 'usb' };
  await writeFile(join(place.state, 'config.json'), JSON.stringify(settings), { mode: 0o600 });
  expect(said(await place.run(['doctor'], fresh), 'repository')).toMatch(/^ok .*is available, not used yet/);
  expect((await place.run(['status'], fresh)).stdout).not.toContain('It cannot run now');

  // What has a secret is opened: there is nothing to open, and no room for anything either.
  const secret = join(place.directory, 'secret');
  await writeFile(secret, 'correct horse battery\n', { mode: 0o600 });
  await writeFile(join(usb, 'config'), 'of another program');
  const keyed = { ...settings, destinations: { usb: { url: usb, passphrase: { file: secret } } } };
  await writeFile(join(place.state, 'config.json'), JSON.stringify(keyed), { mode: 0o600 });
  expect(said(await place.run(['doctor'], fresh), 'repository')).toMatch(
    /^ERROR .*No repository can be created .*there are other files/,
  );

  await chmod(place.state, 0o755);
  const refusal = `${place.state} is open to other users (mode 755)`;
  expect((await place.run(['status'], fresh)).stdout).toContain(`It cannot run now: ${refusal}. If`);
  expect(said(await place.run(['doctor'], fresh), 'state directory')).toMatch(
    /^ERROR .*is open to other users/,
  );
});

test('a word that is no destination and no directory is told as such', async () => {
  await using place = await openPlace();
  const { code, stderr } = await place.run(['snapshots', '-r', 'nosuch'], fresh);
  expect(code).toBe(10);
  expect(stderr).toContain('No destination is called nosuch, and there is no directory of that name here');
  expect(stderr).toContain('Destinations are: embedded');
});

test('a repository below directories that did not exist is made with a note', async () => {
  await using place = await openPlace();
  const { stderr } = await place.expectRun(['init', '-r', join(place.directory, 'drive/backup')]);
  expect(stderr).toContain(`Note: creating ${join(place.directory, 'drive')}, which did not exist.`);
});
