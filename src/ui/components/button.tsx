import type { ButtonHTMLAttributes, ComponentChildren, JSX } from 'preact';

export type ButtonLook = 'main-action' | 'danger' | 'plain' | 'plain danger' | 'bare';

type ButtonFacts = ButtonHTMLAttributes & {
  readonly look?: ButtonLook;
  readonly children: ComponentChildren;
};

/** A button. Within a form it submits, unless it has `type="button"`. */
export function Button({ look, children, ...button }: ButtonFacts): JSX.Element {
  return (
    <button class={look} {...button}>
      {children}
    </button>
  );
}

/** A button that first says what would happen, and asks. Works without JavaScript. */
export function AskFirst({
  label,
  look,
  question,
  children,
}: {
  readonly label: ComponentChildren;
  readonly look?: ButtonLook;
  readonly question: ComponentChildren;
  /** The button or form that does it. */
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

/** A row of buttons below what they are about. */
export function Actions({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <div class="actions">{children}</div>;
}
