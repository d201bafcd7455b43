import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readAtMost } from '../../../src/cli/terminal/standard-streams.ts';
import { removeTree } from '../../support/remove-tree.ts';

const never = new AbortController().signal;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-pipe-'));
});
afterEach(() => removeTree(directory));

test('a file is read whole, and not where it is too large', async () => {
  const file = join(directory, 'file');
  writeFileSync(file, 'secret');
  expect(String(await readAtMost(file, 6, never))).toBe('secret');
  expect(await readAtMost(file, 5, never)).toBeUndefined();
});

describe.skipIf(process.platform === 'win32')('a pipe with a name', () => {
  const pipe = (): string => {
    const name = join(directory, 'pipe');
    execFileSync('mkfifo', [name]);
    return name;
  };

  test('is read until its writer, who may come later, has closed it', async () => {
    const name = pipe();
    const reading = readAtMost(name, 100, never);
    await delay(50);
    await appendFile(name, 'secret');
    expect(String(await reading)).toBe('secret');
  });

  test('that nobody writes to keeps nothing from ending', async () => {
    const stop = new AbortController();
    const reading = readAtMost(pipe(), 100, stop.signal);
    await delay(50);
    stop.abort(new Error('enough'));
    await expect(reading).rejects.toThrow();
  });
});
