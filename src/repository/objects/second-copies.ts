/**
 * Second copies of the few small objects without which nothing can be read: key slots, the keyring in force and the
 * configuration in force. Each copy has the same bytes, under the object's key below `copies/`
 * (docs/repository-format.md, 3.1), and is read when the object cannot be used.
 */
import { DestinationError } from '../../base/errors.ts';
import type { Destination } from '../../destination/destination.ts';

const COPIES = 'copies/';

export function copyKey(key: string): string {
  return `${COPIES}${key}`;
}

/**
 * Stores the copy of an object; call this once the object itself is stored. A failure does not undo that: prune makes
 * missing copies.
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

/** Stores the copy of numbered object `n` and deletes the copy of its predecessor. */
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
    // Nobody reads the outdated copy, and prune tries again.
    if (!(error instanceof DestinationError)) throw error;
  }
}

/**
 * The copy of an object. Undefined where there is none, or this host may not read it; the failure to read the object
 * itself is then the one to report.
 */
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

/** Deletes an object together with its copy. The copy goes first, since it could bring the removed object back. */
export async function deleteTwice(destination: Destination, key: string, signal: AbortSignal): Promise<void> {
  await destination.delete(copyKey(key), signal);
  await destination.delete(key, signal);
}

function isNotHad(error: unknown): boolean {
  return error instanceof DestinationError && ['not-found', 'denied', 'corrupt-reply'].includes(error.kind);
}
