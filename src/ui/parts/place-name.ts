/** The names of destinations as shown to people. */
import type { OverviewDestination } from '../../api/schemas/page/overview.ts';

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

/** A statement with destination names as shown to people. */
export function withPlaceNames<T extends { readonly to: readonly string[] }>(
  said: T,
  known: readonly Known[],
): T & { readonly to: string[] } {
  return { ...said, to: said.to.map((name) => placeName(name, known)) };
}
