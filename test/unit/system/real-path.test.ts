import { mkdirSync, mkdtempSync, realpathSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { whereItReallyLies } from '../../../src/system/where-it-lies.ts';
import { removeTree } from '../../support/remove-tree.ts';

let directory: string;
const lies = async (name: string): Promise<string | undefined> =>
  (await whereItReallyLies(join(directory, name), new AbortController().signal))?.path;

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-real-')));
  mkdirSync(join(directory, 'there'));
  symlinkSync('there', join(directory, 'link'));
  symlinkSync('round', join(directory, 'round'));
});
afterEach(() => removeTree(directory));

test('links are followed, and where there is nothing there is no place', async () => {
  expect(await lies('link')).toBe(join(directory, 'there'));
  expect(await lies('nothing/below')).toBeUndefined();
});

test('what cannot be looked at is where it is named: others must not fail for it', async () => {
  expect(await lies('round/repository')).toBe(join(directory, 'round', 'repository'));
});
