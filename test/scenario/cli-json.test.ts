/** What `--json` promises, of every command that has it. The program must be built. */
// Turn 3 of 8.
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { jsonLines, openPlace, type Outcome, type Place } from '../support/cli.ts';
import { commandTree } from '../support/commands-text.ts';

/** The agent and its repository, which nobody names. */
const fresh = { env: { HOLDFAST_REPOSITORY: undefined, HOLDFAST_PASSWORD: undefined } };

/** Not run here: they change the machine, run a service, or give lines as they are stored. */
const LEFT_OUT = [
  'logs',
  'service install',
  'service uninstall',
  'service allow-write',
  'partner',
  'partner copy',
  'partner suspend',
  'partner resume',
  'partner reset',
];

const isTime = (name: string): boolean => /(?:^|_)(?:at|until|time)$/.test(name);

/** What breaks the promise in a value, with the way there. */
function faultsIn(value: unknown, way: readonly string[]): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((one: unknown) => faultsIn(one, way));
  // Times of several destinations are below their names.
  if (typeof value === 'number' && way.slice(-2).some(isTime)) return [`${way.join(' ')} is a number`];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, one]: [string, unknown]) => {
    // Names of destinations, and settings by the names that the configuration has for them.
    const isOfPeople =
      way.at(-1) === 'last_good_backup_at' || (way[0] === 'config get' && way[1] === 'value');
    const isFault = !isOfPeople && !/^[a-z0-9_]+$/.test(name);
    return [...(isFault ? [`${way.join(' ')} has ${name}`] : []), ...faultsIn(one, [...way, name])];
  });
}

async function withJson(): Promise<readonly string[]> {
  const below = (command: Command, name: string): readonly string[] => [
    ...(command.options.some(({ long }) => long === '--json') ? [name] : []),
    ...command.commands.flatMap((one) => below(one, `${name} ${one.name()}`)),
  ];
  return (await commandTree()).flatMap(([{ name }, command]) => below(command, name));
}

/** Until it has told of the first job; what it said. */
async function startAgent(place: Place, source: string) {
  const child = place.start(['start', '--port', '0', '--json', '--source', source, '-d', 'myNas'], fresh);
  let stdout = '';
  child.stderr?.resume();
  child.stdout?.on('data', (bytes: Buffer) => {
    stdout += bytes.toString();
  });
  const end = async (): Promise<void> => {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
  try {
    await expect.poll(() => stdout, { timeout: 60_000 }).toContain('"type":"job"');
  } catch (error) {
    // Nobody else would end an agent that was never handed out.
    await end();
    throw error;
  }
  return { stdout, [Symbol.asyncDispose]: end };
}

test('names are in snake_case and times in RFC 3339, whichever command tells them', async () => {
  await using place = await openPlace();
  const faults: string[] = [];
  const ran = new Set<string>();
  const look = (name: string, outcome: Pick<Outcome, 'stdout'>): readonly Record<string, unknown>[] => {
    ran.add(name);
    const lines = jsonLines(outcome);
    if (lines.length === 0) faults.push(`${name} says nothing`);
    faults.push(...lines.flatMap((line) => faultsIn(line, [name])));
    return lines;
  };
  const ask = async (name: string, words: readonly string[] = [], code = 0, options = {}) =>
    look(name, await place.expectRun([...name.split(' '), '--json', ...words], code, options));

  const watched = join(place.directory, 'watched');
  await mkdir(watched);
  await writeFile(join(watched, 'a'), 'x');
  await ask('destinations add', ['myNas', join(place.directory, 'nas')], 0, fresh);
  {
    await using agent = await startAgent(place, watched);
    look('start', agent);
  }
  await rm(join(watched, 'a'));
  // The source is empty now, which is an alarm.
  await using _agent = await startAgent(place, watched);
  await ask('status', [], 1, fresh);
  const [job] = await ask('jobs', [], 0, fresh);
  await ask('jobs', [String(job?.['id'])], 0, fresh);
  await ask('alarms', [], 0, fresh);
  await ask('sources list', [], 0, fresh);
  await ask('sources accept', [join(watched, 'locked')], 0, fresh);
  await ask('sources exclude', [join(watched, 'locked')], 0, fresh);
  await ask('destinations list', [], 0, fresh);
  await ask('destinations test', ['myNas'], 0, fresh);
  await ask('pause', ['--for', '1h'], 0, fresh);
  await place.expectRun(['sources', 'add', place.source], 0, fresh);
  const queued = async () =>
    (await place.expectRun(['jobs', '--json', '--status', 'queued'], 0, fresh)).stdout;
  await expect.poll(queued, { timeout: 30_000 }).toContain('"id"');
  const [waiting] = jsonLines({ stdout: await queued() });
  await ask('cancel', [String(waiting?.['id'])], 0, fresh);
  await ask('resume', [], 0, fresh);
  await ask('ui', [], 0, fresh);
  const [key] = await ask('credentials create', ['--name', 'x'], 0, fresh);
  await ask('credentials list', [], 0, fresh);
  await ask('credentials rotate', [String(key?.['api_key'])], 0, fresh);
  await ask('credentials revoke', [String(key?.['api_key'])], 0, fresh);
  await ask('webdav on', [], 0, fresh);
  await ask('webdav address', [], 0, fresh);
  await ask('webdav off', [], 0, fresh);
  await ask('sources remove', [place.source], 0, fresh);
  await ask('sources add', [place.source], 0, fresh);
  await ask('destinations add', ['usb', join(place.directory, 'usb')], 0, fresh);
  await ask('destinations set-default', ['embedded'], 0, fresh);
  await ask('destinations remove', ['usb'], 0, fresh);
  await ask('config get', [], 0, fresh);
  await ask('config set', ['retention.keepDaily', '3'], 0, fresh);
  await ask('config unset', ['retention.keepDaily'], 0, fresh);
  await ask('config validate', [], 0, fresh);
  await ask('config path', [], 0, fresh);
  await ask('enroll', ['--status'], 0, fresh);
  // An alarm is open: a source was emptied.
  await ask('doctor', [], 1, fresh);
  look('service status', await place.run(['service', 'status', '--json'], fresh));
  const account = ['--name', 'x', '--email', 'x@example.org', '--password-command', 'echo a-long-password'];
  await ask('partner init', account);

  const [made] = await ask('init');
  await place.write({ 'a.txt': 'x', 'b/c.txt': 'y' });
  await ask('backup', [place.source]);
  await place.write({ 'a.txt': 'xx' });
  await ask('backup', [place.source]);
  const file = join(place.source, 'a.txt');
  await ask('explain', ['--exclude', '*.txt', file]);
  await ask('snapshots', ['--errors']);
  await ask('ls', ['latest']);
  await ask('find', ['*.txt']);
  await ask('versions', [file]);
  await ask('diff', ['latest~1', 'latest']);
  await ask('restore', ['latest', '--target', join(place.directory, 'back')]);
  await ask('check');
  await ask('recover');
  const second = { env: { HOLDFAST_REPOSITORY: join(place.directory, 'second') } };
  await ask('init', ['--like', place.repository], 0, second);
  await ask('copy', ['--from', place.repository, '--dry-run'], 0, second);
  await ask('copy', ['--from', place.repository], 0, second);
  await ask('tag', ['latest', '--add', 'x']);
  await ask('forget', ['--keep-last', '1', '--dry-run']);
  await ask('forget', ['--keep-last', '1']);
  await ask('prune', ['--dry-run']);
  await ask('prune');
  const paper = join(place.directory, 'paper');
  await writeFile(paper, String(made?.['recovery_code']));
  await ask('keys drill', ['--password-file', paper]);
  const [added] = await ask('keys add', ['--recovery-code']);
  await ask('keys list');
  await ask('keys remove', [String(added?.['id'])]);
  await ask('keys rotate');
  await ask('keys rekey');
  await ask('keys generations');
  const next = join(place.directory, 'next');
  await writeFile(next, 'another passphrase');
  await ask('keys passwd', ['--new-password-file', next]);

  expect(faults).toEqual([]);
  expect([...ran, ...LEFT_OUT].toSorted()).toEqual([...(await withJson())].toSorted());
});
