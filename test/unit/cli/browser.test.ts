import { chmodSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openBrowser } from '../../../src/cli/agent/browser.ts';
import { removeTree } from '../../support/remove-tree.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-browser-'));
  // None is started for root.
  vi.spyOn(process, 'geteuid').mockReturnValue(1_000);
});
afterEach(() => {
  vi.restoreAllMocks();
  removeTree(directory);
});

/** A program in place of the one of the desktop, and how it is found. */
function opener(script: string): Readonly<Record<string, string>> {
  const program = join(directory, 'xdg-open');
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  return { PATH: `${directory}:${process.env['PATH']}`, DISPLAY: ':99' };
}

test.runIf(process.platform === 'linux')('a browser that keeps running outlives the command', async () => {
  const env = opener(`touch ${directory}/begun; sleep 0.5; touch ${directory}/still-there`);
  const over = new AbortController();
  expect(await openBrowser('http://127.0.0.1:1/', env, over.signal, 100)).toBe(true);
  await expect.poll(() => existsSync(join(directory, 'begun')), { timeout: 10_000 }).toBe(true);
  over.abort();
  await expect.poll(() => existsSync(join(directory, 'still-there')), { timeout: 10_000 }).toBe(true);
});

test.runIf(process.platform === 'linux')('a program that fails opens none', async () => {
  const env = opener('exit 3');
  expect(await openBrowser('http://127.0.0.1:1/', env, new AbortController().signal)).toBe(false);
});
