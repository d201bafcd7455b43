/** The exclude pattern that names one path of a source and no other. */
import { relative, sep } from 'node:path';

/** Also of a directory itself. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/** As in .gitignore: from the source on, with whatever means more than itself escaped. */
export function patternFor(path: string, source: string): string {
  const below = relative(source, path).split(sep).join('/');
  return `/${below.replaceAll(/[\\*?[\]]/g, String.raw`\$&`).replace(/ $/, String.raw`\ `)}`;
}
