import { describe, expect, test } from 'vitest';
import { nextRuns, parseSchedule } from '../../../src/schedule/schedule.ts';
import { english } from '../../../src/ui/language/english/english.ts';
import { french } from '../../../src/ui/language/french/french.ts';
import { german } from '../../../src/ui/language/german/german.ts';
import {
  FREQUENCIES,
  readSchedule,
  scheduleInWords,
  shownParts,
  writeSchedule,
} from '../../../src/ui/pages/settings/schedule-words.ts';

const NOW = Date.UTC(2026, 10, 22, 12);

describe('a schedule', () => {
  test.each([
    ['off', 'only when you start it', 'nur von Hand', 'seulement à la main'],
    ['hourly', 'every hour', 'jede Stunde', 'toutes les heures'],
    ['every 4h', 'every 4 hours', 'alle 4 Stunden', 'toutes les 4 heures'],
    ['every 1d', 'every day', 'jeden Tag', 'tous les jours'],
    ['every 90m', 'every 90 minutes', 'alle 90 Minuten', 'toutes les 90 minutes'],
    ['daily', 'every day at 03:00', 'täglich um 03:00 Uhr', 'tous les jours à 03:00'],
    ['daily at 2:30', 'every day at 02:30', 'täglich um 02:30 Uhr', 'tous les jours à 02:30'],
    [
      'Weekdays  at 18:00',
      'Monday to Friday at 18:00',
      'Montag bis Freitag um 18:00 Uhr',
      'du lundi au vendredi à 18:00',
    ],
    [
      'weekends',
      'Saturday and Sunday at 03:00',
      'Samstag und Sonntag um 03:00 Uhr',
      'le samedi et le dimanche à 03:00',
    ],
    ['weekly', 'every Sunday at 03:00', 'jeden Sonntag um 03:00 Uhr', 'chaque dimanche à 03:00'],
    [
      'monthly at 04:15',
      'on day 1 of each month at 04:15',
      'am 1. jedes Monats um 04:15 Uhr',
      'le 1er de chaque mois à 04:15',
    ],
    ['30 2 * * *', 'every day at 02:30', 'täglich um 02:30 Uhr', 'tous les jours à 02:30'],
    ['5 22 * * 3', 'every Wednesday at 22:05', 'jeden Mittwoch um 22:05 Uhr', 'chaque mercredi à 22:05'],
    [
      '0 4 15 * *',
      'on day 15 of each month at 04:00',
      'am 15. jedes Monats um 04:00 Uhr',
      'le 15 de chaque mois à 04:00',
    ],
    [
      '0 4 * * 1-5',
      'Monday to Friday at 04:00',
      'Montag bis Freitag um 04:00 Uhr',
      'du lundi au vendredi à 04:00',
    ],
    ['0 4 13 * 5', '0 4 13 * 5', '0 4 13 * 5', '0 4 13 * 5'],
    ['*/10 8-18 * * *', '*/10 8-18 * * *', '*/10 8-18 * * *', '*/10 8-18 * * *'],
    ['every 1h30m', 'every 1h30m', 'every 1h30m', 'every 1h30m'],
    ['now and then', 'now and then', 'now and then', 'now and then'],
  ])('%j is said in each language', (text, inEnglish, inGerman, inFrench) => {
    expect(scheduleInWords(text, english.schedule.words, 'en')).toBe(inEnglish);
    expect(scheduleInWords(text, german.schedule.words, 'de')).toBe(inGerman);
    expect(scheduleInWords(text, french.schedule.words, 'fr')).toBe(inFrench);
  });

  test.each([
    'off',
    'hourly',
    'every 30m',
    'daily at 02:30',
    'weekdays',
    'weekends at 08:05',
    'weekly',
    'monthly',
    '5 22 * * 3',
    '5 22 * * 7',
    '0 4 31 * *',
    '0 4 * * 6,0',
    '0 4 13 * 5',
    '0 4,16 * * *',
  ])('%j that is taken apart and written again runs at the same times', (text) => {
    const written = writeSchedule(readSchedule(text));
    const runs = (schedule: string) => nextRuns(parseSchedule(schedule), NOW, 'Europe/Berlin');
    expect(runs(written)).toEqual(runs(text));
  });

  test.each(FREQUENCIES)('of a form set to %s is one that the agent reads', (frequency) => {
    const parts = { ...readSchedule('30 2 * * 4'), frequency };
    expect(() => parseSchedule(writeSchedule(parts))).not.toThrow();
    expect(() => parseSchedule(writeSchedule({ ...parts, day: 31 }))).not.toThrow();
  });

  describe.each(FREQUENCIES)('of a form set to %s while it is typed', (frequency) => {
    const whole = { ...readSchedule('30 2 * * 4'), frequency };
    test.each([
      ['no number', { every: '' }],
      ['no time', { time: '' }],
      ['half a time', { time: '04:' }],
      ['neither', { every: '', time: '' }],
      ['no time on another day', { time: '', day: 31 }],
      ['no time on a Sunday', { time: '', weekday: 0 }],
    ])(
      'with %s keeps what is in its fields, and is never one that the agent takes for another',
      (_, typed) => {
        const parts = { ...whole, ...typed };
        const written = writeSchedule(parts);
        expect(written).not.toMatch(/undefined|NaN/);
        expect(shownParts(written, parts)).toEqual({ ...parts, text: written });
        const needs = frequency === 'interval' ? 'every' : 'time';
        const isWhole = frequency === 'off' || frequency === 'hourly' || frequency === 'cron';
        if (isWhole || !(needs in typed)) expect(() => parseSchedule(written)).not.toThrow();
        else expect(() => parseSchedule(written)).toThrow();
      },
    );
  });

  test('is what stands in the settings when that is no longer what was typed', () => {
    const typed = { ...readSchedule('daily at 02:30'), time: '' };
    expect(shownParts('every 4h', typed)).toEqual(readSchedule('every 4h'));
    expect(shownParts('every 4h', undefined)).toEqual(readSchedule('every 4h'));
  });

  test('keeps its text where no form has a field for it', () => {
    expect(readSchedule('0 4 13 * 5')).toMatchObject({ frequency: 'cron', text: '0 4 13 * 5' });
  });
});
