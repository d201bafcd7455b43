/** docs/first-steps.md from its first word: a fresh copy of what is kept under version control, `npm ci`, `npm start`. */
import { execFileSync } from 'node:child_process';
import { cp, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { comparable } from '../support/document-commands.ts';
import { followFirstSteps } from '../support/first-steps.ts';

const root = path.resolve(import.meta.dirname, '..', '..');

test('the first steps lead from a fresh clone to a restored file', async () => {
  const { steps, started } = await followFirstSteps(root, async (home) => {
    const directory = path.join(home, 'holdfast');
    const names = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      cwd: root,
      encoding: 'utf8',
    });
    for (const name of names.split('\0').filter((one) => one !== '')) {
      await mkdir(path.dirname(path.join(directory, name)), { recursive: true });
      // What is deleted but not committed yet is still listed.
      await cp(path.join(root, name), path.join(directory, name)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
      });
    }
    return { directory, command: 'npm ci && npm start -- --source ~/Documents --port 0' };
  });
  expect(started).toContain('Backed up 1 file (11 B) from ');
  for (const { command, shown = '', printed } of steps)
    expect({ command, printed: comparable(printed) }).toEqual({ command, printed: comparable(shown) });
});
