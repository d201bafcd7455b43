/** Common facts of the routes of the settings page. None of them uses `Idempotency-Key`; forms use once.ts instead. */

/** Needs a session of an active account. */
export const PAGE = { scope: 'page', produces: 'text/html', idempotent: false } as const;

/** Needs a session, also of a suspended account. */
export const ACCOUNT_PAGE = { ...PAGE, suspended: 'allowed' } as const;

/** Needs no session. */
export const ENTRY = { scope: 'entry', produces: 'text/html', idempotent: false } as const;
