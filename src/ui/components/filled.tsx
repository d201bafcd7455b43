/** A sentence that contains more than plain text, wherever the language puts it. */
import { type ComponentChildren, Fragment, type JSX } from 'preact';

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
