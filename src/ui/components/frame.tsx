/** The frame around the content of every page. */
import type { ComponentChildren, JSX } from 'preact';
import { Logo } from './logo.tsx';

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
