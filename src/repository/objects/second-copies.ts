/**
 * Second copies of the few small objects without which nothing can be read: key slots, the keyring in force and the
 * configuration in force. Each lies below `copies/` under its own key, byte for byte (docs/repository-format.md, 3.1), and
 * is read where the first cannot be used.
 */
import { DestinationError } from '../../base/errors.ts';
import type { Destination } from '../../destination/destination.ts';

const COPIES = 'copies/';

export function copyKey(key: string): string {
  return `${COPIES}${key}`;
}

/**
 * To be called once the object itself is stored. What could not be stored here does not undo that: prune sees to it that
 * there is a copy.
 */
export async function putCopy(
  destination: Destination,
  key: string,
  body: Uint8Array,
  signal: AbortSignal,
): Promise<void> {
  try {
    await destination.put(copyKey(key), body, signal);
  } catch (error) {
    if (!(error instanceof DestinationError)) throw error;
  }
}

/** The copy of object `n` of those that follow one another, in place of its predecessor's. */
export async function replaceCopy(
  destination: Destination,
  prefix: 'keys/ring-' | 'config/',
  n: number,
  body: Uint8Array,
  signal: AbortSignal,
): Promise<void> {
  await putCopy(destination, `${prefix}${n}`, body, signal);
  if (n === 1 || !destination.properties.canDelete) return;
  try {
    await destination.delete(copyKey(`${prefix}${n - 1}`), signal);
  } catch (error) {
    // It is read by nobody, and prune tries again.
    if (!(error instanceof DestinationError)) throw error;
  }
}

/** Undefined where there is none, or none that this host may see: then the first one's failure is what is to be told. */
export async function getCopy(
  destination: Destination,
  key: string,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  try {
    return await destination.get(copyKey(key), undefined, signal);
  } catch (error) {
    if (isNotHad(error)) return undefined;
    throw error;
  }
}

/** Keys, below `prefix`, of the objects that have a copy; none where this host may not list them. */
export async function listCopied(
  destination: Destination,
  prefix: string,
  signal: AbortSignal,
): Promise<string[]> {
  const found: string[] = [];
  try {
    for await (const page of destination.list(copyKey(prefix), signal))
      found.push(...page.map(({ key }) => key.slice(COPIES.length)));
  } catch (error) {
    if (!isNotHad(error)) throw error;
  }
  return found;
}

/** An object goes together with its copy, which goes first: it must not bring back what was removed. */
export async function deleteTwice(destination: Destination, key: string, signal: AbortSignal): Promise<void> {
  await destination.delete(copyKey(key), signal);
  await destination.delete(key, signal);
}

function isNotHad(error: unknown): boolean {
  return error instanceof DestinationError && ['not-found', 'denied', 'corrupt-reply'].includes(error.kind);
}
