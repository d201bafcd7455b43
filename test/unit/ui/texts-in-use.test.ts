import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { english } from '../../../src/ui/language/english/english.ts';
import { namesBelow } from '../../support/names-below.ts';

const UI = join(import.meta.dirname, '../../../src/ui');
const files = namesBelow(UI)
  .filter((file) => /\.tsx?$/.test(file) && !/^language[\\/]\w+[\\/]/.test(file))
  .map((file) => usesOf(readFileSync(join(UI, file), 'utf8')));

interface FileUses {
  /** `jobs.state`, where it says `t.jobs.state`. */
  readonly paths: ReadonlySet<string>;
  /** Groups that have a shorter name there: `const texts = t.jobs`, `const { jobs } = t`. */
  readonly renamed: ReadonlySet<string>;
  /** Names after a dot, or taken out of braces: members of such a group. */
  readonly names: ReadonlySet<string>;
  /** Groups within such a group, out of which a text is chosen by a value. */
  readonly indexed: ReadonlySet<string>;
}

function usesOf(source: string): FileUses {
  const code = source.replaceAll(/\s*\n\s*/g, ' ').replaceAll(/\s+(?=\??\.)/g, '');
  const renamed = new Set<string>();
  for (const [, names = '', group = ''] of code.matchAll(/const (\w+|\{[^}]*\}) = t((?:\.\w+)*);/g)) {
    const path = group.split('.').slice(1);
    if (!names.startsWith('{')) renamed.add(path.join('.'));
    else
      for (const name of names.slice(1, -1).split(','))
        renamed.add([...path, name.split(':')[0]?.trim()].join('.'));
  }
  const uses = code.replaceAll(/const (?:\w+|\{[^}]*\}) = t(?:\.\w+)*;/g, '');
  return {
    renamed,
    paths: new Set([...uses.matchAll(/\bt((?:\.\w+)+)/g)].map(([, path = '']) => path.slice(1))),
    names: new Set([...uses.matchAll(/\.(\w+)/g)].map(([, name = '']) => name)),
    indexed: new Set(
      [...uses.matchAll(/(\w+)\[|Object\.\w+\(\w+\.(\w+)\)/g)].map(([, one, all]) => one ?? all ?? ''),
    ),
  };
}

/** Of a group that is handed on or chosen from as a whole, every text counts. */
function isUsed(path: readonly string[]): boolean {
  const groups = path.map((_, at) => path.slice(0, at + 1).join('.'));
  const inner = path.slice(0, -1);
  return files.some(
    ({ paths, renamed, names, indexed }) =>
      groups.some((group) => paths.has(group) || (group === path.join('.') && renamed.has(group))) ||
      [...paths].some((one) => one.startsWith(`${path.join('.')}.`)) ||
      groups.some(
        (group, at) =>
          renamed.has(group) &&
          (names.has(path.at(-1) ?? '') || inner.slice(at).some((name) => indexed.has(name))),
      ),
  );
}

function* textsOf(group: object, path: readonly string[] = []): Generator<readonly string[]> {
  for (const [name, value] of Object.entries(group)) {
    const here = [...path, name];
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) yield* textsOf(value, here);
    else yield here;
  }
}

test('each text is shown somewhere', () => {
  const texts = [...textsOf(english)];
  expect(texts.length).toBeGreaterThan(1000);
  expect(texts.filter((path) => !isUsed(path)).map((path) => path.join('.'))).toEqual([]);
});

test('a text that nothing shows is found', () => {
  expect(isUsed(['jobs', 'noSuchText'])).toBe(false);
  expect(isUsed(['noSuchGroup', 'title'])).toBe(false);
});
