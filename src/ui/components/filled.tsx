/** A sentence with something else than plain text in it, wherever the language has it. */
import { type ComponentChildren, Fragment, type JSX } from 'preact';

/** Each `{}` of `text` is one of `parts`, in their order. */
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
