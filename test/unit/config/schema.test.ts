import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { CONFIG_VERSION, jsonSchemaText, schemaNode } from '../../../src/config/schema.ts';
import { isTextFormat } from '../../../src/config/text-formats.ts';
import { load, problemsOf } from '../../support/config-place.ts';
import { commentedExample } from '../../support/commented-example.ts';
import { settingRows, settingsTable } from '../../support/settings-table.ts';

const root = path.resolve(import.meta.dirname, '..', '..', '..');
const read = (name: string): string => readFileSync(path.join(root, name), 'utf8');
/** With it the documents are written anew in place of being compared. */
const REWRITES = process.env['HOLDFAST_WRITE_GUIDE'] === '1';
const HOW = 'To write it anew: HOLDFAST_WRITE_GUIDE=1 npm test -- unit/config/schema';

function isAsMade(name: string, made: string): void {
  if (REWRITES) writeFileSync(path.join(root, name), made);
  else expect(read(name), HOW).toBe(made);
}

/** A key of the schema, asked of a value. */
function standsIn(value: unknown, key: string): boolean {
  const words = key.split(/\.|(?=\[\])/);
  const look = (inner: unknown, [word, ...rest]: readonly string[]): boolean => {
    if (word === undefined) return true;
    if (typeof inner !== 'object' || inner === null) return false;
    if (word === '[]' || word === 'NAME') return Object.values(inner).some((item) => look(item, rest));
    return Object.hasOwn(inner, word) && look(Reflect.get(inner, word), rest);
  };
  return look(value, words);
}

describe('the schema', () => {
  test('describes every setting, and gives it a default unless it is required', () => {
    const rows = settingRows();
    expect(rows.length).toBeGreaterThan(60);
    for (const { key, schema, required } of rows) {
      expect([key, schema.description]).toEqual([key, expect.stringMatching(/^[A-Za-z].*\.$/s)]);
      if (key !== '$schema') expect([key, schema.default === undefined]).toEqual([key, required]);
    }
  });

  test('refuses unknown names at every level', () => {
    const open: string[] = [];
    const visit = (part: unknown, name: string): void => {
      if (typeof part !== 'object' || part === null) return;
      if ('properties' in part && Reflect.get(part, 'additionalProperties') !== false) open.push(name);
      for (const [key, inner] of Object.entries(part))
        if (key !== 'properties' || !Array.isArray(inner)) visit(inner, `${name}/${key}`);
    };
    visit(JSON.parse(jsonSchemaText()), '');
    expect(open).toEqual([]);
  });

  test('bounds every text, number and list', () => {
    const loose: string[] = [];
    const visit = (part: unknown, name: string): void => {
      if (typeof part !== 'object' || part === null) return;
      const types = [Reflect.get(part, 'type')].flat();
      const has = (...names: readonly string[]): boolean => names.some((bound) => Reflect.has(part, bound));
      if (types.includes('string') && !has('maxLength', 'enum', 'format')) loose.push(name);
      if (types.includes('integer') && !(has('minimum') && has('maximum'))) loose.push(name);
      if (types.includes('array') && !has('maxItems')) loose.push(name);
      for (const [key, inner] of Object.entries(part)) visit(inner, `${name}/${key}`);
    };
    visit(JSON.parse(jsonSchemaText()), '');
    expect(loose).toEqual([]);
  });

  test('is plain JSON Schema that others can read, and has no format that they would check differently', () => {
    const schema: object = JSON.parse(jsonSchemaText());
    const ajv = new Ajv({ strict: true, allowUnionTypes: true, validateFormats: false });
    const validate = ajv.compile(schema);
    expect(validate(JSON.parse(read('config.example.json')))).toBe(true);
    expect(validate({ sources: [{}] })).toBe(false);
    const formats = [...jsonSchemaText().matchAll(/"format": "([^"]+)"/g)].map(([, name]) => name ?? '');
    expect(formats.filter((name) => !isTextFormat(name))).toEqual([]);
    for (const standard of ['duration', 'time', 'date', 'uri', 'email', 'regex'])
      expect(formats).not.toContain(standard);
    expect(schemaNode().properties?.['version']?.maximum).toBe(CONFIG_VERSION);
  });

  test('stands beside the documentation as it is', () => {
    isAsMade('docs/config.schema.json', jsonSchemaText());
  });
});

describe('config.example.json', () => {
  const text = read('config.example.json');

  test('is strict JSON, valid, and names the schema', () => {
    expect(JSON.parse(text)).toMatchObject({ $schema: './docs/config.schema.json', version: CONFIG_VERSION });
    expect(load(text).settings.sources.length).toBeGreaterThan(1);
  });

  test('shows every setting, and each way to name a secret', () => {
    const example: unknown = JSON.parse(text);
    expect(
      settingRows()
        .map(({ key }) => key)
        .filter((key) => !standsIn(example, key)),
      'These settings are missing from config.example.json, which is written by hand',
    ).toEqual([]);
    for (const way of ['file', 'env', 'command', 'credential']) expect(text).toContain(`{ "${way}": "`);
    expect(standsIn(example, 'sources[].nothing')).toBe(false);
  });

  test('would be refused with any of its names misspelt', () => {
    const names = [...text.matchAll(/"(\w+)":/g)]
      .map(([, name]) => name ?? '')
      .filter((name) => !Object.hasOwn(JSON.parse(text).destinations, name));
    for (const name of new Set(names))
      expect(problemsOf(text.replace(`"${name}":`, `"${name}z":`))).not.toEqual([]);
  });
});

describe('docs/config.example.jsonc', () => {
  test('is config.example.json with the meaning and default of every setting before it', () => {
    isAsMade('docs/config.example.jsonc', commentedExample());
    const text = read('docs/config.example.jsonc');
    for (const { key, schema } of settingRows()) {
      // As it stands in the comments, whatever line it was broken in.
      const flat = text.replaceAll(/\n\s*\/\/ /g, ' ');
      expect([key, flat.includes(schema.description ?? key)]).toEqual([key, true]);
    }
  });

  test('is accepted as it is, with the same result', () => {
    const text = read('docs/config.example.jsonc');
    expect(load(text).settings).toEqual(load(read('config.example.json')).settings);
  });
});

describe('docs/configuration.md', () => {
  test('has every setting with its default, bounds and meaning, and no other', () => {
    const [general = ''] = read('docs/configuration.md').split('## Settings\n\n');
    isAsMade('docs/configuration.md', `${general}## Settings\n\n${settingsTable()}\n`);
  });
});
