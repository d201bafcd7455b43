/** Looks up the repository that was found at a place, also under earlier spellings of the place. */
import type { KnownRepository, RepositoryStore } from '../../db/repositories.ts';
import { withoutUser } from '../../destination/location.ts';

/**
 * A note about a WebDAV folder without a user applies to the only user of that folder, until there is a note with a
 * user. With several users it is unknown whose it was.
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

/** The former spelling of an SFTP URL, which could not be parsed back. */
export function formerSpelling(url: string): string {
  const [, place, path] = /^(sftp:\/\/[^/]*)(.*)$/s.exec(url) ?? [];
  if (place === undefined || path === undefined) return url;
  return place + path.replaceAll('%23', '#').replaceAll('%3F', '?');
}
