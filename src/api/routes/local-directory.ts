/** Resolves locations to directories of this machine. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The directory of an absolute path or a `file:` URL; undefined for a place elsewhere. */
export function localDirectory(url: string): string | undefined {
  if (path.isAbsolute(url)) return path.resolve(url);
  if (!/^file:\/\/\//i.test(url) || !URL.canParse(url)) return undefined;
  // An encoded slash would be part of a name, and no file name contains a slash.
  if (/%2f/i.test(url)) return undefined;
  try {
    return path.resolve(fileURLToPath(url));
  } catch (error) {
    // The percent-encoded bytes are not UTF-8.
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
