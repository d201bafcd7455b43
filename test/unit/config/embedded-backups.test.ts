import { mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { holdsBackups } from '../../../src/config/embedded-repository.ts';
import { removeTree } from '../../support/remove-tree.ts';

let state: string;

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'holdfast-embedded-'));
});

afterEach(() => removeTree(state));

test('what each start makes holds nothing before the first snapshot', () => {
  expect(holdsBackups(state)).toBe(false);
  writeFileSync(join(state, 'repository-id'), 'x\n');
  mkdirSync(join(state, 'repository', 'keys'), { recursive: true });
  expect(holdsBackups(state)).toBe(false);
  mkdirSync(join(state, 'repository', 'snapshots'));
  expect(holdsBackups(state)).toBe(false);
  writeFileSync(join(state, 'repository', 'snapshots', 'a'), '');
  expect(holdsBackups(state)).toBe(true);
});

test('one that is away is not forgotten', () => {
  writeFileSync(join(state, 'repository-id'), 'x\n');
  mkdirSync(join(state, 'repository', 'keys'), { recursive: true });
  renameSync(join(state, 'repository'), join(state, 'away'));
  expect(holdsBackups(state)).toBe(true);
});
