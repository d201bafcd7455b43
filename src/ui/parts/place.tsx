/** Shows the name of a destination. */
import type { JSX } from 'preact';
import { useKnownDestinations } from '../agent/overview.ts';
import { Own } from '../components/own-text.tsx';
import { placeName } from './place-name.ts';

export function Place({ name }: { readonly name: string }): JSX.Element {
  const known = useKnownDestinations();
  return <Own>{placeName(name, known)}</Own>;
}
