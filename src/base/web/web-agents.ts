/**
 * How this program connects to web servers: through the proxy of the environment, with the certificates that the system
 * trusts.
 */
import { Agent as HttpAgent, type AgentOptions } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import { getCACertificates } from 'node:tls';
import { TunnelAgent } from './proxy-tunnel.ts';
import { proxyFor, proxyVariables } from './proxy.ts';
import { trustSystem } from './trusted-authorities.ts';

export interface WebAgents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
  close(): void;
}

export interface WebAgentOptions extends Pick<AgentOptions, 'keepAlive' | 'maxSockets'> {
  /** The server to connect to. */
  readonly target: URL;
  /** Certificates (PEM) to trust in addition to those of the system. */
  readonly certificates?: string | undefined;
}

/** @throws {ProxyUnusable} when the target must be reached through a proxy that cannot be used */
export function webAgents({ target, certificates, ...options }: WebAgentOptions): WebAgents {
  proxyFor(target);
  if (target.protocol === 'https:') trustSystem();
  const proxyEnv = proxyVariables();
  const http = new HttpAgent({ ...options, proxyEnv });
  const https = new TunnelAgent({
    ...options,
    ...(certificates === undefined ? {} : { ca: [...getCACertificates('default'), certificates] }),
  });
  return {
    http,
    https,
    close() {
      http.destroy();
      https.destroy();
    },
  };
}
