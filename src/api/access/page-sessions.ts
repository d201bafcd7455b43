/**
 * Who may use the product's own page: a one-time code, given out over the local socket and carried to the browser in the
 * fragment of an address, is swapped for a session, which the browser keeps in a cookie. Both are in memory alone and
 * end with the agent.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';

export const PAGE_LIMITS = Object.freeze({
  /** That a code can be used. Milliseconds, as all here. */
  codeMs: 60_000,
  /** Without a request, after which a session ends. */
  idleMs: 12 * 3_600_000,
  /** After which it ends however busy it is. */
  sessionMs: 7 * 86_400_000,
  /** Of each; the oldest goes when there are more. */
  most: 32,
});

/** 256 bits. */
const TOKEN_BYTES = 32;

export interface PageSessions {
  /** A new one-time code. `user`: the id of the only user of this machine whose browser may use it; null for any. */
  newCode(user: number | null): string;
  /**
   * A new session for a code, which is used up, for the user that `peer` tells of. Undefined when there is no such code,
   * it was used or is too old, or is bound to another user.
   */
  open(code: string, peer: Peer): Promise<string | undefined>;
  /** Whether a session has this token, and it is used by the user who opened it. */
  use(token: string, peer: Peer): Promise<boolean>;
  /** Whether a session has this token, for a request that began when it had. Does not count as use. */
  holds(token: string): boolean;
  end(token: string): void;
}

/** Whose program sends the request; undefined where that cannot be told. */
export type Peer = () => Promise<number | undefined>;

interface Code {
  readonly user: number | null;
  /** Monotonic, as the others. */
  readonly endsMs: number;
}

interface Session {
  /** Cookies go to every port of this machine: another user's server that was sent one can do nothing with it. */
  readonly user: number | undefined;
  readonly endsMs: number;
  idleEndsMs: number;
}

export function createPageSessions(clock: Clock): PageSessions {
  /** By their hashes: how long a look-up takes says nothing about a code or token. */
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
      // Somebody else who has seen the code does not use it up.
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
