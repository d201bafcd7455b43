/**
 * Sessions of the product's own page. A one-time code, issued over the local socket and passed to the browser in the
 * fragment of a URL, is exchanged for a session, which the browser keeps in a cookie. Codes and sessions are kept in
 * memory only and end with the agent.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';

export const PAGE_LIMITS = Object.freeze({
  /** How long a code can be used. Milliseconds, as are all durations here. */
  codeMs: 60_000,
  /** Time without a request after which a session ends. */
  idleMs: 12 * 3_600_000,
  /** Time after which a session ends even if it is in use. */
  sessionMs: 7 * 86_400_000,
  /** Most codes, and most sessions, at a time; when there are more, the oldest is dropped. */
  most: 32,
});

/** 256 bits. */
const TOKEN_BYTES = 32;

export interface PageSessions {
  /** Creates a one-time code. `user`: id of the only local user whose browser may use it; null for any user. */
  newCode(user: number | null): string;
  /**
   * Opens a session for a code, which is then used up, on behalf of the user that `peer` finds. Undefined when the code
   * does not exist, was used, is too old, or is bound to another user.
   */
  open(code: string, peer: Peer): Promise<string | undefined>;
  /**
   * Whether a session has this token and the request comes from the user who opened it. Extends the session's idle
   * time.
   */
  use(token: string, peer: Peer): Promise<boolean>;
  /** Whether the session of a request that is already running still exists. Does not extend its idle time. */
  holds(token: string): boolean;
  end(token: string): void;
}

/** Finds the user whose program sends the request; undefined where that cannot be determined. */
export type Peer = () => Promise<number | undefined>;

interface Code {
  readonly user: number | null;
  /** By the monotonic clock, as are the other times here. */
  readonly endsMs: number;
}

interface Session {
  /**
   * The user who opened the session. Browsers send cookies to every port of this machine, and another user's server
   * that receives one must not be able to use it.
   */
  readonly user: number | undefined;
  readonly endsMs: number;
  idleEndsMs: number;
}

export function createPageSessions(clock: Clock): PageSessions {
  /** Keyed by hashes, so that the time of a look-up reveals nothing about a code or token. */
  const codes = new Map<string, Code>();
  const sessions = new Map<string, Session>();
  const sessionOf = (name: string): Session | undefined => {
    const session = sessions.get(name);
    const nowMs = clock.monotonic();
    if (session !== undefined && nowMs < session.endsMs && nowMs < session.idleEndsMs) return session;
    sessions.delete(name);
    return undefined;
  };

  return {
    newCode(user) {
      const code = newToken();
      keep(codes, hashOf(code), { user, endsMs: clock.monotonic() + PAGE_LIMITS.codeMs });
      return code;
    },

    async open(code, peer) {
      const name = hashOf(code);
      const wanted = codes.get(name)?.user;
      if (wanted === undefined) return undefined;
      const user = await peer();
      // Another user who has seen the code must not use it up.
      if (wanted !== null && wanted !== user) return undefined;
      const found = codes.get(name);
      codes.delete(name);
      const nowMs = clock.monotonic();
      if (found === undefined || nowMs >= found.endsMs) return undefined;
      const token = newToken();
      const { sessionMs, idleMs } = PAGE_LIMITS;
      keep(sessions, hashOf(token), { user, endsMs: nowMs + sessionMs, idleEndsMs: nowMs + idleMs });
      return token;
    },

    async use(token, peer) {
      const session = sessionOf(hashOf(token));
      const nowMs = clock.monotonic();
      if (session === undefined) return false;
      if (session.user !== undefined && (await peer()) !== session.user) return false;
      session.idleEndsMs = nowMs + PAGE_LIMITS.idleMs;
      return true;
    },

    holds: (token) => sessionOf(hashOf(token)) !== undefined,

    end(token) {
      sessions.delete(hashOf(token));
    },
  };
}

function keep<Value>(map: Map<string, Value>, name: string, value: Value): void {
  map.set(name, value);
  const [oldest] = map.keys();
  if (map.size > PAGE_LIMITS.most && oldest !== undefined) map.delete(oldest);
}

function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

function hashOf(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('base64');
}
