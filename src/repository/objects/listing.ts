import type { Destination } from '../../destination/destination.ts';

/** A named object of the destination as one listing shows it. */
export interface Listed {
  readonly size: number;
  readonly modifiedMs: number;
}

const HEX_NAME = /^[0-9a-f]{64}$/;

/**
 * Objects below `prefix` that are named by their SHA-256, by name. Other keys are ignored, as the format demands: a
 * file that another program left in a subfolder may have such a name without being the object.
 */
export async function listNamed(
  destination: Destination,
  prefix: 'packs/' | 'index/' | 'snapshots/' | 'trash/',
  signal: AbortSignal,
): Promise<Map<string, Listed>> {
  const found = new Map<string, Listed>();
  for await (const page of destination.list(prefix, signal)) {
    for (const { key, size, modifiedMs } of page) {
      const name = key.slice(key.lastIndexOf('/') + 1);
      const own = prefix === 'packs/' ? packKey(name) : `${prefix}${name}`;
      if (HEX_NAME.test(name) && key === own) found.set(name, { size, modifiedMs });
    }
  }
  return found;
}

/** Numbers n of the keys `<prefix><n>`, ascending. */
export async function listNumbered(
  destination: Destination,
  prefix: string,
  signal: AbortSignal,
): Promise<number[]> {
  const numbers: number[] = [];
  for await (const page of destination.list(prefix, signal)) {
    for (const { key } of page) {
      const rest = key.slice(prefix.length);
      // Only canonical numbers: `0009` is not the object with number 9.
      if (/^(?:0|[1-9]\d{0,15})$/.test(rest)) numbers.push(Number(rest));
    }
  }
  return numbers.sort((a, b) => a - b);
}

export function packKey(name: string): string {
  return `packs/${name.slice(0, 2)}/${name}`;
}
