/** What both clients can be told about how they ask. */
import type { Clock } from './pauses.ts';
import type { Connection, Fetch } from './requests.ts';

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
