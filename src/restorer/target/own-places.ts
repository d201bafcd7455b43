import type { NeverPath } from '../../exclude/excluder.ts';
import { asByteString, bytesOfText, type ByteString } from '../../base/byte-path.ts';
import { RequestError } from '../../base/errors.ts';
import { placeAround } from '../../system/same-place.ts';

/**
 * Refuses a target that is one of Holdfast's own places or lies in one.
 * @param target absolute, links resolved
 * @throws {RequestError} INVALID_TARGET
 */
export function requireOutside(target: string, never: readonly NeverPath[]): void {
  const place = placeAround(bytesOfText(target), never);
  if (place === undefined) return;
  throw new RequestError('INVALID_TARGET', `${target} is, or lies in, ${place.reason}`, {
    hint: 'Choose another directory.',
    details: { path: target, reason: 'inside_state_directory' },
  });
}

/** Holdfast's own places that lie in the target, as paths below it. */
export function ownPlacesIn(target: ByteString, never: readonly NeverPath[]): readonly ByteString[] {
  const base = target === '/' ? '' : target;
  return never.flatMap(({ path }) =>
    path.startsWith(`${base}/`) ? [asByteString(path.slice(base.length))] : [],
  );
}

/**
 * Returns a test for paths that must stay because of Holdfast's own places: each place, what is in it, and what leads to it.
 */
export function keepsOwnPlaces(places: readonly ByteString[]): (path: ByteString) => boolean {
  return (path) => places.some((place) => isAtOrBelow(path, place) || isAtOrBelow(place, path));
}

function isAtOrBelow(path: ByteString, place: ByteString): boolean {
  return path === place || path.startsWith(place === '/' ? '/' : `${place}/`);
}
