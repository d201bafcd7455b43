/** Signs in at an agent: swaps credentials for a token, and does it again before the token ends or once it is refused. */
import type { AccessToken } from '../../dist/client/desktop-api.d.ts';
import { HoldfastError } from './holdfast-error.ts';
import type { Connection, Identity } from './connection.ts';
import { call } from './requests.ts';

export interface Credentials {
  /** As `holdfast credentials create` printed it, or the settings page showed it. */
  readonly apiKey: string;
  readonly secret: string;
}

/** A request that begins before the token ends should also arrive before it does. */
const RENEWED_BEFORE_MS = 60_000;
/** Signing in again does not help against wrong credentials, or a credential that may not do something. */
const OF_TOKENS: ReadonlySet<string> = new Set(['UNAUTHORIZED', 'INVALID_TOKEN', 'TOKEN_EXPIRED']);
const NOBODY: Identity = { headers: async () => ({}), renews: () => false };

export function signedIn(credentials: Credentials, connection: Omit<Connection, 'identity'>): Identity {
  const { clock } = connection;
  // Requests that begin together share one token, and one request for it.
  let token: Promise<{ readonly text: string; readonly endsAt: number }> | undefined;

  async function signIn(): Promise<{ readonly text: string; readonly endsAt: number }> {
    const begun = clock.monotonic();
    const body = { api_key: credentials.apiKey, secret: credentials.secret };
    const data = await call({ ...connection, identity: NOBODY }, 'POST', '/auth/token', { body });
    const { access_token: text, expires_in: seconds } = data as AccessToken;
    return { text, endsAt: begun + seconds * 1_000 };
  }

  return {
    async headers() {
      if (token !== undefined && (await token).endsAt - RENEWED_BEFORE_MS <= clock.monotonic())
        token = undefined;
      const asked = (token ??= signIn());
      try {
        return { authorization: `Bearer ${(await asked).text}` };
      } catch (error) {
        if (token === asked) token = undefined;
        throw error;
      }
    },
    // A machine that slept has let the token end without the clock having noticed.
    renews(error: HoldfastError) {
      if (error.status !== 401 || !OF_TOKENS.has(error.code)) return false;
      token = undefined;
      return true;
    },
  };
}
