/** Which repository was found at a place, also where that was noted by the spelling that the place had before. */
import type { KnownRepository, RepositoryStore } from '../../db/repositories.ts';
import { withoutUser } from '../../destination/location.ts';

/**
 * What was noted of a WebDAV folder without a user counts for the user who has that folder alone, until something is
 * noted of one: of several nobody knows whose it was.
 *
 * @param places of the settings
 */
export function rememberedAt(
  url: string,
  repositories: Pick<RepositoryStore, 'get' | 'all'>,
  places: readonly { readonly url: string }[],
): KnownRepository | undefined {
  const known = repositories.get(url) ?? repositories.get(formerSpelling(url));
  const folder = withoutUser(url);
  if (known !== undefined || folder === url) return known;
  const noted = repositories.get(folder);
  if (noted === undefined) return undefined;
  const isOfFolder = (one: { readonly url: string }): boolean =>
    one.url !== url && one.url !== folder && withoutUser(one.url) === folder;
  return places.some(isOfFolder) || repositories.all().some(isOfFolder) ? undefined : noted;
}

/** As URLs of SFTP were spelled that nobody could read back. */
export function formerSpelling(url: string): string {
  const [, place, path] = /^(sftp:\/\/[^/]*)(.*)$/s.exec(url) ?? [];
  if (place === undefined || path === undefined) return url;
  return place + path.replaceAll('%23', '#').replaceAll('%3F', '?');
}
