/** The path prefix of the settings page, and common facts of its routes. None of them uses `Idempotency-Key`; forms take effect once by themselves. */

/** Path prefix of the settings page. */
export const CONSOLE_PREFIX = '/settings';

export type ConsolePath = typeof CONSOLE_PREFIX | `${typeof CONSOLE_PREFIX}/${string}`;

/** Whether a path belongs to the settings page, even if no such page exists. */
export function isConsolePath(path: string): boolean {
  return path === CONSOLE_PREFIX || path.startsWith(`${CONSOLE_PREFIX}/`);
}

/** Needs a session of an active account. */
export const PAGE = { scope: 'page', produces: 'text/html', idempotent: false } as const;

/** Needs a session, also of a suspended account. */
export const ACCOUNT_PAGE = { ...PAGE, suspended: 'allowed' } as const;

/** Needs no session. */
export const ENTRY = { scope: 'entry', produces: 'text/html', idempotent: false } as const;
