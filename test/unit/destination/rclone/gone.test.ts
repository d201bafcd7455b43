/** A remote whose folder goes away, as when what it lies on is unmounted. */
// Turn 4 of 8.
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Destination } from '../../../../src/destination/destination.ts';
import { openRcloneDestination } from '../../../../src/destination/rclone/rclone.ts';
import { withRetry } from '../../../../src/destination/retry.ts';

const live = new AbortController().signal;
const script = join(import.meta.dirname, '../../../support/rclone-program.ts');

let directory: string;
let folder: string;
let destination: Destination;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-rclone-'));
  folder = join(directory, 'folder');
  await mkdir(join(folder, 'packs'), { recursive: true });
  await writeFile(join(folder, 'packs/a'), 'abc');
  const program = join(directory, 'rclone');
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${script}'\n`);
  await chmod(program, 0o755);
  destination = await openRcloneDestination(
    { kind: 'rclone', remote: 'drive', path: 'backup' },
    { program },
    { environment: { RCLONE_TEST_FOLDER: folder, PATH: process.env['PATH'] } },
  );
});

afterEach(async () => {
  await destination.close();
  await rm(directory, { recursive: true });
});

async function keys(prefix: string, from = destination): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const page of from.list(prefix, live)) found.push(...page.map(({ key }) => key));
  return found;
}

test('an object that is not there is not found, and deleting it is no failure', async () => {
  expect((await destination.get('packs/a', undefined, live)).toString()).toBe('abc');
  expect(await keys('packs/')).toEqual(['packs/a']);
  await expect(destination.get('packs/b', undefined, live)).rejects.toMatchObject({ kind: 'not-found' });
  await expect(destination.stat('packs/b', live)).rejects.toMatchObject({ kind: 'not-found' });
  await destination.delete('packs/b', live);
  expect(await keys('index/')).toEqual([]);
});

test('nothing is said of the objects of a folder that has gone', async () => {
  await rename(folder, `${folder}-elsewhere`);
  const away = { kind: 'unreachable', retry: 'later' };
  await expect(destination.get('packs/a', undefined, live)).rejects.toMatchObject(away);
  await expect(destination.stat('packs/a', live)).rejects.toMatchObject(away);
  await expect(destination.delete('packs/a', live)).rejects.toMatchObject(away);
  await expect(keys('packs/')).rejects.toMatchObject(away);
});

test.each(['packs/', 'pa', ''])('a list of "%s" that lost a folder on its way is none', async (prefix) => {
  const incomplete = { kind: 'corrupt-reply', retry: 'now' };
  await writeFile(`${folder}-losing`, '1');
  await expect(keys(prefix)).rejects.toMatchObject(incomplete);
  expect(await keys(prefix)).toEqual(['packs/a']);
  let tries = 0;
  const policy = {
    attempts: 4,
    firstDelayMs: 0,
    maxDelayMs: 0,
    random: () => 0,
    onRetry: () => void (tries += 1),
  };
  const persistent = withRetry(destination, policy);
  await writeFile(`${folder}-losing`, '1');
  expect(await keys(prefix, persistent)).toEqual(['packs/a']);
  expect(tries).toBe(1);
  await writeFile(`${folder}-losing`, '1000');
  await expect(keys(prefix, persistent)).rejects.toMatchObject(incomplete);
  expect(tries).toBe(4);
});

test('a folder that is not there is just that, whatever the program says of it when it ends', async () => {
  const program = join(directory, 'talks');
  const ends = `process.on("SIGTERM",()=>process.exit(3)).on("exit",()=>{process.exitCode=3})`;
  const last = `echo 'ERROR : rc: "operations/stat": error: directory not found' >&2`;
  await writeFile(
    program,
    `#!/bin/sh\n${last}\nexec '${process.execPath}' --import 'data:text/javascript,${ends}' '${script}'\n`,
  );
  await chmod(program, 0o755);
  const opening = openRcloneDestination(
    { kind: 'rclone', remote: 'drive', path: 'none' },
    { program },
    { environment: { RCLONE_TEST_FOLDER: join(directory, 'none'), PATH: process.env['PATH'] } },
  );
  await expect(opening).rejects.toMatchObject({ message: expect.stringMatching(/it does not exist$/) });
});
