/** What people see when something goes wrong: docs/reliability/situations.md has it as the page says it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Statement } from '../../../src/api/schemas/page/overview.ts';
import { errorWords } from '../../../src/ui/components/problem.tsx';
import { sentenceOf } from '../../../src/ui/pages/overview/headline.tsx';
import { todoOf } from '../../../src/ui/pages/overview/remedies.ts';
import { english } from '../../../src/ui/language/english/english.ts';
import {
  PLACES,
  READ_AT,
  RUNNING,
  SOURCES,
  STORED,
  type SituationRow,
} from '../../support/situation-rows.ts';

const DOCUMENT = join(import.meta.dirname, '../../../docs/reliability/situations.md');
/** With it the tables are written anew in place of being compared. */
const REWRITES = process.env['HOLDFAST_WRITE_GUIDE'] === '1';

const TABLES: Readonly<Record<string, readonly SituationRow[]>> = {
  'Where backups go': PLACES,
  'What is backed up': SOURCES,
  'The agent and its jobs': RUNNING,
  'What is stored': STORED,
};

const HEAD = '| what happened | what you see | what you can do |\n|---|---|---|';

function statementOf(facts: Partial<Statement>): Statement {
  return {
    level: 'bad',
    code: 'protected',
    paths: ['/home/ana/Documents'],
    names: ['Documents'],
    to: [],
    since: null,
    files: [],
    figures: {},
    reason: null,
    check: null,
    check_code: null,
    sentence: '',
    ...facts,
  };
}

/** As on the overview: the headline, and what stands below it. */
function ofOverview(facts: Partial<Statement>): readonly [says: string, todo: string] {
  const statement = statementOf(facts);
  const { text, own } = sentenceOf(statement, [], READ_AT);
  const names = own.values();
  return [text.replaceAll('{}', () => String(names.next().value)), todoOf(statement)];
}

function cells({ says, error }: SituationRow): readonly [string, string] {
  const [sentence, todo] = says === undefined ? ['', ''] : ofOverview(says);
  const ofJob = error === undefined ? '' : (errorWords(error, error.type) ?? '');
  // What leads to the job is of no use where the job's words follow.
  const leads = new Set([english.overview.remedies['other'], english.overview.remedies['no_secret']]);
  const todos = ofJob !== '' && leads.has(todo) ? [] : [todo];
  return [sentence, [...todos, ...(ofJob === '' ? [] : [`Job: ${ofJob}`])].filter(Boolean).join(' ')];
}

const lineOf = (row: SituationRow): string =>
  `| ${[row.what, ...cells(row)].join(' | ')} |`.replaceAll('|  |', '| |');

describe('docs/reliability/situations.md', () => {
  test.each(Object.entries(TABLES))('%s', (title, rows) => {
    const document = readFileSync(DOCUMENT, 'utf8');
    const wanted = [HEAD, ...rows.map(lineOf)].join('\n');
    const found = new RegExp(String.raw`(?<=\n## ${title}\n\n)\| what happened[^]*?(?=\n\n|\n$)`).exec(
      document,
    )?.[0];
    if (REWRITES && found !== undefined)
      writeFileSync(
        DOCUMENT,
        document.replace(`## ${title}\n\n${found}`, () => `## ${title}\n\n${wanted}`),
      );
    else expect(found).toBe(wanted);
  });

  test('every row says something, and nothing that is wrong is without a remedy', () => {
    const calm = new Set([
      'protected',
      'destination_away',
      'first_backup_runs',
      'first_backup_paused',
      'paused',
      'no_source',
    ]);
    for (const row of Object.values(TABLES).flat()) {
      const [sentence, todo] = cells(row);
      expect(sentence + todo, row.what).not.toBe('');
      if (!calm.has(row.says?.code ?? '')) expect(todo, row.what).not.toBe('');
    }
  });
});
