/**
 * Seals of the settings page: values that it issues and later verifies. Nobody else can create them, and none is
 * stored.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { PartnerLogin } from '../store/partners.ts';

export interface Seals {
  /** Token for the forms of one session. */
  formToken(sessionToken: string): string;
  isFormToken(sessionToken: string, given: string): boolean;
  /** Proves, until `untilMs`, that the password of the account was correct. Signing in with a code needs it. */
  ticket(login: PartnerLogin, untilMs: number): string;
  /** False as well when the password or the second factor has changed since. */
  isTicket(login: PartnerLogin, nowMs: number, given: string): boolean;
  /** Value for the cookie of a browser in which the partner has signed in. */
  newBrowser(partnerId: string): string;
  isBrowser(partnerId: string, given: string): boolean;
}

export function createSeals(key: Uint8Array): Seals {
  const seal = (use: string, ...parts: readonly (string | number)[]): string =>
    createHmac('sha256', key)
      .update(JSON.stringify([use, ...parts]))
      .digest('base64url');
  const ticketSeal = ({ id, passwordHash, totpSecret }: PartnerLogin, until: number): string =>
    seal('ticket', id, passwordHash, totpSecret ?? '', until);

  return {
    formToken: (sessionToken) => seal('form', sessionToken),
    isFormToken: (sessionToken, given) => isSame(seal('form', sessionToken), given),
    ticket: (login, untilMs) => `${untilMs}.${ticketSeal(login, untilMs)}`,
    isTicket: (login, nowMs, given) => {
      const [until = '', sealed = ''] = given.split('.');
      return Number(until) > nowMs && isSame(ticketSeal(login, Number(until)), sealed);
    },
    newBrowser: (partnerId) => {
      const name = randomBytes(16).toString('base64url');
      return `${name}.${seal('browser', partnerId, name)}`;
    },
    isBrowser: (partnerId, given) => {
      const [name = '', sealed = ''] = given.split('.');
      return isSame(seal('browser', partnerId, name), sealed);
    },
  };
}

function isSame(wanted: string, given: string): boolean {
  const [a, b] = [Buffer.from(wanted), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
