import { assert, property, string } from 'fast-check';
import { render } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import { field } from '../../../../src/partner/console/forms.tsx';
import { own } from '../../../../src/partner/console/shown.tsx';

describe('a page of the console', () => {
  it('escapes text, in elements and in attributes', () => {
    const hostile = `<b title="x" class='y'>&amp;</b>`;
    expect(render(own(hostile))).toBe(`<bdi>&lt;b title=&quot;x&quot; class='y'>&amp;amp;&lt;/b></bdi>`);
    expect(render(field({ name: 'name', label: 'Name', value: hostile }))).toContain(
      'value="&lt;b title=&quot;x&quot;',
    );
  });

  it('leaves no character of any text that could begin markup or end an attribute', () => {
    assert(
      property(string({ unit: 'binary' }), (text) => {
        const shown = render(own(text))
          .replace(/^<bdi>/, '')
          .replace(/<\/bdi>$/, '');
        expect(shown).not.toMatch(/[<"]|&(?!(?:lt|quot|amp);)/);
      }),
    );
  });

  it('writes out characters that would not be seen, or would turn the text around them', () => {
    expect(render(own('a\u202eb\u0000'))).toBe('<bdi>a⟨U+202E⟩b⟨U+0000⟩</bdi>');
  });
});
