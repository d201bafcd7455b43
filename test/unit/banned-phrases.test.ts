/** What people read in English is English: no text has a phrase that is German word for word. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BANNED_PHRASES } from '../support/banned-phrases.ts';
import { withoutComments } from '../support/hinted-commands.ts';
import { namesBelow } from '../support/names-below.ts';

const ROOT = join(import.meta.dirname, '../..');
const FOLDERS = ['src', 'docs/guides'];

/** What is none of our sentences, by file. */
const LEFT: Readonly<Record<string, readonly string[]>> = {
  // A comment in the script that it prints.
  'src/cli/completion.ts': ['by itself'],
};

const files = FOLDERS.flatMap((folder) =>
  namesBelow(join(ROOT, folder))
    .filter((name) => /\.(?:tsx?|md)$/.test(name))
    .map((name) => join(folder, name).replaceAll('\\', '/')),
);

/** On one line, as texts are broken anywhere. */
function textOf(file: string): string {
  const source = readFileSync(join(ROOT, file), 'utf8');
  return (file.endsWith('.md') ? source : withoutComments(source)).replaceAll(/\s+/g, ' ');
}

/** `“goes by itself”: automatically`. */
function faultsIn(text: string, left: readonly string[] = []): readonly string[] {
  return BANNED_PHRASES.flatMap(({ phrase, instead }) =>
    [...text.matchAll(new RegExp(phrase, 'gi'))]
      .filter(([found]) => !left.includes(found.toLowerCase()))
      .map(({ 0: found, index }) => `“…${text.slice(Math.max(0, index - 30), index)}${found}”: ${instead}`),
  );
}

describe('texts in English', () => {
  test.each([...files, 'README.md'])('%s', (file) => {
    expect(faultsIn(textOf(file), LEFT[file])).toEqual([]);
  });
});

describe('a literal translation', () => {
  test.each([
    'Backups get it for themselves. It is made if it is not there.',
    'Best is a place that does not burn together with this machine.',
    'Address and password do not fit together.',
    'Besides, changes in watched sources are backed up within minutes.',
    '5 snapshots stay, none goes.',
    'Silence is no good sign.',
    'Programs of yours use it.',
    'What is to be restored?',
    'The agent may not read or write it.',
    '2 customers, the newest first.',
    'snapshot_id stands beside backup_id or source.',
    'The source lies in a directory that backups are stored in.',
    'Known are: log.level.',
    'It may have arrived all the same. If it stays so, ask who runs the server.',
  ])('is found: %s', (sentence) => {
    expect(faultsIn(sentence)).not.toEqual([]);
  });

  test('is not what people write', () => {
    const fine =
      'Nothing goes wrong. To the right, one goes on to the next page. You may not need it: put it there. There is no file.';
    expect(faultsIn(fine)).toEqual([]);
  });
});
