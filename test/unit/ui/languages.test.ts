/** Each language of the page has every text, also those that the compiler does not ask for. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { english } from '../../../src/ui/language/english/english.ts';
import { LANGUAGES } from '../../../src/ui/language/language.ts';
import { namesBelow } from '../../support/names-below.ts';

function* textsOf(group: object, path: readonly string[] = []): Generator<readonly [string, unknown]> {
  for (const [name, value] of Object.entries(group)) {
    const here = [...path, name];
    if (typeof value === 'object' && value !== null) yield* textsOf(value, here);
    else yield [here.join('.'), value];
  }
}

/** How many places a text has that are filled in where it is shown. */
function gapsIn(text: unknown): number {
  return typeof text === 'string' ? text.split('{}').length : 0;
}

describe.each(Object.entries(LANGUAGES))('%s', (code, { name, load }) => {
  test('has a name and a code that browsers know', () => {
    expect(Intl.DisplayNames.supportedLocalesOf(code)).toEqual([code]);
    const known = new Intl.DisplayNames(code, { type: 'language' }).of(code);
    expect(known?.toLowerCase()).toBe(name.toLowerCase());
  });

  test('has every text', async () => {
    const texts = new Map(textsOf(await load()));
    const all = [...textsOf(english)];
    expect(all.length).toBeGreaterThan(1000);
    expect(all.filter(([path, text]) => typeof texts.get(path) !== typeof text)).toEqual([]);
    expect(all.filter(([path, text]) => gapsIn(texts.get(path)) !== gapsIn(text))).toEqual([]);
    expect([...texts].filter(([, text]) => text === '')).toEqual([]);
  });
});

test('no module of the page awaits as it is loaded: a language that imports it would wait for ever', () => {
  const folder = join(import.meta.dirname, '../../../src/ui');
  const modules = namesBelow(folder).filter((file) => /\.tsx?$/.test(file));
  expect(modules.length).toBeGreaterThan(100);
  const awaiting = /^(?:(?:export )?(?:const|let) [^=\n]+= )?(?:await |for await )/m;
  expect(modules.filter((file) => awaiting.test(readFileSync(join(folder, file), 'utf8')))).toEqual([]);
});
