/** Commands as text for a shell. */

/** One word; what needs no quotes stays as it is, a `~` too. */
export function quoted(text: string): string {
  return /^[\w./@%+=:,~-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** The same for the shells of Windows. */
export function quotedOnWindows(text: string): string {
  return /^[\w./\\@+=:,~-]+$/.test(text) ? text : `"${text}"`;
}
