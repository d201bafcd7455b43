/** The connections to a store by HTTP: kept, through the proxy of the environment, trusting whom the system trusts. */
import { DestinationError } from '../base/errors.ts';
import { ProxyUnusable } from '../base/web/proxy.ts';
import { webAgents, type WebAgents, type WebAgentOptions } from '../base/web/web-agents.ts';

/**
 * @param url for people: the plain URL of the destination
 * @throws {DestinationError} unsupported: it would be asked through a proxy that cannot be used
 */
export function storeAgents(options: WebAgentOptions, url: string): WebAgents {
  try {
    return webAgents({ keepAlive: true, ...options });
  } catch (error) {
    if (!(error instanceof ProxyUnusable)) throw error;
    throw new DestinationError('unsupported', `Cannot reach ${url}: ${error.message}`, {
      op: 'open',
      hint: error.hint,
      cause: error,
    });
  }
}
