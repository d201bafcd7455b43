/** Two machines of which one is a copy of the other draw the same random numbers. */
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import type * as crypto from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openLocalDestination } from '../../../src/destination/local/local.ts';
import { temporaryName } from '../../../src/destination/new-file.ts';

/** What is drawn next; by chance when empty. */
const drawn: Buffer[] = [];

vi.mock('node:crypto', async (original) => {
  const real = await original<typeof crypto>();
  return { ...real, randomBytes: (length: number) => drawn.shift() ?? real.randomBytes(length) };
});

const live = new AbortController().signal;
const ONE = Buffer.alloc(16, 1);
const ANOTHER = Buffer.alloc(16, 2);
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'holdfast-names-'));
  drawn.length = 0;
});
afterEach(() => rmSync(root, { recursive: true }));

test('the temporary file of the other one is left to it, and the object is stored under a name of its own', async () => {
  drawn.push(ONE);
  const others = join(root, temporaryName());
  writeFileSync(others, 'what the other one is writing');
  const destination = await openLocalDestination(root);
  drawn.push(ONE, ANOTHER);
  await destination.put('a', Buffer.from('mine'), live);
  await destination.close();
  expect(drawn).toEqual([]);
  expect(readFileSync(join(root, 'a'), 'utf8')).toBe('mine');
  expect(readFileSync(others, 'utf8')).toBe('what the other one is writing');
  expect(readdirSync(root)).toHaveLength(2);
});

test('a directory in which every name is taken is at fault', async () => {
  drawn.push(ONE);
  writeFileSync(join(root, temporaryName()), '');
  const destination = await openLocalDestination(root);
  drawn.push(...Array.from({ length: 1_000 }, () => ONE));
  await expect(destination.put('a', Buffer.from('mine'), live)).rejects.toThrow(
    /something with that name already exists/,
  );
  expect(drawn.length).toBeGreaterThan(900);
  await destination.close();
  expect(readdirSync(root)).toHaveLength(1);
});
