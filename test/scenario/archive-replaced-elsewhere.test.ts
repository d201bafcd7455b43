/** What takes another's place, on systems that lack calls: a link on the way is followed (macOS), or there are paths alone (Windows). */
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { bytesOfText, type ByteString } from '../../src/base/byte-path.ts';
import type * as nativeCalls from '../../src/system/native.ts';

afterAll(() => {
  vi.doUnmock('../../src/system/native.ts');
  vi.resetModules();
});

test.each(['no way to follow no link', 'paths alone'])(
  'where there is %s a directory is stored as it is then, and of a link only the link',
  async (system) => {
    vi.resetModules();
    vi.doMock('../../src/system/native.ts', async (original) => {
      const calls = await original<typeof nativeCalls>();
      const native =
        calls.native && system !== 'paths alone' ? { ...calls.native, openWithoutLinks: undefined } : null;
      return { ...calls, native };
    });
    const { openEngine } = await import('../support/engine.ts');
    await using engine = await openEngine();
    const at = (name: string): string => join(engine.source, name);
    for (const name of ['app', 'linked', 'next']) {
      mkdirSync(at(name));
      writeFileSync(at(`${name}/of-${name}`), name);
    }
    const away = (name: string): void => renameSync(at(name), join(engine.directory, name));
    const acts = new Map<ByteString, () => void>([
      [
        bytesOfText(at('app')),
        () => {
          away('app');
          mkdirSync(at('app/new'), { recursive: true });
          writeFileSync(at('app/new/file'), 'new');
        },
      ],
      [
        bytesOfText(at('linked')),
        () => {
          away('linked');
          symlinkSync(at('next'), at('linked'));
        },
      ],
    ]);
    const directory = (path: ByteString): void => {
      acts.get(path)?.();
      acts.delete(path);
    };
    const { snapshot } = await engine.backup(undefined, {}, { directory });
    expect(snapshot.record.errors).toEqual([]);
    const paths = [...(await engine.treeOf(snapshot)).keys()];
    const below = paths.filter((path) => path.startsWith(`${engine.source}/`));
    expect(below.map((path) => path.slice(engine.source.length + 1))).toEqual([
      'app',
      'app/new',
      'app/new/file',
      'linked',
      'next',
      'next/of-next',
    ]);
  },
);
