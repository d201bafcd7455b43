/** Where a location is on this machine. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The directory of an absolute path or a `file:` URL; undefined for a place elsewhere. */
export function localDirectory(url: string): string | undefined {
  if (path.isAbsolute(url)) return path.resolve(url);
  if (!/^file:\/\/\//i.test(url) || !URL.canParse(url)) return undefined;
  // No path has a slash in a name.
  if (/%2f/i.test(url)) return undefined;
  try {
    return path.resolve(fileURLToPath(url));
  } catch (error) {
    // Its bytes in percent signs are no text.
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
