/** Checks the URL of a webhook. The addresses of its name are checked at each delivery. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { ApiError } from '../../api/wire/api-error.ts';
import type { TestTarget } from './test-targets.ts';

export interface WebhookTarget {
  readonly url: URL;
  /** PEM of the only authorities to trust, for a test receiver; null for all others. */
  readonly testAuthority: string | null;
}

const LONGEST_URL = 2048;

/** Names that never belong to a host on the internet (RFC 6761, 6762, 7686, 8375, 9476, and ICANN's `internal`). */
const LOCAL_NAMES = /(?:^|\.)(?:localhost|local|internal|home\.arpa|onion|alt|test|invalid)$/;

/**
 * @throws {ApiError} `INVALID_WEBHOOK_URL`, with `details.reason`: `not_a_url`, `too_long`, `not_https`, `user_info`,
 *   `fragment`, `port`, `ip_literal` or `local_name`
 */
export function parseTarget(text: string, testTargets: readonly TestTarget[]): WebhookTarget {
  if (text.length > LONGEST_URL)
    throw refused('too_long', `The URL is longer than ${LONGEST_URL} characters`);
  // The URL parser would silently remove these characters, or interpret them differently.
  if (/[\s\p{C}\\]/u.test(text))
    throw refused('not_a_url', 'The URL contains a space, a control character or a backslash');
  const url = URL.parse(text);
  if (url === null) throw refused('not_a_url', 'This is not a URL');
  const authority = /^https:\/\/([^/?#]+)/i.exec(text)?.[1];
  if (authority === undefined) throw refused('not_https', 'The URL does not begin with https:// and a name');
  if (authority.includes('@')) throw refused('user_info', 'The URL contains a user name or password');
  if (text.includes('#')) throw refused('fragment', 'The URL has a fragment, which is never sent');

  const port = url.port === '' ? 443 : Number(url.port);
  const exempt = testTargets.find((target) => target.host === url.hostname && target.port === port);
  if (exempt !== undefined) return { url, testAuthority: exempt.authority };

  if (port !== 443) throw refused('port', `The port is ${port}, and only 443 is allowed`);
  if (isIP(url.hostname) !== 0 || url.hostname.startsWith('[')) {
    throw refused('ip_literal', 'The URL has an IP address in place of a name');
  }
  if (!isHostName(url.hostname)) throw refused('not_a_url', 'The URL does not have the name of a host');
  if (!url.hostname.includes('.') || LOCAL_NAMES.test(url.hostname)) {
    throw refused('local_name', `${url.hostname} is not a name on the public internet`);
  }
  return { url, testAuthority: null };
}

/** Whether the name consists of letters, digits and hyphens, as in certificates, without a trailing full stop. */
function isHostName(name: string): boolean {
  const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
  return name.length <= 253 && new RegExp(`^${label}(?:\\.${label})*$`).test(name);
}

function refused(reason: string, message: string): ApiError {
  return new ApiError('INVALID_WEBHOOK_URL', message, {
    hint: 'Give an https URL with a public host name, on port 443.',
    details: { reason },
  });
}

/** The only IPv6 space assigned to the internet; the rest is special or reserved. */
const GLOBAL_UNICAST_6 = ipaddr.parseCIDR('2000::/3');

/** Public addresses that are answered by the host or its network. */
const WITHIN_CLOUDS = [
  // Azure: the agent service of the virtual machine, which also hands out certificates.
  ipaddr.parseCIDR('168.63.129.16/32'),
];

/**
 * Decides which addresses webhooks may be sent to: only global unicast, so that nobody can reach hosts near the service
 * by giving their name. ipaddr.js follows the special-purpose registries of IANA, and is a dependency of Fastify
 * anyway. Ranges that it does not know are refused here. Whether the text is an address on the public internet. False
 * for everything that is not an address in plain form.
 */
export function isPublicAddress(text: string): boolean {
  // Refuses octal, hexadecimal and shortened forms, and zones, which resolvers never return.
  if (isIP(text) === 0 || text.includes('%')) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv6' && !address.match(GLOBAL_UNICAST_6)) return false;
  return !WITHIN_CLOUDS.some((range) => range[0].kind() === address.kind() && address.match(range));
}
