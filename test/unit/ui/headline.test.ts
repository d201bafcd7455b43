import { afterEach, describe, expect, test, vi } from 'vitest';
import { Statement } from '../../../src/api/schemas/page/overview.ts';
import { STATEMENT_CODES } from '../../../src/jobs/statement.ts';
import { type Language, LANGUAGES, useLanguage } from '../../../src/ui/language/language.ts';
import { sentenceOf, withoutPreface } from '../../../src/ui/pages/overview/headline.tsx';
import { settingsAnswering } from '../../../src/ui/pages/overview/unread-files.tsx';
import { tabOf } from '../../../src/ui/tab.ts';
import { overviewOnPage } from '../../support/overview-on-page.ts';

const NOW = Date.parse('2026-11-22T12:00:00.000Z');
const AGO = '2026-11-22T11:56:00.000Z';
const DAYS_AGO = '2026-11-19T12:00:00.000Z';

function about(facts: Partial<Statement>): Statement {
  return {
    level: 'bad',
    code: 'protected',
    paths: ['/a'],
    names: ['a'],
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

type Case = readonly [string, Partial<Statement>, string, string, string, readonly string[]];
const CASES: readonly Case[] = [
  [
    'all is well',
    { code: 'protected', since: AGO },
    'Protected: last good backup 4 minutes ago',
    'Geschützt: letzte gute Sicherung vor 4 Minuten',
    'Protégé : dernière sauvegarde réussie il y a 4 minutes',
    [],
  ],
  [
    'most files of the home directory are gone',
    { code: 'files_disappeared', names: ['~'], figures: { files_gone: 2_335, files_before: 2_676 } },
    '2,335 of 2,676 files disappeared from {}',
    '2.335 von 2.676 Dateien sind aus {} verschwunden',
    '2 335 fichiers sur 2 676 ont disparu de {}',
    ['Home'],
  ],
  [
    'a source of one file is empty',
    { code: 'source_empty', figures: { files_before: 1 } },
    '{} is empty: it had 1 file at its last backup',
    '{} ist leer: bei der letzten Sicherung war es 1 Datei',
    '{} est vide : à la dernière sauvegarde, il y avait 1 fichier',
    ['a'],
  ],
  [
    'one file cannot be read',
    { code: 'files_unread', files: ['/a/locked.txt'], figures: { files: 1, folders: 0 } },
    'Protected, except 1 file we could not read: {}',
    'Geschützt, außer 1 Datei, die nicht lesbar war: {}',
    'Protégé, sauf 1 fichier illisible : {}',
    ['locked.txt'],
  ],
  [
    'many cannot be read',
    { code: 'files_unread', files: ['/a/1', '/a/2', '/a/b/3'], figures: { files: 12, folders: 1 } },
    'Protected, except 12 files and everything in 1 folder we could not read: {}, {}, {}, and 10 more',
    'Geschützt, außer 12 Dateien, die nicht lesbar waren, und dem Inhalt eines Ordners, der nicht lesbar war: {}, {}, {} und 10 weitere',
    'Protégé, sauf 12 fichiers illisibles et le contenu d’un dossier illisible : {}, {}, {} et 10 de plus',
    ['1', '2', 'b/3'],
  ],
  [
    'a disk is unplugged',
    { code: 'destination_away', to: ['usb'], since: '2026-11-22T11:53:00.000Z', figures: { far: 0 } },
    'The disk “usb” is unplugged; the last backup to it is 7 minutes old',
    'Die Platte „usb“ ist nicht angeschlossen; die letzte Sicherung dorthin ist 7 Minuten alt',
    'Le disque « usb » est débranché ; la dernière sauvegarde y remonte à 7 minutes',
    [],
  ],
  [
    'several sources are overdue',
    { code: 'overdue', paths: ['/a', '/b'], names: ['a', 'b'], since: DAYS_AGO },
    'Not protected: 2 sources have not been backed up for 3 days',
    'Nicht geschützt: 2 Quellen wurden seit 3 Tagen nicht gesichert',
    'Non protégé : 2 sources n’ont pas été sauvegardées depuis 3 jours',
    [],
  ],
  [
    'one is, to one of its destinations, and the last attempt failed',
    { code: 'overdue', to: ['nas'], since: DAYS_AGO, reason: 'other' },
    'Not protected: {} has not been backed up to “nas” for 3 days; the last attempt failed',
    'Nicht geschützt: {} wurde seit 3 Tagen nicht nach „nas“ gesichert; der letzte Versuch ist gescheitert',
    'Non protégé : {} n’a pas été sauvegardé vers « nas » depuis 3 jours ; la dernière tentative a échoué',
    ['a'],
  ],
  [
    'a check says it that has words here',
    { code: 'check_failed', check: 'state' },
    'Not protected: the agent cannot write down what it does',
    'Nicht geschützt: der Agent kann nicht festhalten, was er tut',
    'Non protégé : l’agent ne peut pas consigner ce qu’il fait',
    [],
  ],
  [
    'the partner has suspended the account',
    { code: 'check_warns', check: 'partner', check_code: 'account_suspended' },
    'Protected, but your account with your partner is suspended',
    'Geschützt, aber: Ihr Konto beim Partner ist gesperrt',
    'Protégé, mais attention : votre compte chez votre partenaire est suspendu',
    [],
  ],
  [
    'a check of a newer agent says it, which only that agent has words for',
    { code: 'check_warns', check: 'novelty' },
    'Protected, but {}',
    'Geschützt, aber: {}',
    'Protégé, mais attention : {}',
    ['The trial is over.'],
  ],
];

afterEach(async () => {
  vi.useRealTimers();
  await speak('en');
  vi.unstubAllGlobals();
});

async function speak(wanted: Language): Promise<void> {
  vi.stubGlobal('document', { documentElement: { lang: '' } });
  await useLanguage(wanted);
}

const CHECKS = [{ name: 'novelty', status: 'warning', code: null, message: 'The trial is over.' }] as const;

describe.each(CASES)('when %s', (_, facts, english, german, french, own) => {
  test('it is said in English', () => {
    expect(sentenceOf(about(facts), CHECKS, NOW)).toEqual({ text: english, own });
  });

  test('it is said in German', async () => {
    await speak('de');
    const { text } = sentenceOf(about(facts), CHECKS, NOW);
    expect(text).toBe(german);
  });

  test('it is said in French', async () => {
    await speak('fr');
    const { text } = sentenceOf(about(facts), CHECKS, NOW);
    // Which of its spaces break is up to each browser, and `french.test.ts`.
    expect(text.replaceAll(/\s/g, ' ')).toBe(french);
  });
});

test('there are words for every code of the agent, and a schema that takes it', async () => {
  expect(Statement.properties.code).toMatchObject({ enum: [...STATEMENT_CODES] });
  for (const language of Object.keys(LANGUAGES)) {
    await speak(language as Language);
    for (const code of STATEMENT_CODES) expect(sentenceOf(about({ code }), []).text, code).not.toBe('');
  }
});

test('the title of the tab says what the headline says, and marks what is not good', () => {
  vi.useFakeTimers({ now: NOW });
  const overview = overviewOnPage(AGO);
  expect(tabOf(overview, undefined).title).toBe('Protected: last good backup 4 minutes ago · Holdfast');
  const headline = { ...about({ code: 'source_empty', figures: { files_before: 3 } }), more: 2 };
  expect(tabOf({ ...overview, headline }, undefined).title).toBe(
    '✖ a is empty: it had 3 files at its last backup · Holdfast',
  );
});

describe('what somebody answers about a file that cannot be read', () => {
  const source = { path: '/a', exclude: { patterns: ['*.o'], caches: true }, acceptUnreadable: [] };
  const settings = { sources: [source, { ...source, path: '/ab' }], log: 1 };

  test('leaves out that file alone', () => {
    const left = settingsAnswering(settings, '/a/b [1]*', 'leave out');
    expect(left.sources[0]?.exclude.patterns).toEqual(['*.o', String.raw`/b \[1\]\*`]);
    expect(left.sources[1]).toEqual(settings.sources[1]);
    expect(left['log']).toBe(1);
  });

  test('or accepts it, once', () => {
    const accepted = settingsAnswering(settings, '/a/b', 'accept');
    expect(settingsAnswering(accepted, '/a/b', 'accept').sources[0]?.acceptUnreadable).toEqual(['/a/b']);
  });
});

test('below a headline, a sentence does not say again whether the person is protected', async () => {
  await speak('en');
  expect(withoutPreface('Protected, but changes in {} are not noticed')).toBe(
    'Changes in {} are not noticed',
  );
  expect(withoutPreface('Not protected: {} has never been backed up')).toBe('{} has never been backed up');
  expect(withoutPreface('{} is empty')).toBe('{} is empty');
  await speak('de');
  expect(withoutPreface('Geschützt, aber die letzte Prüfung')).toBe('Die letzte Prüfung');
});
