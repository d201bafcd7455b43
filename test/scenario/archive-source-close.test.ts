/** A file system that keeps the error of a read for the close. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type * as sourceOpen from '../../src/archiver/source/open.ts';
import { openEngine } from '../support/engine.ts';

let closed = 0;

vi.mock('../../src/archiver/source/open.ts', async (original) => {
  const real = await original<typeof sourceOpen>();
  const closeSource: typeof real.closeSource = (path, fd) => {
    real.closeSource(path, fd);
    if (!path.endsWith('/late')) return;
    closed += 1;
    throw Object.assign(new Error('EIO: i/o error, close'), { code: 'EIO', syscall: 'close' });
  };
  return { ...real, closeSource };
});

test('a file that fails when it is closed is listed as one that cannot be read, and the others are saved', async () => {
  await using engine = await openEngine();
  for (const name of ['early', 'late', 'other']) writeFileSync(join(engine.source, name), `${name}\n`);
  const { snapshot } = await engine.backup();
  expect(closed).toBeGreaterThan(0);
  expect(snapshot.record.status).toBe('partial');
  expect(snapshot.record.errors.map(({ path }) => String(path))).toEqual([join(engine.source, 'late')]);
  expect(await engine.differences(snapshot)).toEqual([expect.stringContaining('late')]);
});
