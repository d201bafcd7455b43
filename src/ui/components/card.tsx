import type { ComponentChildren, JSX } from 'preact';

export interface CardFacts {
  /** Shown above; else give `label`. */
  readonly title?: ComponentChildren;
  /** What a screen reader says it is, where no title is shown. */
  readonly label?: string;
  readonly id?: string;
  readonly className?: string;
  readonly children: ComponentChildren;
}

/** A part of a page that stands by itself. */
export function Card({ title, label, id, className, children }: CardFacts): JSX.Element {
  return (
    <section class={className === undefined ? 'card' : `card ${className}`} aria-label={label} id={id}>
      {title === undefined ? null : <h2>{title}</h2>}
      {children}
    </section>
  );
}

/** The first thing on a page: its title, what is done with all of it, and a sentence about it. */
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

/** What a list says that has nothing in it. */
export function Empty({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <div class="empty">{children}</div>;
}
