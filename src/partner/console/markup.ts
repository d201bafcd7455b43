/** Markup of the settings page. What is put into a template is text, and escaped, unless it is markup already. */
import { BugError } from '../../base/errors.ts';

/** Made by `html` alone: nothing else turns text into markup. */
export class Markup {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  static from(strings: TemplateStringsArray, values: readonly Part[]): Markup {
    const parts = strings.flatMap((literal, index) => {
      if (index < values.length) requireQuotes(literal);
      return index < values.length ? [literal, textOf(values[index])] : [literal];
    });
    return new Markup(parts.join(''));
  }

  toString(): string {
    return this.#text;
  }
}

/** Null, undefined and false are nothing; of a list, each part. */
export type Part = string | number | Markup | null | undefined | false | readonly Part[];

export function html(strings: TemplateStringsArray, ...values: readonly Part[]): Markup {
  return Markup.from(strings, values);
}

function textOf(part: Part): string {
  if (part === null || part === undefined || part === false) return '';
  if (part instanceof Markup) return part.toString();
  if (typeof part === 'string' || typeof part === 'number') return escaped(String(part));
  return part.map(textOf).join('');
}

/** Enough in elements and in attributes within quotes. */
function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

function requireQuotes(literal: string): void {
  if (/\s[\w-]+\s*=\s*$/.test(literal)) throw new BugError('an attribute of the settings page has no quotes');
}
