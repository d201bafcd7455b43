/** Shows the name of a destination. */
import type { JSX } from 'preact';
import type { OverviewDestination } from '../../api/schemas/page/overview.ts';
import { useKnownDestinations } from '../agent/overview.ts';
import { Own, visible } from '../components/own-text.tsx';

export function Place({ name }: { readonly name: string }): JSX.Element {
  const known = useKnownDestinations();
  return <Own>{placeName(name, known)}</Own>;
}

type Known = Pick<OverviewDestination, 'name' | 'is_embedded'>;

/**
 * The embedded repository is `default` to programs while it is the default destination, and jobs of that time keep the
 * name. People see `embedded`, unless the settings give one of the two names to another place.
 */
export function placeName(name: string, known: readonly Known[]): string {
  if (name !== 'default' || known.length === 0) return name;
  const isOther = known.some(
    (one) => !one.is_embedded && (one.name === 'default' || one.name === 'embedded'),
  );
  return isOther ? name : 'embedded';
}

/** Names destinations where only plain text fits, as in choices and labels. */
export function useShownName(): (name: string) => string {
  const known = useKnownDestinations();
  return (name) => visible(placeName(name, known));
}

/** A statement with destination names as shown to people. */
export function withPlaceNames<T extends { readonly to: readonly string[] }>(
  said: T,
  known: readonly Known[],
): T & { readonly to: string[] } {
  return { ...said, to: said.to.map((name) => placeName(name, known)) };
}
