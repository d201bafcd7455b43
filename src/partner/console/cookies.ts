/** Cookies of the settings page: never seen by scripts, never sent with what another site asks for. */
import type { IncomingMessage } from 'node:http';
import { soleHeader } from '../../api/wire/sole-header.ts';
import { SESSION_MS } from '../store/sessions.ts';

export interface Cookies {
  readonly session: CookieKind;
  /** Of a browser that signed in before. */
  readonly browser: CookieKind;
}

export interface CookieKind {
  /** The value, when the request carries exactly one. */
  read(request: Pick<IncomingMessage, 'rawHeaders'>): string | undefined;
  /** The `Set-Cookie` header that has it kept. */
  keep(value: string): string;
  /** … that has it forgotten. */
  forget(): string;
}

const BROWSER_MS = 180 * 86_400_000;

/** `secure`: partners reach the page by https; then browsers keep the cookies from other hosts and from plain http. */
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
