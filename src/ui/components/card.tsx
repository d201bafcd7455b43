import type { ComponentChildren, JSX } from 'preact';

export interface CardFacts {
  /** Shown as a heading; without it give `label`. */
  readonly title?: ComponentChildren;
  /** The name for screen readers when there is no title. */
  readonly label?: string;
  readonly id?: string;
  readonly className?: string;
  readonly children: ComponentChildren;
}

/** A separate part of a page. */
export function Card({ title, label, id, className, children }: CardFacts): JSX.Element {
  return (
    <section class={className === undefined ? 'card' : `card ${className}`} aria-label={label} id={id}>
      {title === undefined ? null : <h2>{title}</h2>}
      {children}
    </section>
  );
}

/** The head of a page: its title, actions for all of it, and a sentence about it. */
export function PageHead({
  title,
  actions,
  children,
}: {
  readonly title: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="head">
      <h1 tabIndex={-1}>{title}</h1>
      {actions === undefined ? null : <div class="head-actions">{actions}</div>}
      {children === undefined ? null : <p>{children}</p>}
    </div>
  );
}

/** The text of an empty list. */
export function Empty({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <div class="empty">{children}</div>;
}
