import type { ComponentChildren, JSX } from 'preact';

export type Look = 'good' | 'warning' | 'bad' | 'plain';

/** A state as a word. Its colour adds nothing that the word does not say. */
export function Tag({
  look = 'plain',
  children,
}: {
  readonly look?: Look;
  readonly children: ComponentChildren;
}): JSX.Element {
  return <span class={look === 'plain' ? 'tag' : `tag ${look}`}>{children}</span>;
}

/** Something that has just happened, or needs attention. `urgent` is read out at once. */
export function Notice({
  look,
  urgent = false,
  children,
}: {
  readonly look: Exclude<Look, 'plain'>;
  readonly urgent?: boolean;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div class={`note ${look}`} role={urgent ? 'alert' : 'status'}>
      {children}
    </div>
  );
}
