/** What sources leave out by default: everything that programs download or make again. */
import { expect, test } from 'vitest';
import { createExcluder } from '../../../src/exclude/excluder.ts';
import { explainExclusion } from '../../../src/exclude/explain.ts';
import { bytesOfText } from '../../../src/base/byte-path.ts';
import { typedPattern } from '../../../src/exclude/patterns.ts';
import { NO_EXCLUSIONS } from '../../../src/exclude/excluder.ts';
import { SOURCE_DEFAULTS } from '../../../src/ui/pages/settings/settings-values.ts';
import { load } from '../../support/config-place.ts';

function isLeftOut(path: string, root: string): boolean {
  const { exclude } = load(JSON.stringify({ sources: [{ path: root }] })).settings.sources[0] ?? {};
  const patterns = (exclude?.patterns ?? []).map((pattern) => ({
    pattern: typedPattern(pattern),
    from: 'settings',
  }));
  const source = { root: bytesOfText(root), kind: 'directory' as const, device: 1 };
  const excluder = createExcluder({ ...NO_EXCLUSIONS, patterns }, source, {
    read: () => undefined,
    onError: () => {},
  });
  return explainExclusion(excluder, bytesOfText(path), { list: () => [], stat: () => undefined }).excluded;
}

const STORES =
  '.npm/_cacache/content-v2/a .cache/pip/b .cargo/registry/c .cargo/git/d .gradle/caches/e .m2/repository/f ' +
  '.yarn/berry/cache/g .local/share/pnpm/store/h .pnpm-store/i .nuget/packages/j .bun/install/cache/k';

test.each(['/home/me', '/home'])('package stores are left out of %s', (root) => {
  for (const path of STORES.split(' '))
    expect([path, isLeftOut(`/home/me/${path}`, root)]).toEqual([path, true]);
});

test('what a person made is not', () => {
  expect(isLeftOut('/home/me/go/pkg/mod/a', '/home/me')).toBe(true);
  for (const path of '.npmrc .cargo/config.toml .m2/settings.xml .gradle/gradle.properties go/src/a code/npm'.split(
    ' ',
  ))
    expect([path, isLeftOut(`/home/me/${path}`, '/home/me')]).toEqual([path, false]);
});

test('the page knows the same defaults', () => {
  const { exclude } = load(JSON.stringify({ sources: [{ path: '/home/me' }] })).settings.sources[0] ?? {};
  expect(SOURCE_DEFAULTS.exclude.patterns).toEqual(exclude?.patterns);
});
