import type { ButtonHTMLAttributes, ComponentChildren, JSX } from 'preact';

export type ButtonLook = 'main-action' | 'danger' | 'plain' | 'plain danger' | 'bare';

type ButtonFacts = ButtonHTMLAttributes & {
  readonly look?: ButtonLook;
  readonly children: ComponentChildren;
};

/** A button of a form sends it; any other says `type="button"`. */
export function Button({ look, children, ...button }: ButtonFacts): JSX.Element {
  return (
    <button class={look} {...button}>
      {children}
    </button>
  );
}

/** A button that first says what would happen, and asks. Works without a script. */
export function AskFirst({
  label,
  look,
  question,
  children,
}: {
  readonly label: ComponentChildren;
  readonly look?: ButtonLook;
  readonly question: ComponentChildren;
  /** What does it: a button or a form. */
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <details class="ask">
      <summary class={look === undefined ? 'button' : `button ${look}`}>{label}</summary>
      <p>{question}</p>
      {children}
    </details>
  );
}

/** Buttons beside each other below what they are about. */
export function Actions({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <div class="actions">{children}</div>;
}
