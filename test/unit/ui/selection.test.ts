import { describe, expect, it } from 'vitest';
import {
  type Chosen,
  isChosen,
  isFull,
  MOST_CHOSEN,
  NOTHING,
  toggled,
  topmost,
} from '../../../src/ui/pages/restore/selection.ts';

const entry = (path: string, isDirectory = false, path_b64: string | null = null): Chosen => ({
  path,
  path_b64,
  isDirectory,
  size_bytes: 1,
});

describe('a selection', () => {
  it('takes an entry, and gives it up again', () => {
    const one = toggled(NOTHING, 's1', entry('/a'));
    expect(isChosen(one, 's1', entry('/a'))).toBe(true);
    expect(isChosen(one, 's2', entry('/a'))).toBe(false);
    expect(toggled(one, 's1', entry('/a'))).toBe(NOTHING);
  });

  it('is of one snapshot: an entry of another begins anew', () => {
    const other = toggled(toggled(NOTHING, 's1', entry('/a')), 's2', entry('/b'));
    expect(other.snapshot).toBe('s2');
    expect([...other.entries.values()]).toEqual([entry('/b')]);
  });

  it('holds as many as a request may name', () => {
    let selection = NOTHING;
    for (let i = 0; i < MOST_CHOSEN; i += 1) selection = toggled(selection, 's', entry(`/${i}`));
    expect(isFull(selection)).toBe(true);
    expect(toggled(selection, 's', entry('/more'))).toBe(selection);
    expect(toggled(selection, 's', entry('/0')).entries.size).toBe(MOST_CHOSEN - 1);
  });

  it('names what lies in a chosen directory only by that', () => {
    const of = [entry('/d/a'), entry('/d', true), entry('/d2'), entry('/e/f')];
    const selection = of.reduce((before, one) => toggled(before, 's', one), NOTHING);
    expect(topmost(selection).map(({ path }) => path)).toEqual(['/d', '/d2', '/e/f']);
  });

  it('tells names apart that look alike', () => {
    const b64 = (text: string): string => Buffer.from(text, 'latin1').toString('base64');
    const of = [entry('/\u{FFFD}', true, b64('/\xff')), entry('/\u{FFFD}/a', false, b64('/\xfe/a'))];
    const selection = of.reduce((before, one) => toggled(before, 's', one), NOTHING);
    expect(topmost(selection)).toHaveLength(2);
  });
});
