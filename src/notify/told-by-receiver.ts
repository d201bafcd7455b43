/** What was told by each receiver of notices, in one text: what one has not taken is no news less for it. */
import type { ToldBook } from './attention.ts';

/** The part of one receiver. */
export function toldBy(sender: string, book: ToldBook): ToldBook {
  return {
    read: () => {
      const told = readAll(book.read());
      // Written when all were told the same.
      if (Array.isArray(told)) return JSON.stringify(told);
      const own = told[sender];
      return own === undefined ? undefined : JSON.stringify(own);
    },
    write(text) {
      const told = readAll(book.read());
      const others = Array.isArray(told)
        ? {}
        : Object.fromEntries(Object.entries(told).filter(([name]) => name !== sender));
      const all = text === undefined ? others : { ...others, [sender]: JSON.parse(text) as unknown };
      book.write(Object.keys(all).length === 0 ? undefined : JSON.stringify(all));
    },
  };
}

function readAll(text: string | undefined): unknown[] | Readonly<Record<string, unknown>> {
  return text === undefined ? {} : (JSON.parse(text) as unknown[] | Readonly<Record<string, unknown>>);
}
