import { expect, test } from 'vitest';
import { daySections } from '../../../src/ui/pages/settings/performance-settings.tsx';

test('without limits there is no day to show', () => {
  expect(daySections([])).toEqual([]);
  expect(daySections([{ from: '', uploadLimit: '1 MiB' }])).toEqual([]);
});

test('a limit holds until the next one, and the last one over midnight', () => {
  const rules = [
    { from: '18:00', uploadLimit: null },
    { from: '08:30', uploadLimit: '2 MiB' },
  ];
  expect(daySections(rules)).toEqual([
    { from: '00:00', to: '08:30', minutes: 510, limit: null },
    { from: '08:30', to: '18:00', minutes: 570, limit: '2 MiB' },
    { from: '18:00', to: '24:00', minutes: 360, limit: null },
  ]);
});

test('one limit holds all day', () => {
  expect(daySections([{ from: '00:00', uploadLimit: '1 MiB' }])).toEqual([
    { from: '00:00', to: '24:00', minutes: 1440, limit: '1 MiB' },
  ]);
});

test('a limit that begins at midnight ends the one before', () => {
  const rules = [
    { from: '00:00', uploadLimit: null },
    { from: '07:00', uploadLimit: '1 MiB' },
  ];
  expect(daySections(rules).map(({ from, limit }) => [from, limit])).toEqual([
    ['00:00', null],
    ['07:00', '1 MiB'],
  ]);
});
