import type { JSX } from 'preact';

/** A secret that is shown only this once. One click selects it. */
export function Secret({
  children,
  label,
}: {
  readonly children: string;
  readonly label: string;
}): JSX.Element {
  return (
    <p class="secret" aria-label={label} role="group">
      {children}
    </p>
  );
}
