import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { openDestination, personOf } from '../../../src/destination/open.ts';

describe('opening a destination', () => {
  test('opens the directory that the location names, creating it only when asked to', async () => {
    const base = await mkdtemp(join(tmpdir(), 'holdfast-open-'));
    try {
      const directory = join(base, 'my backup');
      const { href } = pathToFileURL(directory);
      await expect(openDestination(href)).rejects.toMatchObject({ kind: 'not-found' });
      expect(existsSync(directory)).toBe(false);
      await (await openDestination(href, { create: true })).close();
      await writeFile(join(directory, 'a'), 'here');
      const destination = await openDestination(directory);
      expect((await destination.get('a', undefined, new AbortController().signal)).toString()).toBe('here');
      await destination.close();
    } finally {
      await rm(base, { recursive: true });
    }
  });

  test('rejects, rather than throws, a location it does not know', async () => {
    await expect(openDestination('b2://bucket')).rejects.toMatchObject({ code: 'INVALID_DESTINATION' });
  });
});

test('of a person’s variables those are handed on that say how a destination is reached', () => {
  const env = { AZURE_STORAGE_KEY: 'a', SSH_AUTH_SOCK: 'b', HOLDFAST_PASSWORD: 'c', HOME: 'd' };
  expect(personOf({ env, home: '/home/me' })).toEqual({
    env: { AZURE_STORAGE_KEY: 'a', SSH_AUTH_SOCK: 'b' },
    home: '/home/me',
  });
});
