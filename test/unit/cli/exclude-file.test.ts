/** Exclude files that are no files: pipes that nobody writes to, devices that never end. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readPatterns } from '../../../src/cli/backup/exclude-options.ts';
import { bytesOfText } from '../../../src/base/byte-path.ts';

const directory = mkdtempSync(join(tmpdir(), 'holdfast-exclude-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const never = new AbortController().signal;

test('patterns of files stand where the file was given', async () => {
  const file = join(directory, 'list');
  writeFileSync(file, '*.o\n*.tmp\n');
  const first = { pattern: bytesOfText('a'), from: '--exclude' };
  const last = { pattern: bytesOfText('z'), from: '--exclude' };
  const read = await readPatterns([first, { file }, last], never);
  expect(read.map(({ pattern }) => String(pattern))).toEqual(['a', '*.o', '*.tmp', 'z']);
});

describe.runIf(process.platform !== 'win32')('what is no file', () => {
  test('a pipe without a writer is waited for until the command is stopped', async () => {
    const file = join(directory, 'pipe');
    execFileSync('mkfifo', [file]);
    const stop = new AbortController();
    const reading = readPatterns([{ file }], stop.signal);
    setTimeout(() => stop.abort(new Error('stopped')), 20);
    await expect(reading).rejects.toThrow('stopped');
  });

  test('a device without an end is refused, and takes no memory', async () => {
    await expect(readPatterns([{ file: '/dev/zero' }], never)).rejects.toThrow('is larger than 16 MiB');
  });

  test('a directory is refused by what the system says', async () => {
    await expect(readPatterns([{ file: directory }], never)).rejects.toThrow(
      'cannot be read: a directory is where a file should be (EISDIR)',
    );
  });
});
