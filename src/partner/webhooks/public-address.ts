/**
 * Decides which addresses webhooks may be sent to: only global unicast, so that nobody can reach hosts near the service
 * by giving their name. ipaddr.js follows the special-purpose registries of IANA, and is a dependency of Fastify
 * anyway. Ranges that it does not know are refused here.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The only IPv6 space assigned to the internet; the rest is special or reserved. */
const GLOBAL_UNICAST_6 = ipaddr.parseCIDR('2000::/3');

/** Public addresses that are answered by the host or its network. */
const WITHIN_CLOUDS = [
  // Azure: the agent service of the virtual machine, which also hands out certificates.
  ipaddr.parseCIDR('168.63.129.16/32'),
];

/** Whether the text is an address on the public internet. False for everything that is not an address in plain form. */
export function isPublicAddress(text: string): boolean {
  // Refuses octal, hexadecimal and shortened forms, and zones, which resolvers never return.
  if (isIP(text) === 0 || text.includes('%')) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv6' && !address.match(GLOBAL_UNICAST_6)) return false;
  return !WITHIN_CLOUDS.some((range) => range[0].kind() === address.kind() && address.match(range));
}
