/**
 * Checks names and similar texts that people read in lists and logs: they must be a single line with something visible.
 */

/**
 * Line ends, other control characters, and lone surrogates. Characters that change the direction of text are allowed,
 * as some languages need them; they are made visible where names are shown.
 */
const NOT_IN_A_LINE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;

/** The same as schemas say it, of text that is whole; in what every engine of patterns understands. */
export const ONE_LINE = String.raw`^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*$`;

/** Text that the operating system and PostgreSQL take, as schemas say it. */
export const NO_NUL = String.raw`^[^\u0000]*$`;

/** Invisible characters. */
const UNSEEN = /[\p{C}\p{Z}\u115f\u1160\u3164\uffa0\u2800]/gu;

export function isOneLine(text: string): boolean {
  return !NOT_IN_A_LINE.test(text);
}

export function hasNothingToSee(text: string): boolean {
  return text.replaceAll(UNSEEN, '') === '';
}
