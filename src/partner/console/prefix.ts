/** Path prefix of the settings page. */
export const CONSOLE_PREFIX = '/settings';

export type ConsolePath = typeof CONSOLE_PREFIX | `${typeof CONSOLE_PREFIX}/${string}`;

/** Whether a path belongs to the settings page, even if no such page exists. */
export function isConsolePath(path: string): boolean {
  return path === CONSOLE_PREFIX || path.startsWith(`${CONSOLE_PREFIX}/`);
}
