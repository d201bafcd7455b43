/** Parses the address of the store in the settings: `sqlite:FILE` or `postgres://…`. */
import { RequestError } from '../../base/errors.ts';

export type StoreAddress =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string };

/** @throws {RequestError} INVALID_URL, without repeating the text, which may contain a password */
export function parseStoreAddress(text: string): StoreAddress {
  if (text.startsWith('sqlite:') && text.length > 'sqlite:'.length)
    return { kind: 'sqlite', path: text.slice('sqlite:'.length) };
  if (/^postgres(?:ql)?:\/\//.test(text) && URL.canParse(text)) return { kind: 'postgres', url: text };
  throw new RequestError('INVALID_URL', 'The setting of the store names no database', {
    hint: 'Write sqlite:FILE, or postgres://USER:PASSWORD@HOST/DATABASE.',
  });
}
