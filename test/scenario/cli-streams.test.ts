/** Standard input and output of every kind of file: each byte arrives, or there is an error. */
// Turn 4 of 8.
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { executable, jsonLines, openPlace, outcomeOf, type Outcome, type Place } from '../support/cli.ts';

const isShell = process.platform !== 'win32';
const losetup = (...words: string[]) => spawnSync('losetup', words, { encoding: 'utf8' });
const canMakeDisks = process.getuid?.() === 0 && losetup('-f').status === 0;

/** The program with its streams as a shell gives them: `$0` is the program, `$1` a path. */
async function inShell(place: Place, script: string, path = ''): Promise<Outcome> {
  const child = spawn('/bin/sh', ['-c', script, `${process.execPath} ${executable}`, path], {
    cwd: place.directory,
    env: {
      ...process.env,
      HOLDFAST_REPOSITORY: place.repository,
      HOLDFAST_STATE_DIR: place.state,
      HOLDFAST_PASSWORD: 'correct horse battery staple',
      HOLDFAST_PROGRAM: 'holdfast',
      HOLDFAST_TEST_KDF: '64,1,1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return await outcomeOf(child);
}

test.runIf(isShell)('what cannot be read is no empty backup', async () => {
  await using place = await openPlace();
  await place.expectRun(['init']);
  const named = 'backup --stdin-name x';
  const directory = await inShell(place, `$0 ${named} < /`);
  expect(directory).toMatchObject({ code: 2, stderr: expect.stringContaining('is a directory') as string });
  for (const nothing of ['0<&-', '< /dev/null'])
    expect(await inShell(place, `$0 ${named} ${nothing}`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Standard input is closed') as string,
    });
  const closedToReading = await inShell(place, `$0 ${named} 0> w`);
  expect(closedToReading).toMatchObject({ code: 1, stderr: expect.stringContaining('EBADF') as string });
  expect(
    jsonLines(await place.expectRun(['snapshots', '--json'])).filter(({ id }) => id !== undefined),
  ).toEqual([]);
  const empty = await inShell(place, `printf '' | $0 ${named}`);
  expect(empty).toMatchObject({ code: 0, stderr: expect.stringContaining('nothing came') as string });
});

test.runIf(isShell)('output that is closed fails, as the scripts of the packages see it', async () => {
  await using place = await openPlace();
  await place.expectRun(['init']);
  await place.write({ a: 'content' });
  await place.expectRun(['backup', place.source]);
  const checkout = join(import.meta.dirname, '..', '..');
  const unpacked = join(place.directory, 'unpacked');
  await mkdir(join(unpacked, 'bin'), { recursive: true });
  await symlink(process.execPath, join(unpacked, 'bin', 'node'));
  await symlink(join(checkout, 'service'), join(unpacked, 'service'));
  await copyFile(join(checkout, 'service', 'archive', 'holdfast'), join(unpacked, 'holdfast'));
  const run = async (words: string): Promise<Outcome> =>
    await inShell(place, `"$1" ${words}`, join(unpacked, 'holdfast'));
  for (const words of [`cat latest ${place.source}/a`, 'tar latest', 'ls latest', 'snapshots --json']) {
    expect(await run(`${words} >&-`)).toMatchObject({
      code: 1,
      stderr:
        'Error: The output cannot be written: standard output is closed\nNothing was written. To throw it away, send it to /dev/null.\n',
    });
    expect(await run(`${words} > /dev/null`)).toMatchObject({ code: 0, stderr: '' });
  }
  expect(await run(`cat latest ${place.source}/a`)).toMatchObject({ code: 0, stdout: 'content' });
  expect(readFileSync(join(checkout, 'service', 'package', 'launcher.sh'), 'utf8')).toContain(
    '(true 3>&1) 2>/dev/null || export HOLDFAST_OUTPUT_CLOSED=1',
  );
});

test.runIf(isShell)('a file as standard input is read from where it stands', async () => {
  await using place = await openPlace();
  await place.expectRun(['init']);
  await writeFile(join(place.directory, 'f'), 'first line\nthe rest\n');
  const saved = await inShell(place, '{ read -r line; $0 backup --stdin-name x; } < f');
  expect(saved.code).toBe(0);
  expect((await place.expectRun(['cat', 'latest', '/x'])).stdout).toMatch(/the rest\n$/);
});

test.runIf(canMakeDisks)('a disk is read whole and written whole', async () => {
  await using place = await openPlace();
  await place.expectRun(['init']);
  const image = join(place.directory, 'image');
  const content = Buffer.alloc(3 * 1024 * 1024, 'disk');
  await writeFile(image, content);
  const disk = losetup('-f', '--show', image).stdout.trim();
  try {
    expect(await inShell(place, '$0 backup --stdin-name disk < "$1"', disk)).toMatchObject({ code: 0 });
    expect((await place.expectRun(['cat', 'latest', '/disk'])).bytes.equals(content)).toBe(true);
    spawnSync('dd', ['if=/dev/zero', `of=${disk}`, 'bs=1M', 'count=3', 'oflag=sync']);
    expect(await inShell(place, '$0 cat latest /disk > "$1"', disk)).toMatchObject({ code: 0, stderr: '' });
    const fd = openSync(disk, 'r');
    expect(readFileSync(fd).equals(content)).toBe(true);
    closeSync(fd);
  } finally {
    losetup('-d', disk);
  }
});

test.runIf(isShell)(
  'a file of which the disk takes a part is an error, also when it is the last part',
  async () => {
    await using place = await openPlace();
    await place.expectRun(['init']);
    await place.write({ data: Buffer.alloc(300_000, 'x') });
    await place.expectRun(['backup', place.source]);
    const script = `trap '' XFSZ; ulimit -f 400; $0 cat latest "$1" > out`;
    const cut = await inShell(place, script, join(place.source, 'data'));
    expect(cut).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The output cannot be written') as string,
    });
    expect(statSync(join(place.directory, 'out')).size).toBe(400 * 512);
    await place.write({ small: 'a few words' });
    await place.expectRun(['backup', place.source]);
    for (const words of ['snapshots', 'snapshots --json', 'cat latest "$1"'])
      expect(await inShell(place, `$0 ${words} > /dev/full`, join(place.source, 'small'))).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('The output cannot be written') as string,
      });
  },
);

test.runIf(isShell)('a destination that takes no more ends a backup whose command says nothing', async () => {
  await using place = await openPlace();
  await place.expectRun(['init']);
  const begun = performance.now();
  const command = `"head -c 70000000 /dev/urandom; exec sleep 60"`;
  const limit = `trap '' XFSZ; ulimit -f 4000`;
  const ended = await inShell(place, `${limit}; $0 backup --stdin-name x --stdin-command ${command}`);
  expect(ended).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/Cannot write to .*No snapshot was made\./s) as string,
  });
  expect(performance.now() - begun).toBeLessThan(30_000);
});

test.runIf(isShell)('what an rclone program leaves running when it fails is not waited for', async () => {
  await using place = await openPlace();
  const program = `mkdir bin; printf '#!/bin/sh\\nsleep 40 &\\necho "CRITICAL: no such thing" >&2\\nexit 1\\n' > bin/rclone; chmod +x bin/rclone`;
  const begun = performance.now();
  const ended = await inShell(place, `${program}; PATH="$PWD/bin:$PATH" $0 snapshots -r rclone:x:y`);
  expect(ended.stderr).toContain('no such thing');
  expect(performance.now() - begun).toBeLessThan(30_000);
});

test.runIf(isShell)('an agent whose output goes to a full disk goes on', async () => {
  await using place = await openPlace();
  const script = `HOME="$PWD" $0 start --port 0 > /dev/full & agent=$!
    for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do sleep 1; $0 jobs && break; done
    sleep 1; $0 jobs --json; code=$?; kill -INT $agent; wait $agent; exit $code`;
  expect(await inShell(place, script)).toMatchObject({ code: 0 });
});
