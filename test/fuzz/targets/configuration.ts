/** The configuration file: JSON with comments, which is read, held against its schema, and edited as a text. */
import { readFileSync } from 'node:fs';
import type { Node } from 'jsonc-parser';
import { HoldfastError } from '../../../src/base/errors.ts';
import { setInText } from '../../../src/config/edit-text.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { parseText } from '../../../src/config/parse.ts';
import { changeJson, judged, need, parsed, requireEqual, textOf } from '../structured.ts';
import type { TargetTable } from '../target.ts';

const CONTEXT = { home: '/home/ana', stateDirectory: '/home/ana/.local/state/holdfast' };
const example = readFileSync(new URL('../../../config.example.json', import.meta.url));

/** Without its comments: what `changeJson` can take apart. */
function plain(text: Buffer): Buffer {
  return Buffer.from(JSON.stringify(parseText(text.toString('utf8')).value));
}

const SMALL = `{
  // A comment.
  "sources": [{ "path": "~/documents", "schedule": "every 4h", "exclude": { "patterns": ["*.tmp",], }, }],
  "destinations": { "nas": { "url": "sftp://ana@nas/backup", "passphrase": { "env": "NAS" } } }, /* and one more */
  "defaultDestination": "nas",
}`;

function strictValue(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

export const CONFIGURATION: TargetTable<'configuration'> = {
  'config-file': () => ({
    files: [
      'src/config/parse.ts',
      'src/config/config-text.ts',
      'src/config/load.ts',
      'src/config/validate.ts',
    ],
    seeds: [example, plain(example), Buffer.from(SMALL), plain(Buffer.from(SMALL))],
    maxBytes: 131_072,
    words: [
      '"',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '//',
      '/*',
      '*/',
      '\\u0000',
      'null',
      '\uFEFF',
      '"~/',
      '-1e9',
      '\n',
    ],
    change: changeJson,
    run: (input) =>
      judged(
        parsed(
          () => loadConfig('/c.json', input, CONTEXT),
          (error) => {
            if (!(error instanceof HoldfastError) || error.side !== 'config') return false;
            const { line, column } = error.details;
            return Number.isInteger(line) && Number.isInteger(column) && error.hint !== '';
          },
        ),
        ({ text, settings }) => {
          need(settings.destinations.length > 0, 'there is no destination');
          requireStrict(text, parseText(text).value);
        },
      ),
  }),
  'config-edit': () => ({
    files: ['src/config/parse.ts', 'src/config/edit-text.ts', 'src/config/edit-container.ts'],
    seeds: [example, plain(example), Buffer.from(SMALL), Buffer.from('{}'), Buffer.from('{ // c\r\n}')],
    maxBytes: 16_384,
    words: [
      '"',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '//',
      '/*',
      '*/',
      'null',
      '\r\n',
      '\t',
      '\n',
      '"log":{"level":"a"}',
    ],
    change: changeJson,
    run: (input) => {
      const text = textOf(input);
      const { root, value } = parseText(text);
      if (root === undefined) return 'refused';
      requireStrict(text, value);
      const edited = parseText(setInText(text, ['log', 'level'], 'warn'));
      need(edited.root !== undefined, 'the edited text is none that can be read');
      requireEqual(edited.value, withLevel(value as Values, root), 'the edited value');
      return 'taken';
    },
  }),
};

type Values = Readonly<Record<string, unknown>>;

/** The value with `log.level` set: `log` is made anew where it is no object. */
function withLevel(value: Values, root: Node): Values {
  const own = root.children?.some(({ children }) => children?.[0]?.value === 'log') === true;
  const log = own ? value['log'] : undefined;
  const isMap = typeof log === 'object' && log !== null && !Array.isArray(log);
  return { ...value, log: { ...(isMap ? log : {}), level: 'warn' } };
}

/** Text that is JSON as well means the same in both. */
function requireStrict(text: string, value: unknown): void {
  const strict = strictValue(text);
  if (strict !== undefined)
    requireEqual(JSON.stringify(value), JSON.stringify(strict.value), 'what JSON.parse reads');
}
