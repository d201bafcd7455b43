/** The exclude pattern that names one path of a source and no other. */
import { relative, sep } from 'node:path';

/** True for the directory itself, too. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/** The pattern, as in .gitignore: anchored at the source, with special characters escaped. */
export function patternFor(path: string, source: string): string {
  const below = relative(source, path).split(sep).join('/');
  return `/${below.replaceAll(/[\\*?[\]]/g, String.raw`\$&`).replace(/ $/, String.raw`\ `)}`;
}
