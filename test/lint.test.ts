/**
 * What `npm run lint` says: rules, layout and types. It takes a minute of both processors, which beside tests that wait for
 * something costs half of that.
 */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '..');

test('the rules of lint, the layout and the types of all files hold', { timeout: 600_000 }, async () => {
  // One word for the shell that starts npm on Windows.
  const lint = spawn('npm run --silent lint 2>&1', { cwd: root, shell: true });
  const [said, code] = await Promise.all([
    text(lint.stdout),
    new Promise<number | null>((resolve) => lint.once('close', resolve)),
  ]);
  expect({ code, said: code === 0 ? '' : said }).toEqual({ code: 0, said: '' });
});
