/** Small bars in a row, each a link. They are one stop of the Tab key; arrow keys move between them. */
import type { ComponentChildren, JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';

export interface StripItem {
  readonly key: string;
  readonly href: string;
  /** For the pointer and for screen readers. */
  readonly said: string;
  readonly className: string;
  readonly drawn: ComponentChildren;
}

/** @param items the oldest first; the Tab key leads to the newest */
export function Strip({
  items,
  label,
  className,
}: {
  readonly items: readonly StripItem[];
  readonly label: string;
  readonly className: string;
}): JSX.Element {
  const list = useRef<HTMLUListElement>(null);
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  const found = items.findIndex(({ key }) => key === chosen);
  const current = found < 0 ? items.length - 1 : found;
  const moved = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, number>> = {
      ArrowLeft: current - 1,
      ArrowRight: current + 1,
      Home: 0,
      End: items.length - 1,
    };
    const to = steps[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const links = list.current?.querySelectorAll('a');
    links?.[Math.max(0, Math.min(items.length - 1, to))]?.focus();
  };
  return (
    <ul class={className} ref={list} aria-label={label} onKeyDown={moved}>
      {items.map(({ key, href, said, className: look, drawn }, index) => (
        <li key={key}>
          <a
            class={look}
            href={href}
            tabIndex={index === current ? 0 : -1}
            aria-label={said}
            title={said}
            onFocus={() => setChosen(key)}
          >
            {drawn}
          </a>
        </li>
      ))}
    </ul>
  );
}
