/** Which repository was found at a place, also where that was noted before users were a part of a WebDAV folder's URL. */
import type { KnownRepository, RepositoryStore } from '../db/repositories.ts';
import { withoutUser } from '../destination/location.ts';

/**
 * What was noted without a user counts for the user who has that folder alone, until something is noted of one: of several
 * nobody knows whose it was.
 *
 * @param places of the settings
 */
export function rememberedAt(
  url: string,
  repositories: Pick<RepositoryStore, 'get' | 'all'>,
  places: readonly { readonly url: string }[],
): KnownRepository | undefined {
  const known = repositories.get(url);
  const folder = withoutUser(url);
  if (known !== undefined || folder === url) return known;
  const noted = repositories.get(folder);
  if (noted === undefined) return undefined;
  const isOfFolder = (one: { readonly url: string }): boolean =>
    one.url !== url && one.url !== folder && withoutUser(one.url) === folder;
  return places.some(isOfFolder) || repositories.all().some(isOfFolder) ? undefined : noted;
}
