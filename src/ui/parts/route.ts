/** Reads and changes which page is shown. The fragment of the address says so, as in `#/jobs/bkp_1?status=failed`. */
import { useEffect, useState } from 'preact/hooks';

export interface Route {
  /** Parts of the path; empty for the first page. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

export function readRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  return {
    path: path
      .split('/')
      .filter((part) => part !== '')
      .map(decoded),
    query: new URLSearchParams(query),
  };
}

/** Decodes a part of the path. A part that is not validly encoded stays as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The address of a page within this document. */
export function hrefOf(
  path: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') parts.set(name, value);
  const text = parts.toString();
  return `#/${path.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`;
}

/** Goes to a page. With `replace`, the browser's Back skips the page that is left. */
export function goTo(href: string, how: 'push' | 'replace' = 'push'): void {
  if (how === 'push') location.hash = href;
  else location.replace(href);
}

/** Guards what is not saved on a page and would be lost with it. */
export interface Guard {
  /** Called with the address of another page before that is shown. Before it returns false, it has restored the address. */
  readonly mayShow: (hash: string) => boolean;
  /** Asks the user, and calls `leave` if they agree. */
  readonly ask: (leave: () => void) => void;
}

let guard: Guard | undefined;

/** Sets the guard, of which there is at most one; undefined removes it. */
export function guardLeaving(guarded: Guard | undefined): void {
  guard = guarded;
}

/** Does something that ends the page without changing the address, such as signing out: at once, or when the user agrees. */
export function leaveBy(leave: () => void): void {
  if (guard === undefined) leave();
  else guard.ask(leave);
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const heard = (): void => {
      const { hash } = location;
      if (guard?.mayShow(hash) ?? true) setHash(hash);
    };
    addEventListener('hashchange', heard);
    return () => removeEventListener('hashchange', heard);
  }, []);
  return readRoute(hash);
}
