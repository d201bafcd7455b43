/** Where the settings page stands. */
export const CONSOLE_PREFIX = '/settings';

export type ConsolePath = typeof CONSOLE_PREFIX | `${typeof CONSOLE_PREFIX}/${string}`;

/** Whether a path is the settings page's, whether or not there is such a page. */
export function isConsolePath(path: string): boolean {
  return path === CONSOLE_PREFIX || path.startsWith(`${CONSOLE_PREFIX}/`);
}
