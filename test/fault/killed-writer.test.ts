/** A writer killed at any moment: every object it leaves is whole, and every object it reported is there. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import { SOURCE_FLAGS } from '../support/node-flags.ts';

const live = new AbortController().signal;

/** Stores objects named by their SHA-256 for ever, four at a time, and prints each name once it is stored. */
const writer = `
  import { createHash, randomBytes } from 'node:crypto';
  import { openLocalDestination } from ${JSON.stringify(new URL('../../src/destination/local/local.ts', import.meta.url).href)};
  const destination = await openLocalDestination(process.argv[1]);
  const signal = new AbortController().signal;
  async function store() {
    for (;;) {
      const body = randomBytes(500_000);
      const name = createHash('sha256').update(body).digest('hex');
      await destination.put('packs/' + name.slice(0, 1) + '/' + name, body, signal);
      process.stdout.write(name + '\\n');
    }
  }
  await Promise.all([store(), store(), store(), store()]);
`;

/** Starts a writer, kills it after `count` reports, and returns all it reported. */
async function runAndKill(directory: string, count: number): Promise<readonly string[]> {
  const args = [...SOURCE_FLAGS, '--input-type=module', '--eval', writer, directory];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const reported: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    reported.push(line);
    if (reported.length === count) child.kill('SIGKILL');
  }
  return reported;
}

test('keeps whole what was reported and shows nothing partial', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-killed-'));
  try {
    const reported: string[] = [];
    for (const count of [1, 2, 5, 9, 14]) {
      const some = await runAndKill(directory, count);
      expect(some.length).toBeGreaterThanOrEqual(count);
      reported.push(...some);
    }
    const destination = await openLocalDestination(directory);
    const listed = new Set<string>();
    for await (const page of destination.list('', live)) {
      for (const { key } of page) {
        const bytes = await destination.get(key, undefined, live);
        const name = createHash('sha256').update(bytes).digest('hex');
        expect(key).toBe(`packs/${name.slice(0, 1)}/${name}`);
        listed.add(name);
      }
    }
    await destination.close();
    expect(reported.filter((name) => !listed.has(name))).toEqual([]);
    const names = await readdir(directory, { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile()).map(({ name }) => name);
    expect(files.filter((name) => !listed.has(name) && !name.startsWith('.tmp-'))).toEqual([]);
  } finally {
    await rm(directory, { recursive: true });
  }
});
