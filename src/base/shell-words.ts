/** Quotes words for commands that are shown as text for a shell. */

/** Quotes one word. Words that need no quotes are left alone, including those with `~`. */
export function quoted(text: string): string {
  return /^[\w./@%+=:,~-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** The same for Windows shells. */
export function quotedOnWindows(text: string): string {
  return /^[\w./\\@+=:,~-]+$/.test(text) ? text : `"${text}"`;
}
