import { describe, expect, test } from 'vitest';
import { rests, takesTurns, turnOf, turnOfChange } from './turns.ts';

const EACH = [1, 2, 3, 4, 5, 6, 7, 8];
const RUN = ['run', '--config', 'test/vitest.config.ts'];

describe('the turn of a run', () => {
  test('is that of the commit, whoever runs it', () => {
    const turns = [1, 2].map(() => turnOf([...RUN, '--reporter=json'], undefined, import.meta.dirname));
    expect(turns[0]).toBe(turns[1]);
    expect(EACH).toContain(turns[0]);
  });

  test('comes to each as changes go by', () => {
    const turns = Array.from({ length: 100 }, (_, change) => turnOfChange(`change ${change}`));
    expect(new Set(turns)).toEqual(new Set(EACH));
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
    for (const wish of ['9', '0', 'none', ''])
      expect(() => turnOf(RUN, wish, import.meta.dirname)).toThrow('it is all, or 1 to 8');
  });
});

test('a file waits when it has another turn, and never without one', () => {
  const content = "/** What it tests. */\n// Turn 2 of 8.\nimport 'vitest';\n";
  const runs = [...EACH, 'all' as const].filter((turn) => !rests(content, turn));
  expect(runs).toEqual([2, 'all']);
  const always = content.replace('Turn 2', 'In turn 2');
  expect([takesTurns(content), takesTurns(always), rests(always, 1)]).toEqual([true, false, false]);
});
