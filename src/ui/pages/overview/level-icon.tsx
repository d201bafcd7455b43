import type { JSX } from 'preact';
import type { Headline } from '../../../api/schemas/page/overview.ts';

/** The state as a shape, beside the words that say it. */
const SHAPES: Readonly<Record<Headline['level'], string>> = {
  good: 'M16 2 28 6v9c0 7.5-5 12.6-12 15C9 27.6 4 22.5 4 15V6zm-1.6 19.6 8.6-9-2.2-2-6.4 6.8-3.3-3.3-2.1 2.1z',
  warning: 'M16 3 31 29H1zm-1.5 9v9h3v-9zm0 11v3h3v-3z',
  bad: 'M10 2h12l8 8v12l-8 8H10l-8-8V10zm4.5 6v10h3V8zm0 12v3.5h3V20z',
};

export function LevelIcon({ level }: { readonly level: Headline['level'] }): JSX.Element {
  return (
    <svg class="level-icon" viewBox="0 0 32 32" width="36" height="36" aria-hidden="true" focusable="false">
      <path fill-rule="evenodd" d={SHAPES[level]} />
    </svg>
  );
}
