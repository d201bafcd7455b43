/** What a passphrase cannot contain, as nobody would see it in a file or could type it from paper. */

export interface PassphraseFault {
  /** Follows "The passphrase". */
  readonly what: string;
  readonly hint: string;
}

const ONE_LINE = 'It must be the only line of a plain text file, in UTF-8. A variable has no line break at its end.';

/** Undefined for a passphrase that people can type. */
export function passphraseFault(text: string): PassphraseFault | undefined {
  const lines = text.replace(/[\r\n]+$/, '');
  if (/[\r\n]/.test(lines)) return { what: 'has more than one line', hint: ONE_LINE };
  if (lines !== text) return { what: 'ends with a line break', hint: ONE_LINE };
  if (/[\p{Cc}\u{FEFF}]/u.test(text)) return { what: 'contains an invisible character', hint: ONE_LINE };
  if (text.trim() !== text) return { what: 'begins or ends with a space', hint: 'Remove the space.' };
  return undefined;
}
