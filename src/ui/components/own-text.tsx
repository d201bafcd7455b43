/** Text that somebody else chose: names of files, of customers, messages. */
import type { JSX } from 'preact';

/** Characters that would not be seen, or would turn the text around them, are written out. */
export function visible(text: string): string {
  return text.replaceAll(/\p{C}|\p{Zl}|\p{Zp}/gu, (character) => {
    const number = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return `⟨U+${number}⟩`;
  });
}

/** Whatever direction it is written in, what stands beside it keeps its own. */
export function Own({ children }: { readonly children: string }): JSX.Element {
  return <bdi>{visible(children)}</bdi>;
}

/** A path, which may break after each of its names. */
export function Path({ children }: { readonly children: string }): JSX.Element {
  return <bdi class="path">{visible(children)}</bdi>;
}
