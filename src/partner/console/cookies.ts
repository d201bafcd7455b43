/** Cookies of the settings page. Scripts cannot read them, and browsers do not send them with requests from other sites. */
import type { IncomingMessage } from 'node:http';
import { soleHeader } from '../../api/wire/sole-header.ts';
import { SESSION_MS } from '../store/sessions.ts';

export interface Cookies {
  readonly session: CookieKind;
  /** Identifies a browser in which a partner has signed in. */
  readonly browser: CookieKind;
}

export interface CookieKind {
  /** The value, if the request carries the cookie exactly once. */
  read(request: Pick<IncomingMessage, 'rawHeaders'>): string | undefined;
  /** The `Set-Cookie` header that stores the value. */
  keep(value: string): string;
  /** The `Set-Cookie` header that removes the cookie. */
  forget(): string;
}

const BROWSER_MS = 180 * 86_400_000;

/**
 * @param secure whether partners reach the page over https. Browsers then protect the cookies from other hosts and from
 * plain http.
 */
export function createCookies(secure: boolean): Cookies {
  return {
    session: cookie('holdfast_session', secure, SESSION_MS),
    browser: cookie('holdfast_browser', secure, BROWSER_MS),
  };
}

function cookie(plainName: string, secure: boolean, keptMs: number): CookieKind {
  const name = secure ? `__Host-${plainName}` : plainName;
  const line = (value: string, seconds: number): string =>
    `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
  return {
    read: ({ rawHeaders }) => {
      const values = (soleHeader(rawHeaders, 'cookie') ?? '')
        .split(';')
        .map((part) => part.trim())
        .filter((part) => part.startsWith(`${name}=`))
        .map((part) => part.slice(name.length + 1));
      return values.length === 1 ? values[0] : undefined;
    },
    keep: (value) => line(value, Math.floor(keptMs / 1_000)),
    forget: () => line('', 0),
  };
}
