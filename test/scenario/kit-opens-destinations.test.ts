/** Whoever moves to another destination has one recovery kit: it opens the new place as it opens the old one. */
// Turn 5 of 8.
import { once } from 'node:events';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openPlace, type Outcome, type Place } from '../support/cli.ts';
import { startAgent } from '../support/started-agent.ts';

const fresh = { env: { HOLDFAST_REPOSITORY: undefined, HOLDFAST_PASSWORD: undefined } };

async function run(place: Place, words: readonly string[], code = 0): Promise<Outcome> {
  return await place.expectRun(words, code, fresh);
}

async function firstBackup(repository: string): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    if ((await readdir(join(repository, 'snapshots')).catch(() => [])).length > 0) return;
    await delay(300);
  }
  expect.fail('no backup was made there');
}

/** What `start` says to a person. */
async function greetingOf(place: Place): Promise<string> {
  const child = place.start(['start', '--port', '0'], fresh);
  child.stderr?.resume();
  const ended = once(child, 'exit');
  let said = '';
  for await (const piece of child.stdout ?? []) {
    said += String(piece);
    if (said.includes('Open your backups in a browser with')) break;
  }
  child.kill('SIGTERM');
  await ended;
  return said;
}

/** As written on paper. */
async function kitOf(place: Place): Promise<{ code: string; passphrase: string }> {
  const kit = await readFile(join(place.state, 'recovery-kit.txt'), 'utf8');
  const at = async (name: string, pattern: RegExp): Promise<string> => {
    const file = join(place.directory, name);
    await writeFile(file, pattern.exec(kit)?.[1] ?? '', { mode: 0o600 });
    return file;
  };
  return {
    code: await at('code', /Recovery code +(\S+)/),
    passphrase: await at('phrase', /Passphrase +(\S+)/),
  };
}

test('code and passphrase of the kit open the repository that the agent makes, and doctor asks for a drill of each', async () => {
  await using place = await openPlace();
  await place.write({ 'notes.txt': 'one' });
  await using _agent = await startAgent(place, ['--source', place.source]);
  await firstBackup(join(place.state, 'repository'));
  const { code, passphrase } = await kitOf(place);
  await run(place, ['keys', 'drill', '--password-file', code]);
  const disk = join(place.directory, 'disk');
  await mkdir(disk);
  const added = await run(place, ['destinations', 'add', 'nas', disk, '--default']);
  expect(added.stdout).toContain(
    'The repository there opens with the recovery kit of this computer: either its passphrase or its recovery code.',
  );
  await firstBackup(disk);
  const doctor = await place.run(['doctor'], fresh);
  expect(doctor.stdout).toMatch(/WARNING? +key drill +.*nas.* has never been tested/i);
  await run(place, ['keys', 'drill', '-r', 'nas', '--password-file', code]);
  await run(place, ['keys', 'drill', '-r', 'nas', '--passphrase', '--password-file', passphrase]);
  await run(place, ['snapshots', '-r', disk, '--password-file', code]);
  const after = await place.run(['doctor'], fresh);
  expect(after.stdout).not.toMatch(/key drill +.*never been tested/i);
});

test('on another computer the kit says what to type there, and what is not typed is asked for by name', async () => {
  await using old = await openPlace();
  await old.write({ 'notes.txt': 'one' });
  await run(old, ['start', '--once', '--source', old.source]);
  const kit = await readFile(join(old.state, 'recovery-kit.txt'), 'utf8');
  const steps = kit.slice(kit.indexOf('To restore on another computer'));
  expect([...steps.matchAll(/holdfast .*/g)].map(([command]) => command)).toEqual([
    'holdfast snapshots -r REPOSITORY',
    'holdfast restore -r REPOSITORY ID --target DIR',
    'holdfast destinations add NAME REPOSITORY --default',
  ]);
  // No path of a computer that is lost.
  expect(kit).not.toMatch(/holdfast\.js|node |npm --prefix/);
  expect(kit).toContain('It does not open a repository that another computer made');
  const { code } = await kitOf(old);
  const repository = join(old.state, 'repository');
  await using next = await openPlace();
  const add = ['destinations', 'add', 'disk', repository, '--default'];
  const refused = await run(next, add, 12);
  expect(refused.stderr).toContain('disk was not added: A repository already exists here');
  const [, told = ''] = /and run: (holdfast .*)/.exec(refused.stderr) ?? [];
  expect(told).toBe(`holdfast ${add.join(' ')} --passphrase-file FILE`);
  const added = await run(next, [...add, '--passphrase-file', code]);
  expect(added.stdout).toContain('Keep that kit: the one of this computer does not open them.');
  await run(next, ['start', '--once', '--source', next.source]);
  expect((await run(next, ['snapshots'])).stdout).toContain(old.source);
});

test('whoever goes on with the repository of another computer is told to keep its kit, until the new one opens it, too', async () => {
  await using old = await openPlace();
  await old.write({ 'notes.txt': 'one' });
  await run(old, ['start', '--once', '--source', old.source]);
  const { code } = await kitOf(old);
  const repository = join(old.state, 'repository');
  await using next = await openPlace();
  await run(next, ['destinations', 'add', 'disk', repository, '--default', '--passphrase-file', code]);
  const noKit = await run(next, ['keys', 'add', '-r', 'disk', '--recovery-kit'], 2);
  expect(noKit.stderr).toContain('This computer has no recovery kit yet');
  const told = 'It does not open disk. Keep what does as well: the recovery kit of the computer that made';
  const greeting = await greetingOf(next);
  expect(greeting).toContain(told);
  expect(greeting).not.toContain('nobody can open the backups');
  {
    await using _agent = await startAgent(next);
    expect((await next.run(['doctor'], fresh)).stdout).toContain(told);
    const { passphrase } = await kitOf(next);
    await run(next, ['snapshots', '-r', repository, '--password-file', passphrase], 12);
    const kept = await run(next, ['keys', 'add', '-r', 'disk', '--recovery-kit']);
    expect(kept.stdout).toContain('opens disk from now on. What opened it before still does. The agent uses');
    const again = await run(next, ['keys', 'add', '-r', 'disk', '--recovery-kit']);
    expect(again.stdout).toContain('opens disk already.');
  }
  const own = await kitOf(next);
  for (const file of [code, own.code, own.passphrase])
    await run(next, ['snapshots', '-r', repository, '--password-file', file]);
  await run(next, ['snapshots', '-r', 'disk']);
  expect((await next.run(['doctor'], fresh)).stdout).not.toContain('It does not open disk');
});

test('whoever moves to another disk by hand types no passphrase, and the kit opens the new one', async () => {
  await using place = await openPlace();
  await place.write({ 'notes.txt': 'one' });
  await run(place, ['start', '--once', '--source', place.source]);
  const { code, passphrase } = await kitOf(place);
  const [disk, other, own] = ['disk', 'other', 'own'].map((name) => join(place.directory, name));
  for (const name of [disk, other]) await mkdir(String(name));
  await writeFile(String(own), 'a passphrase of its own\n', { mode: 0o600 });
  const known = (await run(place, ['destinations', 'list'])).stdout;
  expect(known).toContain('embedded (default)');
  expect(known).toContain('\n\nembedded is the repository on this computer that the first start made.\n');
  const unknown = await run(place, ['destinations', 'test', 'nothing'], 2);
  expect(unknown.stderr).toContain('Destinations are: embedded.');
  await run(place, ['destinations', 'add', 'newdisk', String(disk)]);
  const made = await run(place, ['init', '-r', 'newdisk', '--like', 'embedded']);
  expect(made.stdout).toContain('It opens with the recovery kit of this computer');
  expect(made.stdout).not.toContain('not shown again');
  await run(place, ['copy', '--from', join(place.state, 'repository'), '-r', 'newdisk']);
  for (const file of [code, passphrase])
    expect((await run(place, ['snapshots', '-r', String(disk), '--password-file', file])).stdout).toContain(
      place.source,
    );
  // Also where the destination is named by its path.
  await run(place, ['init', '-r', String(other), '--like', String(disk), '--password-file', String(own)]);
  await run(place, ['copy', '--from', String(disk), '-r', String(other), '--password-file', String(own)]);
});

test('where the code is not known any more, the passphrase is named, and how a code is made', async () => {
  await using place = await openPlace();
  await place.write({ 'notes.txt': 'one' });
  await run(place, ['start', '--once', '--source', place.source]);
  const { code, passphrase } = await kitOf(place);
  for (const name of ['recovery-code', 'recovery-kit.txt']) await rm(join(place.state, name));
  const disk = join(place.directory, 'disk');
  await mkdir(disk);
  await using _agent = await startAgent(place, ['--source', place.source]);
  const added = await run(place, ['destinations', 'add', 'nas', disk, '--default']);
  expect(added.stdout).toContain('the passphrase of the recovery kit, but not with its recovery code.');
  await firstBackup(disk);
  const refused = await run(place, ['keys', 'drill', '-r', 'nas', '--password-file', code], 12);
  expect(refused.stderr).toContain('The repository has no key slot for a recovery code');
  expect(refused.stderr).toContain('A passphrase opens it: of a repository that the agent made, the one of');
  expect(refused.stderr).toContain('holdfast keys add --recovery-code -r nas');
  await run(place, ['keys', 'drill', '-r', 'nas', '--passphrase', '--password-file', passphrase]);
});
