/** Counts what this process asks of the network, below every library: TCP connections begun, and names looked up. */
import { createHook } from 'node:async_hooks';

export interface NetworkCount extends Disposable {
  readonly connections: () => number;
  /** By the system (`getaddrinfo`) or by name servers. */
  readonly lookups: () => number;
}

export function countConnections(): NetworkCount {
  const counts = new Map<string, number>();
  const hook = createHook({
    init(_id, type) {
      counts.set(type, (counts.get(type) ?? 0) + 1);
    },
  }).enable();
  const of = (...types: readonly string[]): number =>
    types.reduce((sum, type) => sum + (counts.get(type) ?? 0), 0);
  return {
    connections: () => of('TCPCONNECTWRAP'),
    lookups: () => of('GETADDRINFOREQWRAP', 'QUERYWRAP'),
    [Symbol.dispose]() {
      hook.disable();
    },
  };
}
