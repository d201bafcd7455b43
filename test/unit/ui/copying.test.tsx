import { afterEach, describe, expect, test, vi } from 'vitest';
import { Command, CopyButton } from '../../../src/ui/components/command.tsx';
import { smallPage } from '../../support/small-document.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

function clipboard(writeText: (text: string) => Promise<void>): void {
  vi.stubGlobal('navigator', { languages: ['en'], clipboard: { writeText } });
}

describe.each([
  ['a command', (text: string) => <Command lines={text.split('\n')} />],
  ['a button beside a text', (text: string) => <CopyButton text={text} label="the text" />],
])('%s', (_, shown) => {
  test('is copied, and says so until it is another text', async () => {
    const copied: string[] = [];
    clipboard(async (text) => void copied.push(text));
    using page = await smallPage(shown('one\ntwo'));
    await page.press(page.button('Copy'));
    expect(copied).toEqual(['one\ntwo']);
    expect(page.button('Copied')).toBeDefined();
    await page.show(shown('one\ntwo'));
    expect(page.button('Copied')).toBeDefined();
    await page.show(shown('three'));
    expect(page.text).not.toContain('Copied');
  });

  test('that cannot be copied says that, and not that it was', async () => {
    clipboard(async () => {
      throw new DOMException('Write permission denied.', 'NotAllowedError');
    });
    using page = await smallPage(shown('one'));
    await page.press(page.button('Copy'));
    expect(page.text).toContain('Copying did not work');
    expect(page.text).not.toContain('Copied');
    await page.show(shown('two'));
    expect(page.text).not.toContain('Copying did not work');
  });

  test('of a browser without a clipboard says that, too', async () => {
    vi.stubGlobal('navigator', { languages: ['en'] });
    using page = await smallPage(shown('one'));
    await page.press(page.button('Copy'));
    expect(page.text).toContain('Copying did not work');
  });
});
