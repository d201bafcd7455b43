/** Resolves names to all of their addresses. */
import { lookup, Resolver } from 'node:dns/promises';
import { errnoOf } from '../../base/errors.ts';

/**
 * Returns the A and AAAA records of a name; empty when it has none.
 * @throws {Error} when the records cannot be determined
 */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

/**
 * Asks name servers only: the hosts file and search domains of this machine could lead to hosts near the service. It
 * also uses no threads of the pool, which a slow name server could exhaust.
 * @param servers as `dns.setServers` takes them; those of the machine by default
 */
export function nameServerResolver(servers?: readonly string[]): Resolve {
  return async (name, signal) => {
    signal.throwIfAborted();
    const resolver = new Resolver({ timeout: 3000, tries: 2 });
    if (servers !== undefined) resolver.setServers(servers);
    const cancel = (): void => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      signal.throwIfAborted();
      return addressesOf(answers);
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };
}

/** One kind of record is enough. Without either, a failing server is not mistaken for a name without addresses. */
function addressesOf(answers: readonly PromiseSettledResult<readonly string[]>[]): readonly string[] {
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const failure = answers.find((answer) => answer.status === 'rejected' && !hasNoRecord(answer.reason));
  if (addresses.length === 0 && failure?.status === 'rejected') throw failure.reason;
  return addresses;
}

function hasNoRecord(error: unknown): boolean {
  const code = errnoOf(error);
  return code === 'ENODATA' || code === 'ENOTFOUND';
}

/** Resolves like other programs of this machine; only for test receivers. */
export const resolveLocalName: Resolve = async (name) => {
  const found = await lookup(name, { all: true, order: 'verbatim' });
  return found.map(({ address }) => address);
};
