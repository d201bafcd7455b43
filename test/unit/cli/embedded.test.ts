import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { openEmbedded } from '../../../src/cli/places/embedded.ts';
import { openOptions } from '../../../src/cli/places/open.ts';
import { openRepository } from '../../../src/repository/opening.ts';

let state: string;

beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'holdfast-embedded-'));
});
afterEach(async () => {
  await rm(state, { recursive: true });
});

test('of programs that start at once for the first time one makes the repository, and the kit that is left opens it', async () => {
  const { signal } = new AbortController();
  const context = {
    env: { HOLDFAST_STATE_DIR: state, HOLDFAST_TEST_KDF: '64,1,1' },
    clock: systemClock,
    signal,
  };
  const both = await Promise.all([1, 2, 3].map(async () => await openEmbedded(context)));
  expect(both.filter(({ created }) => created)).toHaveLength(1);
  expect(new Set(both.map(({ repository }) => repository.id)).size).toBe(1);
  const kit = await readFile(join(state, 'recovery-kit.txt'), 'utf8');
  const text = /Passphrase +(\S+)/.exec(kit)?.[1] ?? '';
  const [{ repository } = expect.fail('none opened')] = both;
  const opened = await openRepository(
    repository.destination,
    { kind: 'passphrase', text },
    openOptions(context),
    signal,
  );
  expect(opened.id).toBe(repository.id);
  for (const one of both) await one.repository.destination.close();
});
