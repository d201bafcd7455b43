import { expect, test } from 'vitest';
import { shownDestination } from '../../../src/config/embedded-repository.ts';
import { placeName } from '../../../src/ui/parts/place.tsx';

const embedded = { name: 'default', url: '/state/repository', passphrase: null };
const nas = { name: 'nas', url: '/mnt/nas', passphrase: null };

/** As the command line says it, and as the page does. */
function both(name: string, destinations: readonly (typeof nas)[]): readonly string[] {
  const known = destinations.map((one) => ({ name: one.name, is_embedded: one.url === embedded.url }));
  return [shownDestination(name, { destinations, embedded }), placeName(name, known)];
}

test('the repository on this computer has one name on the page and one in commands, whichever destination is the default one', () => {
  expect(both('default', [embedded])).toEqual(['embedded', 'On this computer']);
  // Jobs of before keep the name.
  expect(both('default', [nas, { ...embedded, name: 'embedded' }])).toEqual(['embedded', 'On this computer']);
  expect(both('nas', [nas])).toEqual(['nas', 'nas']);
});

test('another place that the settings give one of its names to is not taken for it', () => {
  expect(both('default', [{ ...nas, name: 'default' }])).toEqual(['default', 'default']);
  expect(both('default', [embedded, { ...nas, name: 'embedded' }])).toEqual(['default', 'default']);
});
