/**
 * Holdfast's own places in the target of a restore: nothing is written to them, and nothing of them is removed. They are
 * recognised by path and by identity, since one place may have several paths, and where case is ignored many spellings.
 */
import type { NeverPath } from '../../exclude/excluder.ts';
import {
  asByteString,
  type ByteString,
  isWithin,
  joinBytes,
  pathAbove,
  pathNames,
} from '../../base/byte-path.ts';
import { RequestError } from '../../base/errors.ts';
import { foldedPath, otherSpellings } from '../../base/spellings.ts';
import { treePath } from '../../base/tree-path.ts';
import { identityAt, identityOf, placeAround } from '../../system/same-place.ts';
import type { OwnPlaceInside } from '../request/selection.ts';

/**
 * Refuses a target that is one of Holdfast's own places or lies in one.
 * @param target absolute, links resolved
 * @throws {RequestError} INVALID_TARGET
 */
export function requireOutside(target: string, never: readonly NeverPath[]): void {
  const place = placeAround(treePath(target), never);
  if (place === undefined) return;
  throw new RequestError('INVALID_TARGET', `${target} is ${place.reason}, or in it`, {
    hint: 'Choose another directory.',
    details: { path: target, reason: 'inside_state_directory' },
  });
}

/** Whether a directory is one of Holdfast's own places, by its identity. */
export type OwnTest = (found: { readonly dev: bigint; readonly ino: bigint }) => boolean;

export function ownTest(never: readonly NeverPath[]): OwnTest {
  const identities = new Set(never.map(({ identity }) => identity));
  return (found) => identities.has(identityOf(found));
}

type IdentityAt = (path: ByteString) => string | undefined;

/** Holdfast's own places that lie in the target, under whatever name the target was given. */
export function ownPlacesIn(
  target: ByteString,
  never: readonly NeverPath[],
  identify: IdentityAt = identityAt,
): readonly OwnPlaceInside[] {
  const itself = never.length === 0 ? undefined : identify(target);
  return never.flatMap(({ path }) => {
    const above = directoriesAbove(path).find(
      (one) => one === target || (itself !== undefined && identify(one) === itself),
    );
    if (above === undefined) return [];
    const below = asByteString(path.slice(above === '/' ? 0 : above.length));
    return [{ path: below, ignoresCase: ignoresCase(above, below, identify) }];
  });
}

function directoriesAbove(path: ByteString): readonly ByteString[] {
  const found: ByteString[] = [];
  for (let at = path; pathAbove(at) !== at;) {
    at = pathAbove(at);
    found.push(at);
  }
  return found;
}

/** Whether the place is found by another spelling of any name on the way to it. */
function ignoresCase(above: ByteString, below: ByteString, identify: IdentityAt): boolean {
  let directory = above;
  for (const name of pathNames(below)) {
    const here = joinBytes(directory, name);
    const itself = identify(here);
    const others = otherSpellings(name).map((other) => identify(joinBytes(directory, other)));
    if (itself !== undefined && others.includes(itself)) return true;
    directory = here;
  }
  return false;
}

/**
 * Returns a test for paths that must stay because of Holdfast's own places: each place, what is in it, and what leads to it.
 */
export function keepsOwnPlaces(places: readonly OwnPlaceInside[]): (path: ByteString) => boolean {
  const folded = places.map((place) => ({ ...place, folded: foldedPath(place.path) }));
  return (path) =>
    folded.some((place) => {
      const [asked, own] = place.ignoresCase ? [foldedPath(path), place.folded] : [path, place.path];
      return isWithin(asked, own) || isWithin(own, asked);
    });
}
