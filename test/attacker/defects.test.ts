/** The defects that the attacker has to show can still be planted. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const DEFECTS = join(import.meta.dirname, 'defects');
const patches = readdirSync(DEFECTS).filter((name) => name.endsWith('.patch'));

test.each(patches)('%s applies to the product as it is', (patch) => {
  const path = join(DEFECTS, patch);
  expect(readFileSync(path, 'utf8')).toMatch(/^Promise: .+\nStated in: .+\n/);
  const { status, stderr } = spawnSync('git', ['apply', '--check', path], { cwd: ROOT, encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(status).toBe(0);
});
