/** Where a path leads, also when not all of it is there. */
import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { bytesOfText, isUtf8, textOfBytes, type ByteString } from '../base/byte-path.ts';
import { errnoOf } from '../base/errors.ts';
import { farPlaceOf } from './far-mounts.ts';

/** Links in a row, beyond which they lead nowhere. */
const MOST_LINKS = 40;

/** Where a path leads, or would lead if everything were there: links are followed as far as they can be read. */
export function whereItLies(path: string, links = 0): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errnoOf(error) ?? '')) return path;
  }
  const above = dirname(path);
  if (above === path) return path;
  const here = join(whereItLies(above, links), basename(path));
  const leadsTo = linkAt(here);
  if (leadsTo === undefined || links === MOST_LINKS) return here;
  return whereItLies(resolve(dirname(here), leadsTo), links + 1);
}

/** The same for who must not wait: what lies on a file system from elsewhere is not touched, whatever links are in there. */
export function whereItLeads(path: string): string {
  const far = farPlaceOf(bytesOfText(path));
  return far === undefined ? whereItLies(path) : textOfBytes(far.path);
}

/**
 * What a path can mean in a snapshot beside itself: where it leads, a link at its end taken for itself or followed.
 * @param path absolute
 */
export function wherePathLeads(path: ByteString): readonly ByteString[] {
  const text = textOfBytes(path);
  // No such path was typed on this machine, or none that leads anywhere.
  if (!isUtf8(path) || !isAbsolute(text) || text === '/') return [];
  const itself = join(whereItLeads(dirname(text)), basename(text));
  return [...new Set([itself, whereItLeads(text)])].filter((one) => one !== text).map(bytesOfText);
}

function linkAt(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
      ? readlinkSync(path)
      : undefined;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
