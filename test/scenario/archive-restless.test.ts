// Turn 4 of 8.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { ContentReader } from '../../src/browse/cat.ts';
import { loadIndex } from '../../src/repository/chunk-index.ts';
import { never, openEngine } from '../support/engine.ts';
import { SOURCE_FLAGS } from '../support/node-flags.ts';

const script = new URL('../support/restless-tree.ts', import.meta.url).pathname;

test('a source that never rests: every stored file is as long as its entry says, and nothing waits', async () => {
  await using engine = await openEngine();
  const child = spawn(process.execPath, [...SOURCE_FLAGS, script, engine.source, '42'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const troubles = new Map<string, number>();
  try {
    await once(child.stdout, 'data');
    for (let run = 0; run < 5; run += 1) {
      const { snapshot } = await engine.backup(undefined, {
        workers: 2,
        parent: run % 3 === 2 ? 'none' : 'auto',
      });
      for (const { code } of snapshot.record.errors) troubles.set(code, (troubles.get(code) ?? 0) + 1);
      expect(snapshot.record.status).toBe(snapshot.record.errors.length === 0 ? 'complete' : 'partial');
      const index = await loadIndex(engine.repository, { without: new Set() }, never);
      const reader = new ContentReader(engine.repository, index, snapshot.record);
      const changed = new Set<string>(
        snapshot.record.errors.filter(({ code }) => code === 'CHANGED').map((one) => one.path),
      );
      for (const [path, entry] of await engine.treeOf(snapshot)) {
        if (entry.type !== 'file') continue;
        expect(entry.changedWhileRead).toBe(changed.has(path));
        let length = 0;
        const versions = new Set<number | undefined>();
        // Fails by itself when chunks and holes do not make up the size.
        for await (const part of reader.read(entry, undefined, never)) {
          length += part.length;
          if (!path.includes('/steady-')) continue;
          expect(part.equals(Buffer.alloc(part.length, part[0])), path).toBe(true);
          versions.add(part[0]);
        }
        expect(length).toBe(entry.size);
        expect(versions.size, path).toBeLessThanOrEqual(1);
      }
    }
    expect(child.exitCode).toBe(null);
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
  // The injector worked: files were caught in the act.
  expect([...troubles.keys()]).toContain('CHANGED');
  expect([...troubles.keys()]).toContain('ENOENT');

  const { snapshot } = await engine.backup();
  expect(snapshot.record.status).toBe('complete');
  expect(await engine.differences(snapshot)).toEqual([]);
});
