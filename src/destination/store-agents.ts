/**
 * Connections to a store by HTTP: kept alive, through the proxy of the environment, with the certificates that the
 * system trusts.
 */
import { DestinationError } from '../base/errors.ts';
import { ProxyUnusable } from '../base/web/proxy.ts';
import { webAgents, type WebAgents, type WebAgentOptions } from '../base/web/web-agents.ts';

/**
 * @param url the plain URL of the destination, for messages
 * @throws {DestinationError} unsupported when the proxy for this store cannot be used
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
