/** Whom a client asks, as whom, and what it can be told about how. */
import type { HoldfastError } from './holdfast-error.ts';
import type { Clock } from './pauses.ts';

/** `fetch` as far as it is used. */
export type Fetch = (address: string, init: RequestInit) => Promise<Response>;

/** Who asks. */
export interface Identity {
  headers(): Promise<Readonly<Record<string, string>>>;
  /** Whether asking once more, as somebody who signed in again, may help against this error. */
  renews(error: HoldfastError): boolean;
}

export interface Connection {
  /** Up to the version, as `http://127.0.0.1:7390/v1`. */
  readonly base: string;
  readonly identity: Identity;
  readonly fetch: Fetch;
  readonly clock: Clock;
  /** Of all pauses of one request together. */
  readonly longestPauseMs: number;
}

export interface ConnectionOptions {
  /**
   * How many seconds one call may spend on pauses: when the requests of the plan are used up (429), or the service starts or
   * ends (503). A call that would have to pause for longer fails at once; its error says for how long (`retryAfterSeconds`).
   */
  readonly longestPauseSeconds?: number | undefined;
  /** In place of the one of the runtime, as for a proxy or an authority of your own. */
  readonly fetch?: Fetch | undefined;
}

/** @param version as `/v1`; people who copy an address may have copied it too */
export function connectionTo(
  address: string,
  version: string,
  { longestPauseSeconds = 60, fetch: given }: ConnectionOptions,
  clock: Clock,
): Omit<Connection, 'identity'> {
  const { href } = new URL(address);
  const base = href.endsWith('/') ? href.slice(0, -1) : href;
  return {
    base: base.endsWith(version) ? base : `${base}${version}`,
    fetch: given ?? fetch,
    clock,
    longestPauseMs: longestPauseSeconds * 1_000,
  };
}
