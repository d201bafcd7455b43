/** What counts as one place in the network, where callers have said nothing of themselves. */
import ipaddr from 'ipaddr.js';

/** A single address of the older protocol; of the newer one the 64 bits that a single household or server has for itself. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}

/** Whether an address, in whichever spelling, is one of these or lies in one of these networks. */
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
