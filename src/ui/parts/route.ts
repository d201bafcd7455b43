/** Which page is shown: the fragment of the address says so, as in `#/jobs/bkp_1?status=failed`. */
import { useEffect, useState } from 'preact/hooks';

export interface Route {
  /** Parts of the path: none for the first page. */
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

/** What is no encoding is taken as it stands. */
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

/** Goes to a page. `replace`: going back passes over where it was left. */
export function goTo(href: string, how: 'push' | 'replace' = 'push'): void {
  if (how === 'push') location.hash = href;
  else location.replace(href);
}

/** What is not saved on a page, and would be lost with it. */
export interface Guard {
  /** Asked before another page is shown, with its address; whoever says no has put the address back. */
  readonly mayShow: (hash: string) => boolean;
  /** Asks the person, who may have it done or not. */
  readonly ask: (leave: () => void) => void;
}

let guard: Guard | undefined;

/** At most one at a time; undefined ends it. */
export function guardLeaving(guarded: Guard | undefined): void {
  guard = guarded;
}

/** Does what ends the page without another address: at once, or when the person says so. */
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
