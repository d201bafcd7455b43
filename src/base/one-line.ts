/** Names and the like, which people read in lists and in the log: one line with something to see in it. */

/**
 * Ends of lines, other control characters, halves of characters. What turns the direction of text belongs to some languages;
 * where names are shown it is made visible.
 */
const NOT_IN_A_LINE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;

/** What nobody sees. */
const UNSEEN = /[\p{C}\p{Z}\u115f\u1160\u3164\uffa0\u2800]/gu;

export function isOneLine(text: string): boolean {
  return !NOT_IN_A_LINE.test(text);
}

export function hasNothingToSee(text: string): boolean {
  return text.replaceAll(UNSEEN, '') === '';
}
