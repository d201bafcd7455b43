/** Shows text from elsewhere: names of files and customers, messages, secrets, and sentences in which such text stands. */
import { type ComponentChildren, Fragment, type JSX } from 'preact';

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

/** What a button is about, if several have the same text: read out after the text, and not visible. */
export function About({ children }: { readonly children: string }): JSX.Element {
  return <span class="unseen"> {visible(children)}</span>;
}

/** Each `{}` of `text` is replaced by the next of `parts`. */
export function Filled({
  text,
  parts,
}: {
  readonly text: string;
  readonly parts: readonly ComponentChildren[];
}): JSX.Element {
  return (
    <>
      {text.split('{}').map((piece, index) => (
        <Fragment key={index}>
          {index === 0 ? null : parts[index - 1]}
          {piece}
        </Fragment>
      ))}
    </>
  );
}

/** A secret that is shown only this once. One click selects it. */
export function Secret({
  children,
  label,
}: {
  readonly children: string;
  readonly label: string;
}): JSX.Element {
  return (
    <p class="secret" aria-label={label} role="group">
      {children}
    </p>
  );
}
