/** Names that would drive a terminal come from the disk, the command line and the repository. The program must be built. */
// Turn 6 of 8.
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { outcomeOf, openPlace } from '../support/cli.ts';

const HOSTILE = 'a\u001b]0;x\u0007\u009b2J\u202e';
/** What must not reach a terminal, but for ends of lines. */
const HARMFUL = /[[\p{Cc}\u202e]--\n]/v;

test.concurrent('no command writes them to the terminal as they are', async () => {
  await using place = await openPlace();
  const source = join(place.directory, HOSTILE);
  await mkdir(source);
  await place.write({ a: 'x' });
  const state = join(place.directory, `state ${HOSTILE}`);
  const env = { HOLDFAST_REPOSITORY: undefined, HOLDFAST_PASSWORD: undefined, HOLDFAST_STATE_DIR: state };
  const silent = async (words: readonly string[], code = 0, more: Readonly<Record<string, string>> = {}) => {
    const { stdout, stderr } = await place.expectRun(words, code, { env: { ...env, ...more } });
    expect(stdout + stderr, words.join(' ')).not.toMatch(HARMFUL);
    return stdout + stderr;
  };
  expect(await silent(['start', '--once', '--source', source])).toContain(String.raw`a\x1b]0;x`);
  const elsewhere = {
    HOLDFAST_REPOSITORY: join(place.directory, `repository ${HOSTILE}`),
    HOLDFAST_PASSWORD: 'p',
  };
  await silent(['init'], 0, elsewhere);
  await silent(['keys', 'add', '--write-only', join(place.directory, `key ${HOSTILE}`)], 0, elsewhere);
  for (const option of ['--host', '--tag']) await silent(['backup', option, HOSTILE, source], 2);
  await silent(['backup', source, place.source]);
  await silent(['forget', '--keep-last', '1', '--dry-run', '--group-by', 'host,paths,tags,user']);
  await silent(['explain', '--exclude', HOSTILE, source]);
  await silent(['sources', 'add', source]);
  await silent(['sources', 'remove', source]);
  await silent(['sources', 'add', source]);
  await silent(['destinations', 'add', 'nas', join(place.directory, HOSTILE)]);
  await silent(['config', 'path']);
  await silent(['config', 'get']);
  await silent(['doctor', '--bundle', join(place.directory, `bundle ${HOSTILE}`)]);
  const account = [
    '--name',
    HOSTILE,
    '--email',
    `${HOSTILE}@example.org`,
    '--password-command',
    'echo long-password-here',
  ];
  await silent(['partner', 'init', ...account], 2);

  // The source is a destination, too: the job fails, and names it in its error.
  const agent = place.start(['start', '--port', '0', '--source', source], { env });
  const ended = outcomeOf(agent);
  let said = '';
  agent.stdout?.on('data', (bytes: Buffer) => {
    said += bytes.toString();
  });
  try {
    await expect.poll(() => said, { timeout: 60_000 }).toContain(': failed. ');
    await silent(['status'], 1);
    const jobs = await silent(['jobs']);
    await silent(['jobs', /bkp_\w+/.exec(jobs)?.[0] ?? '']);
    await silent(['credentials', 'create', '--name', 'a\u202e']);
    await silent(['credentials', 'list']);
  } finally {
    agent.kill('SIGTERM');
    if (agent.exitCode === null) await once(agent, 'exit');
  }
  expect((await ended).stdout).not.toMatch(HARMFUL);
});
