/**
 * Which addresses webhooks may be sent to: global unicast alone, so that nobody reaches what stands beside the service by
 * giving its name. ipaddr.js knows the special-purpose registries of IANA and follows them; Fastify brings it along
 * already. What it has no range for is refused here.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The only IPv6 space given out to the internet; all else is special or reserved for the future. */
const GLOBAL_UNICAST_6 = ipaddr.parseCIDR('2000::/3');

/** Public by number, but answered by the host or network itself. */
const WITHIN_CLOUDS = [
  // Azure: the machine's own agent service, certificates included.
  ipaddr.parseCIDR('168.63.129.16/32'),
];

/** True for an address on the public internet. False for any other, and for what is no address in its plain form. */
export function isPublicAddress(text: string): boolean {
  // Octal, hexadecimal and shortened forms, and zones: resolvers never give them.
  if (isIP(text) === 0 || text.includes('%')) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv6' && !address.match(GLOBAL_UNICAST_6)) return false;
  return !WITHIN_CLOUDS.some((range) => range[0].kind() === address.kind() && address.match(range));
}
