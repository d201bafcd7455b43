import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { outputUntilExit } from '../../../src/base/child-output.ts';

const MOST = 65_536;

test('a command that prints without end is not waited for', async () => {
  const child = spawn('yes', { stdio: ['ignore', 'pipe', 'ignore'] });
  const { hasMore, bytes, code } = await outputUntilExit(child, MOST);
  child.kill();
  expect({ hasMore, length: bytes.length, code }).toEqual({ hasMore: true, length: MOST, code: null });
});

test('one that ends is read whole, and its code is told', async () => {
  const child = spawn('printf secret; exit 3', { shell: true, stdio: ['ignore', 'pipe', 'ignore'] });
  const { bytes, ...end } = await outputUntilExit(child, MOST);
  expect(bytes.toString()).toBe('secret');
  expect(end).toEqual({ code: 3, killedBy: null, hasMore: false });
});
