/** French puts a space that does not break before high punctuation and within its quotation marks. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { describe, expect, test } from 'vitest';
import { french } from '../../../src/ui/language/french/french.ts';

const FOLDER = join(import.meta.dirname, '../../../src/ui/language/french');
/** In the order in which a reader would find fault with them. */
const FAULTS = [
  [/ (?:[;:?»]|!(?!\w))|« /, 'a space that may break'],
  [/\p{L}(?:[;:?!](?=\s|$)|»)|«\S/u, 'no space'],
  [/\p{L}'\p{L}/u, 'a straight apostrophe'],
  [/\.\.\.|[^,]\s…/, 'three full stops, or a space before an ellipsis'],
] as const;

function faultIn(text: string): string | undefined {
  return FAULTS.find(([fault]) => fault.test(text))?.[1];
}

function* textsIn(node: unknown): Generator<string> {
  if (Array.isArray(node)) for (const one of node) yield* textsIn(one);
  if (typeof node !== 'object' || node === null || Array.isArray(node)) return;
  const { type, value, quasi } = node as { type?: string; value?: unknown; quasi?: unknown };
  if (type === 'Literal' && typeof value === 'string') yield value;
  if (type === 'TemplateElement') yield (value as { raw: string }).raw;
  // A command is written as the machine reads it.
  for (const part of Object.values(node)) if (part !== quasi) yield* textsIn(part);
}

test.each([
  ['Lu : 3 Mio', 'a space that may break'],
  ['Vraiment ?', 'a space that may break'],
  ['« doctor\u00A0»', 'a space that may break'],
  ['Lu: 3 Mio', 'no space'],
  ["l'agent", 'a straight apostrophe'],
  ['Pause...', 'three full stops, or a space before an ellipsis'],
  ['Lu\u00A0: 3 Mio, «\u00A0doctor\u00A0», https://example.org, /a:b, *.tmp ou !keep.tmp…', undefined],
])('%j has %s', (text, fault) => {
  expect(faultIn(text)).toBe(fault);
});

describe.each(readdirSync(FOLDER))('%s', (file) => {
  const tree = parseAst(readFileSync(join(FOLDER, file), 'utf8'), { lang: 'ts' }, file);

  test('is set as French is', () => {
    const texts = [...textsIn(tree.body)];
    const faults = texts.flatMap((text) => (faultIn(text) === undefined ? [] : [[faultIn(text), text]]));
    expect(faults).toEqual([]);
  });
});

test('0 and 1 are singular, and any other number is not', () => {
  const said = [0, 1, 2].map((count) => french.common.files(count, String(count)));
  expect(said).toEqual(['0 fichier', 'un fichier', '2 fichiers']);
});
