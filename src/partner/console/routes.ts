/** What the routes of the settings page have in common. None is repeated by `Idempotency-Key`: forms have their own way. */

/** Needs a session, of an account that is active. */
export const PAGE = { scope: 'page', produces: 'text/html', idempotent: false } as const;

/** Also for an account that is suspended. */
export const ACCOUNT_PAGE = { ...PAGE, suspended: 'allowed' } as const;

/** Needs no session. */
export const ENTRY = { scope: 'entry', produces: 'text/html', idempotent: false } as const;
