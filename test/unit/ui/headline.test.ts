import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Headline } from '../../../src/api/schemas/page/overview.ts';
import { useLanguage } from '../../../src/ui/language/language.ts';
import { sentenceOf } from '../../../src/ui/pages/overview/headline.ts';

const NOW = Date.parse('2026-11-22T12:00:00.000Z');
const AGO = '2026-11-22T11:56:00.000Z';
const DAYS_AGO = '2026-11-19T12:00:00.000Z';

function headline(facts: Partial<Headline>): Headline {
  return {
    level: 'bad',
    code: 'protected',
    paths: [],
    to: [],
    since: null,
    has_failed: false,
    check: null,
    sentence: '',
    ...facts,
  };
}

const CASES: readonly (readonly [string, Partial<Headline>, string, string])[] = [
  [
    'all is well',
    { code: 'protected', since: AGO },
    'Protected: last good backup 4 minutes ago',
    'Geschützt: letzte gute Sicherung vor 4 Minuten',
  ],
  [
    'all has just been backed up',
    { code: 'protected', since: '2026-11-22T11:59:40.000Z' },
    'Protected: last good backup just now',
    'Geschützt: letzte gute Sicherung gerade eben',
  ],
  [
    'several sources are overdue',
    { code: 'overdue', paths: ['/a', '/b'], since: DAYS_AGO },
    'Not protected: 2 sources have not been backed up for 3 days',
    'Nicht geschützt: 2 Quellen wurden seit 3 Tagen nicht gesichert',
  ],
  [
    'one is, to one of its destinations, and the last attempt failed',
    { code: 'overdue', paths: ['/a'], to: ['nas'], since: DAYS_AGO, has_failed: true },
    'Not protected: {} has not been backed up to nas for 3 days; the last attempt failed',
    'Nicht geschützt: {} wurde seit 3 Tagen nicht nach nas gesichert; der letzte Versuch ist gescheitert',
  ],
  [
    'one was never backed up',
    { code: 'never_backed_up', paths: ['/a'] },
    'Not protected: {} has never been backed up',
    'Nicht geschützt: {} wurde noch nie gesichert',
  ],
  [
    'nothing is chosen',
    { code: 'no_source' },
    'Not protected: nothing has been chosen for backup yet',
    'Nicht geschützt: noch ist nichts zum Sichern ausgewählt',
  ],
  [
    'the last backup failed, nobody knows of which',
    { code: 'last_failed', since: AGO },
    'The last backup failed; the last good one was 4 minutes ago',
    'Die letzte Sicherung ist gescheitert; die letzte gute war vor 4 Minuten',
  ],
  [
    'a known check has failed',
    { code: 'check_failed', check: 'destinations' },
    'Not protected: a destination cannot be reached',
    'Nicht geschützt: ein Ziel ist nicht erreichbar',
  ],
  [
    'a check that has no text here warns',
    { code: 'check_warns', check: 'partner' },
    'Protected, but {}',
    'Geschützt, aber: {}',
  ],
];

describe('the headline', () => {
  afterEach(async () => {
    vi.unstubAllGlobals();
    await speak('en');
  });

  async function speak(language: 'en' | 'de'): Promise<void> {
    vi.stubGlobal('document', { documentElement: { lang: '' } });
    await useLanguage(language);
  }

  test.each(CASES)('says in both languages that %s', async (_case, facts, english, german) => {
    const checks = [{ name: 'partner', message: 'The trial is over.' }];
    expect(sentenceOf(headline(facts), checks, NOW).text).toBe(english);
    await speak('de');
    expect(sentenceOf(headline(facts), checks, NOW).text).toBe(german);
  });

  test('keeps a path apart from the sentence, so that it is shown as text of somebody else', () => {
    const path = '/home/me/\u202Egnp.exe';
    const { text, own } = sentenceOf(headline({ code: 'never_backed_up', paths: [path] }), [], NOW);
    expect(text.split('{}')).toHaveLength(2);
    expect(own).toEqual([path]);
  });

  test('takes what a check says from the agent where it has no text of its own', () => {
    const checks = [{ name: 'partner', message: 'The trial is over.' }];
    expect(sentenceOf(headline({ code: 'check_warns', check: 'partner' }), checks, NOW).own).toEqual([
      'The trial is over.',
    ]);
  });
});
