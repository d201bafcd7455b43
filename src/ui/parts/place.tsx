/** Shows the name of a destination. */
import type { JSX } from 'preact';
import type { OverviewDestination } from '../../api/schemas/page/overview.ts';
import { useKnownDestinations } from '../agent/overview.ts';
import { Own, visible } from '../components/own-text.tsx';
import { t } from '../language/language.ts';

export function Place({ name }: { readonly name: string }): JSX.Element {
  const known = useKnownDestinations();
  return <Own>{placeName(name, known)}</Own>;
}

type Known = Pick<OverviewDestination, 'name' | 'is_embedded'>;

/**
 * The embedded repository is `default` to programs while it is the default destination, and jobs of that time keep the
 * name; otherwise it is `embedded`. People see one name that says where it is, unless the settings give one of the two
 * names to another place. A name that the settings give to it is shown as it is.
 */
export function placeName(name: string, known: readonly Known[]): string {
  if (!EMBEDDED_NAMES.has(name) || known.length === 0) return name;
  const isOther = known.some((one) => !one.is_embedded && EMBEDDED_NAMES.has(one.name));
  return isOther ? name : t.destinations.here;
}

const EMBEDDED_NAMES: ReadonlySet<string> = new Set(['default', 'embedded']);

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
