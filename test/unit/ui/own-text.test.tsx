import { render } from 'preact-render-to-string';
import { describe, expect, test } from 'vitest';
import { Own, Path } from '../../../src/ui/components/own-text.tsx';
import { HOSTILE_NAMES } from '../../support/hostile-names.ts';

describe.each([
  ['a name', Own, '<bdi>'],
  ['a path', Path, '<bdi class="path">'],
] as const)('%s that somebody else chose', (_, Component, begin) => {
  test('is text, whatever is in it', () => {
    for (const name of HOSTILE_NAMES) {
      const shown = render(<Component>{name}</Component>);
      expect(shown.startsWith(begin)).toBe(true);
      expect(shown.slice(begin.length, -'</bdi>'.length), name).not.toMatch(/</);
    }
  });

  test('has what cannot be seen, or turns the text around it, written out', () => {
    expect(render(<Component>{'a\u202eb\u0000c\u2066\u2028\u200b'}</Component>)).toBe(
      `${begin}a⟨U+202E⟩b⟨U+0000⟩c⟨U+2066⟩⟨U+2028⟩⟨U+200B⟩</bdi>`,
    );
  });
});
