/** All addresses of a name. */
import { lookup, Resolver } from 'node:dns/promises';
import { errnoOf } from '../../base/errors.ts';

/**
 * Gives the A and AAAA records of a name; none when it has none.
 * @throws {Error} when that cannot be found out
 */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

/**
 * Asks name servers alone: entries of this machine's hosts file and its search domains would lead to what stands beside
 * the service. It does not take threads from the pool either, which a slow name server could use up.
 * @param servers as `dns.setServers` takes them; those of the machine when left out
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

/** One kind of address is enough; without either, a server that failed is not taken for a name without addresses. */
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

/** As every program of this machine does: for receivers of tests. */
export const resolveLocalName: Resolve = async (name) => {
  const found = await lookup(name, { all: true, order: 'verbatim' });
  return found.map(({ address }) => address);
};
