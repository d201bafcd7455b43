import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RcloneAccess } from '../../../../src/destination/access.ts';
import { commandsOf } from '../../../../src/destination/rclone/commands.ts';
import { mostMemory } from '../../../../src/destination/rclone/memory-watch.ts';
import { RcloneProgram } from '../../../../src/destination/rclone/program.ts';
import { openRcloneDestination } from '../../../../src/destination/rclone/rclone.ts';
import { plainWords } from '../../../../src/destination/rclone/words.ts';

const place = { kind: 'rclone', remote: 'drive', path: 'backup' } as const;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-rclone-'));
});

afterAll(async () => await rm(directory, { recursive: true }));

async function failureOf(access: RcloneAccess): Promise<unknown> {
  return await openRcloneDestination(place, access).catch((error: unknown) => error);
}

/** A program in rclone's place. */
async function program(name: string, script: string): Promise<string> {
  const file = join(directory, name);
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
  return file;
}

test('a program that is not installed is named, and what to do', async () => {
  expect(await failureOf({ program: join(directory, 'none') })).toMatchObject({
    kind: 'unsupported',
    message: expect.stringContaining('none is not installed'),
    hint: expect.stringContaining('Install rclone'),
  });
});

test('a program that may not be run says why', async () => {
  const file = await program('closed', 'exit 0');
  await chmod(file, 0o644);
  expect(await failureOf({ program: file })).toMatchObject({
    kind: 'unsupported',
    message: expect.stringContaining('EACCES'),
  });
});

test.each([
  ['not-found', `NOTICE: didn't find section in config file ("drive")`],
  ['denied', "Fatal error: Couldn't decrypt configuration, most likely wrong password."],
  ['unsupported', 'Fatal error: unknown flag: --rc-serve'],
  ['denied', 'read metadata failed: 401 Unauthorized'],
  ['denied', "Failed to create file system: couldn't fetch token: invalid_grant: maybe token expired?"],
])('a program that ends at once is quoted, as kind %s', async (kind, words) => {
  const file = await program(
    kind,
    `echo '2026/11/21 20:00:00 ${words.replaceAll("'", `'"'"'`)}' >&2; exit 1`,
  );
  expect(await failureOf({ program: file })).toMatchObject({
    kind,
    message: expect.stringContaining(words.replace(/^[A-Z]+: /, '')),
  });
});

test('what it says is told without secrets in addresses', () => {
  const said = '2026/11/21 20:00:00 ERROR : Put "https://me:secret@host/a?sig=secret&x=1": no such host';
  expect(plainWords(said)).toBe('Put "https://host/a?…": no such host');
  const ofTheMoment = 'Failed to create file system for "holdfast:": read metadata failed: 503';
  expect(plainWords(ofTheMoment)).toBe('read metadata failed: 503');
});

test('rclone waits for minutes for what a slow line still has in its buffers', async () => {
  const file = await program('told', 'echo "told $*" >&2; exit 1');
  expect(await failureOf({ program: file })).toMatchObject({
    message: expect.stringContaining('--timeout 5m'),
  });
});

test('rclone is not shown what opens repositories', async () => {
  const file = await program('environment', 'echo "shown $HOLDFAST_PASSPHRASE.$XDG_CONFIG_HOME" >&2; exit 1');
  const environment = { PATH: process.env['PATH'], HOLDFAST_PASSPHRASE: 'secret', XDG_CONFIG_HOME: '/cfg' };
  const opening = openRcloneDestination(place, { program: file }, { environment });
  await expect(opening).rejects.toMatchObject({ message: expect.stringContaining('shown ./cfg') });
});

test('of all that a program says its end counts, not a notice of something else', async () => {
  const file = await program(
    'notices',
    `echo '2026/11/21 20:00:00 NOTICE: Config file "/home/ann/.rclone.conf" not found - using defaults' >&2
echo '2026/11/21 20:00:01 CRITICAL: Failed to create file system for "holdfast:": no route to host' >&2
echo '2026/11/21 20:00:01 NOTICE: password of the moment' >&2
exit 1`,
  );
  expect(await failureOf({ program: file })).toMatchObject({
    kind: 'unreachable',
    message: expect.stringContaining('no route to host'),
  });
});

test.each([
  [
    'unsupported',
    'unknown flag: --rc-serve',
    'Error: unknown flag: --rc-serve\nUsage:\n  rclone serve restic remote:path [flags]',
  ],
  [
    'unreachable',
    'panic: nil pointer',
    'panic: nil pointer\n\ngoroutine 1 [running]:\n\t/src/rclone.go:10 +0x1d',
  ],
])(
  'what an old or a broken program ended by is quoted, and not its usage: %s',
  async (kind, words, output) => {
    const file = await program(`ended-${kind}`, `printf '${output}\n' >&2; exit 1`);
    expect(await failureOf({ program: file })).toMatchObject({
      kind,
      message: expect.stringContaining(`rclone says: ${kind === 'unsupported' ? 'Error: ' : ''}${words}`),
    });
  },
);

test('a program that was closed is not started again', async () => {
  const program = new RcloneProgram(place, 'rclone:drive:backup', { program: '/bin/false' }, {}, 1);
  await program.close();
  await expect(program.site()).rejects.toMatchObject({ name: 'AbortError' });
});

/** Answers nothing, and takes more memory as long as it is asked. */
const GROWING = `
const server = require('node:http').createServer(() => {
  const kept = [];
  setInterval(() => kept.push(Buffer.alloc(20_000_000, 1)), 20);
}).listen(0, '127.0.0.1', () => {
  process.stderr.write('NOTICE: Serving remote control on http://127.0.0.1:' + server.address().port + '/\\n');
});
process.stdin.resume().once('end', () => process.exit(0));
`;

test.skipIf(process.platform !== 'linux')(
  'a program that takes ever more memory is ended, and said to be the reason',
  async () => {
    const script = join(directory, 'growing.cjs');
    await writeFile(script, GROWING);
    const file = await program('growing', `exec '${process.execPath}' '${script}'`);
    const rclone = new RcloneProgram(place, 'rclone:drive:', { program: file }, {}, 4, 300_000_000);
    const { stat } = commandsOf(async () => await rclone.site(), 'rclone:drive:', { grown: rclone.grown });
    const failure = { kind: 'corrupt-reply', retry: 'never', message: expect.stringContaining('memory') };
    await expect(stat('', new AbortController().signal)).rejects.toMatchObject(failure);
    // It is not started again, as it would grow again.
    await expect(rclone.site()).rejects.toMatchObject(failure);
    await rclone.close();
  },
);

test('what it may take is half of the machine, between one and four gigabytes', () => {
  const gib = 1024 ** 3;
  expect([mostMemory(gib), mostMemory(4 * gib), mostMemory(64 * gib)]).toEqual([gib, 2 * gib, 4 * gib]);
});
