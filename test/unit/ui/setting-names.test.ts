/** Every setting has a name on the page and a field there, unless this file says why it has none. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { english } from '../../../src/ui/language/english/english.ts';

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly patternProperties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
}

const ROOT = join(import.meta.dirname, '../../..');
const SCHEMA = JSON.parse(readFileSync(join(ROOT, 'docs/config.schema.json'), 'utf8')) as Node;
/** Where a secret comes from is one field. */
const SECRET_PARTS = ['file', 'env', 'command', 'credential'];

/** Settings that the page does not show, with the reason. */
const FILE_ONLY: Readonly<Record<string, string>> = {
  $schema: 'for editors',
  version: 'set by the program',
  'listen.port': 'applies from the next start, when the page would be at another address',
  'sources[].hooks.timeout': 'who writes hooks does so in the file',
  'sources[].hooks.onFailure': 'who writes hooks does so in the file',
  'destinations.NAME.untested': 'set and cleared by the trial of the destination',
  'restore.allowedRoots': 'limits what the page may do, so the page may not change it',
  'updates.url': 'an address of the network that nobody should turn on by mistake',
  'partner.whileSuspended': 'agreed with the provider',
  'partner.afterTrial': 'agreed with the provider',
};

function namesIn(node: Node, name: string): readonly string[] {
  const { properties = {}, patternProperties = {}, items, anyOf = [] } = node;
  if (SECRET_PARTS.every((part) => part in properties)) return [name];
  const below = [
    ...Object.entries(properties).flatMap(([key, part]) =>
      namesIn(part, name === '' ? key : `${name}.${key}`),
    ),
    ...Object.values(patternProperties).flatMap((part) => namesIn(part, `${name}.NAME`)),
    ...anyOf.flatMap((part) => namesIn(part, name)).filter((one) => one !== name),
    ...(items?.properties === undefined ? [] : namesIn(items, `${name}[]`)),
  ];
  return below.length === 0 ? [name] : below;
}

const settings = [...new Set(namesIn(SCHEMA, ''))];
const shown = settings.filter((name) => !(name in FILE_ONLY));
/** Code of the fields, but for the file that has the shape of all settings, shown or not. */
const source = ['pages/settings', 'parts']
  .map((room) => join(ROOT, 'src/ui', room))
  .flatMap((room) => readdirSync(room).map((file) => join(room, file)))
  .filter((file) => !file.endsWith('settings-values.ts'))
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

/** What a field of the setting has in its code: its path, where its own name is also that of another setting. */
function traceOf(name: string): RegExp {
  const [own = '', group = ''] = name.replaceAll('[]', '').split('.').toReversed();
  const isShared = settings.some((other) => other !== name && other.endsWith(`.${own}`));
  const isPlain = !/\[\]|NAME/.test(name) && group !== '';
  return isShared && isPlain ? new RegExp(`'${group}', '${own}'`) : new RegExp(`\\b${own}\\b`);
}

test('the settings that the page does not show are there', () => {
  expect(Object.keys(FILE_ONLY).filter((name) => !settings.includes(name))).toEqual([]);
});

describe.each(shown)('%s', (name) => {
  test('has a name in the words of its reader', () => {
    const where = 'It belongs into settings.names in src/ui/language, in each language';
    expect(Object.keys(english.settings.names), where).toContain(name);
  });

  test('has a field', () => {
    const where = `No field in src/ui/pages/settings has ${String(traceOf(name))}; without one, FILE_ONLY here says why`;
    expect(traceOf(name).test(source), where).toBe(true);
  });
});
