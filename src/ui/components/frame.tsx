/** The frame around the content of every page. */
import type { ComponentChildren, JSX } from 'preact';

export interface NavigationEntry {
  readonly label: ComponentChildren;
  readonly href: string;
  readonly isCurrent: boolean;
}

export interface TopFacts {
  /** Shown after the name of the product. */
  readonly suffix?: string;
  readonly home: string;
  readonly navigation: readonly NavigationEntry[];
  /** The name of the navigation for screen readers. */
  readonly label: string;
  /** At the right: the signed-in user, and buttons. */
  readonly children: ComponentChildren;
}

export function Top({ suffix, home, navigation, label, children }: TopFacts): JSX.Element {
  return (
    <header class="top">
      <div class="bar">
        <a class="brand" href={home}>
          <Logo size={26} />
          <span>Holdfast{suffix === undefined ? null : <small> {suffix}</small>}</span>
        </a>
        <div class="who">{children}</div>
      </div>
      <nav aria-label={label}>
        <ul>
          {navigation.map((entry) => (
            <li key={entry.href}>
              <a href={entry.href} aria-current={entry.isCurrent ? 'page' : undefined}>
                {entry.label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
    </header>
  );
}

/** The mark of the product. Its name is shown beside it. */
export function Logo({ size }: { readonly size: number }): JSX.Element {
  return (
    <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden="true" focusable="false">
      <path d="M16 2 28 6v9c0 7.5-5 12.6-12 15C9 27.6 4 22.5 4 15V6z" fill="#2f6f62" />
      <path
        d="m10 16 4.5 4.5L22.5 12"
        fill="none"
        stroke="#fff"
        stroke-width="3"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
