/** Says which destinations the recovery kit of this computer does not open, so that nobody throws away what does. */
import type { JSX } from 'preact';
import { useKnownDestinations } from '../agent/overview.ts';
import { Filled, Own } from '../components/own-text.tsx';
import { formatList } from '../language/format.ts';
import { t } from '../language/language.ts';

/** The names of the destinations of the settings that need something else. */
export function useNotByKit(): readonly string[] {
  return useKnownDestinations()
    .filter(({ opened_by_kit: isOpened }) => !isOpened)
    .map(({ name }) => name);
}

/** Nothing where the kit opens everything. */
export function NotByKit({ places }: { readonly places: readonly string[] }): JSX.Element | null {
  if (places.length === 0) return null;
  return (
    <p>
      <Filled text={t.app.notByKit} parts={[<Own key="places">{formatList(places)}</Own>]} />
    </p>
  );
}
