/** Groups addresses to networks, the unit in which anonymous callers are counted. */
import ipaddr from 'ipaddr.js';

/**
 * The network of an address: a single IPv4 address, or for IPv6 the 64-bit prefix that a single household or server has
 * to itself.
 */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}

/** Whether an address, in any spelling, equals one of the places or lies in one of their networks. */
export function isAmong(address: string, places: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return places.some((place) => {
    if (!place.includes('/'))
      return ipaddr.isValid(place) && ipaddr.process(place).toString() === parsed.toString();
    if (!ipaddr.isValidCIDR(place)) return false;
    const [network, bits] = ipaddr.parseCIDR(place);
    return network.kind() === parsed.kind() && parsed.match(network, bits);
  });
}
