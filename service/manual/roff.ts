/** The few requests of man(7) that the manual pages use, and texts that are safe in them. */

/** Text of a paragraph. */
export function plain(text: string): string {
  return text
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
    .replaceAll("'", String.raw`\(aq`)
    .replaceAll('’', String.raw`\(cq`)
    .replaceAll('…', '...')
    .replaceAll(/^(?=[.])/gm, String.raw`\&`);
}

export function bold(text: string): string {
  return String.raw`\fB${plain(text)}\fR`;
}

export function italic(text: string): string {
  return String.raw`\fI${plain(text)}\fR`;
}

/** The first line of a page. */
export function title(name: string, section: number, date: string, version: string, manual: string): string {
  return `.TH "${name.toUpperCase()}" ${section} "${date}" "Holdfast ${version}" "${manual}"`;
}

export function heading(text: string): string {
  return `.SH ${text.toUpperCase()}`;
}

export function subheading(text: string): string {
  return `.SS ${plain(text)}`;
}

/** A term and what is said of it. */
export function item(term: string, text: string): string {
  return `.TP\n${term}\n${text === '' ? String.raw`\&` : text}`;
}

/** Lines as they are. */
export function literal(lines: readonly string[]): string {
  return ['.RS 4', '.nf', ...lines.map(plain), '.fi', '.RE'].join('\n');
}

export function paragraph(text: string): string {
  return `.PP\n${text}`;
}

export function page(parts: readonly string[]): string {
  return `${parts.filter((part) => part !== '').join('\n')}\n`;
}
