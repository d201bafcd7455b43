/** Shows text that somebody else chose: names of files, of customers, messages. */
import type { JSX } from 'preact';

/** Writes out characters that are invisible, or that would change the direction of the text around them. */
export function visible(text: string): string {
  return text.replaceAll(/\p{C}|\p{Zl}|\p{Zp}/gu, (character) => {
    const number = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return `⟨U+${number}⟩`;
  });
}

/** Isolates the direction of a text from the text around it. */
export function Own({ children }: { readonly children: string }): JSX.Element {
  return <bdi>{visible(children)}</bdi>;
}

/** A path, which may break after each of its names. */
export function Path({ children }: { readonly children: string }): JSX.Element {
  return <bdi class="path">{visible(children)}</bdi>;
}
