/** The form in which trees keep numbers of a system that may have 64 bits. */
const SAFE_BITS = 53n;
const FOLD_SHIFT = 42n;

/**
 * An inode or device number as trees store it, below 2^53. Overlays, NTFS and some network file systems put a layer or
 * a generation into the higher bits. These are folded onto the highest of the lower bits, so that files stay distinct.
 */
export function storedNumber(number: bigint): number {
  const folded = BigInt.asUintN(64, number);
  return Number(BigInt.asUintN(Number(SAFE_BITS), folded) ^ ((folded >> SAFE_BITS) << FOLD_SHIFT));
}
