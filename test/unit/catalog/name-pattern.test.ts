import { describe, expect, it } from 'vitest';
import { compileNamePattern, foldName, foldText } from '../../../src/catalog/tables/name-pattern.ts';

function matches(query: string, name: string): boolean | undefined {
  return compileNamePattern(query)?.matches(foldName(Buffer.from(name)));
}

describe('compileNamePattern', () => {
  it('finds a part of a name, whatever the case', () => {
    expect(matches('port', 'Report.PDF')).toBe(true);
    expect(matches('PDF', 'Report.pdf')).toBe(true);
    expect(matches('ports', 'Report.pdf')).toBe(false);
  });

  it('takes * and ? as wildcards for the whole name', () => {
    expect(matches('*.pdf', 'Report.PDF')).toBe(true);
    expect(matches('*.pdf', 'Report.pdf.old')).toBe(false);
    expect(matches('r?port*', 'Report.pdf')).toBe(true);
    expect(matches('?', 'é')).toBe(true);
    expect(matches('?', '𝄞')).toBe(true);
    expect(matches('?', 'ab')).toBe(false);
    expect(matches('a*b*c', 'a--b--c')).toBe(true);
    expect(matches('a*b*c', 'a--c--b')).toBe(false);
    expect(matches('a*a', 'a')).toBe(false);
    expect(matches('*', '')).toBe(true);
  });

  it('knows the capital letters of every script, and both ways to write an accent', () => {
    expect(matches('ÄRZTE', 'ärzte')).toBe(true);
    expect(matches('αθηνας', 'ΑΘΗΝΑΣ')).toBe(true);
    expect(matches('caf\u00e9', 'Cafe\u0301')).toBe(true);
    expect(matches('cafe\u0301', 'CAF\u00c9')).toBe(true);
  });

  it('reads what is not UTF-8 as far as it goes', () => {
    expect(compileNamePattern('caf')?.matches(foldName(Buffer.from('Caf\xe9', 'latin1')))).toBe(true);
  });

  it('gives the longest text that a match must hold', () => {
    expect(compileNamePattern('*IMG_??.jpg')?.literal).toBe('img_');
    expect(compileNamePattern('***')?.literal).toBe('');
    expect(compileNamePattern('')).toBeUndefined();
  });

  it('takes time that grows with the name alone for a pattern with many stars', () => {
    const began = performance.now();
    expect(matches(`${'*a'.repeat(200)}b`, 'a'.repeat(4_000))).toBe(false);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it('folds text to the same form again', () => {
    for (const text of ['İ', 'ß', 'K', 'ǅ', 'e\u0301', 'Σς'])
      expect(foldText(foldText(text))).toBe(foldText(text));
  });
});
