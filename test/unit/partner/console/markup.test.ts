import { assert, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
// By another name: what stands here is compared to the letter, and the formatter knows templates by theirs.
import { html as markup } from '../../../../src/partner/console/markup.ts';

describe('a template of the settings page', () => {
  it('escapes text, in elements and in attributes', () => {
    const hostile = `<b title="x" class='y'>&amp;</b>`;
    const escaped = '&#60;b title=&#34;x&#34; class=&#39;y&#39;&#62;&#38;amp;&#60;/b&#62;';
    expect(String(markup`<p title="${hostile}">${hostile}</p>`)).toBe(`<p title="${escaped}">${escaped}</p>`);
  });

  it('leaves no character of any text that could begin markup or end an attribute', () => {
    assert(
      property(string({ unit: 'binary' }), (text) => {
        expect(String(markup`${text}`)).not.toMatch(/[<>"']|&(?!#\d\d;)/);
      }),
    );
  });

  it('takes markup as it is, lists one after the other, and nothing for what is not there', () => {
    const row = (name: string) => markup`<li>${name}</li>`;
    const list = markup`<ul>${['<', 'b'].map(row)}${null}${undefined}${false}${0}</ul>`;
    expect(String(list)).toBe('<ul><li>&#60;</li><li>b</li>0</ul>');
  });

  it('refuses an attribute without quotes', () => {
    expect(() => markup`<p title=${'x'}>`).toThrow('no quotes');
    expect(String(markup`<a href="/x?days=${30}">`)).toBe('<a href="/x?days=30">');
  });
});
