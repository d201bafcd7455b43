/** Milliseconds of simulated time. */

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Of storage time, between marking and deleting: the default of a new repository. */
export const GRACE_MS = 72 * HOUR;
