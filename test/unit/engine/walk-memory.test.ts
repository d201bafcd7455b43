import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bytesOfText } from '../../../src/base/byte-path.ts';
import { digestOf, recallWalk, rememberWalk, type WalkKey } from '../../../src/engine/walk-memory.ts';
import { removeTree } from '../../support/remove-tree.ts';

let stateDirectory: string;
let key: WalkKey;

beforeEach(() => {
  stateDirectory = mkdtempSync(join(tmpdir(), 'holdfast-walks-'));
  key = { stateDirectory, repositoryId: 'a', sources: [bytesOfText('/home/u')] };
});

afterEach(() => {
  removeTree(stateDirectory);
});

test('the last walk of a source is remembered apart from those of other sources and repositories', async () => {
  expect(await recallWalk(key)).toBeUndefined();
  await rememberWalk(key, { snapshot: '1', rules: 'r', hiddenRules: false });
  await rememberWalk(key, { snapshot: '2', rules: 's', hiddenRules: true });
  expect(await recallWalk(key)).toEqual({ snapshot: '2', rules: 's', hiddenRules: true });
  expect(await recallWalk({ ...key, repositoryId: 'b' })).toBeUndefined();
  expect(await recallWalk({ ...key, sources: [bytesOfText('/home')] })).toBeUndefined();
  expect(readdirSync(join(stateDirectory, 'walks'))).toHaveLength(1);
});

test.each([
  '',
  '{"snapshot":',
  '[]',
  '{"snapshot":1,"rules":"r","hiddenRules":false}',
  // As it was written before it told of hidden rules.
  '{"snapshot":"1","rules":"r"}',
  'null',
])('a memory that holds %j counts as none', async (content) => {
  await rememberWalk(key, { snapshot: '1', rules: 'r', hiddenRules: false });
  const [name = ''] = readdirSync(join(stateDirectory, 'walks'));
  writeFileSync(join(stateDirectory, 'walks', name), content);
  expect(await recallWalk(key)).toBeUndefined();
});

test('rules differ when any part of them does', () => {
  expect(digestOf({ a: [1, 'x'] })).toBe(digestOf({ a: [1, 'x'] }));
  expect(digestOf({ a: [1, 'x'] })).not.toBe(digestOf({ a: [1, 'y'] }));
});
