import type { JSX } from 'preact';

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
