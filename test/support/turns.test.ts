import { describe, expect, test } from 'vitest';
import { rests, takesTurns, turnOf, turnOfChange } from './turns.ts';

const RUN = ['run', '--config', 'test/vitest.config.ts'];

describe('the turn of a run', () => {
  test('is that of the commit, whoever runs it', () => {
    const turns = [1, 2].map(() => turnOf([...RUN, '--reporter=json'], undefined, import.meta.dirname));
    expect(turns[0]).toBe(turns[1]);
    expect([1, 2, 3, 4]).toContain(turns[0]);
  });

  test('comes to each as changes go by', () => {
    const turns = Array.from({ length: 40 }, (_, change) => turnOfChange(`change ${change}`));
    expect(new Set(turns)).toEqual(new Set([1, 2, 3, 4]));
  });

  test.each([
    [[...RUN, 'unit/base']],
    [[...RUN, '-t', 'a name']],
    [[...RUN, '--testNamePattern=a']],
    [['run', 'a.test.ts', ...RUN.slice(1)]],
  ])('is no choice where somebody has one: %j', (words) => {
    expect(turnOf(words, undefined, import.meta.dirname)).toBe('all');
  });

  test('is what is wished for', () => {
    expect(turnOf(RUN, 'all', import.meta.dirname)).toBe('all');
    expect(turnOf([...RUN, 'a'], '3', import.meta.dirname)).toBe(3);
    for (const wish of ['5', '0', 'none', ''])
      expect(() => turnOf(RUN, wish, import.meta.dirname)).toThrow('it is all, or 1 to 4');
  });
});

test('a file waits when it has another turn, and never without one', () => {
  const content = "/** What it tests. */\n// Turn 2 of 4.\nimport 'vitest';\n";
  expect([1, 2, 3, 4, 'all' as const].map((turn) => rests(content, turn))).toEqual([
    true,
    false,
    true,
    true,
    false,
  ]);
  const always = content.replace('Turn 2', 'In turn 2');
  expect([takesTurns(content), takesTurns(always), rests(always, 1)]).toEqual([true, false, false]);
});
