import { DestinationError, RepositoryError } from '../../base/errors.ts';
import { openConfig, usableConfig } from '../configuration.ts';
import { deleteIfAllowed, sha256 } from '../objects/objects.ts';
import { isUnreadableHere } from '../slots/key-files.ts';
import { openRing } from '../slots/key-slots.ts';
import { knownSlots } from './keys.ts';
import { mapParallel } from '../objects/parallel.ts';
import type { Repository } from '../repository.ts';
import { copyKey, listCopied } from '../objects/second-copies.ts';
import { decodeSlot } from '../slots/slot-file.ts';

type Bytes = Buffer | undefined;

/** An object without which nothing can be read, and its second copy, in their present states. */
export interface KeptTwice {
  readonly key: string;
  readonly original: 'sound' | 'damaged' | 'missing';
  readonly copy: 'sound' | 'damaged' | 'missing';
  /** The bytes that both should have; undefined when neither can be used. */
  readonly whole: Bytes;
}

/** Inspects key slots, the keyring in force and the configuration in force. */
export async function inspectCopies(
  repository: Repository,
  signal: AbortSignal,
): Promise<readonly KeptTwice[]> {
  const { destination } = repository;
  const needed = await neededObjects(repository, signal);
  return await mapParallel(needed, destination.properties.maxParallel, async ({ key, isWhole, isProof }) => {
    const original = await bytesOf(repository, key, signal);
    const copy = await bytesOf(repository, copyKey(key), signal);
    const usable = [original, copy].filter((bytes) => bytes !== undefined).filter(isWhole);
    const [first, second = first] = usable;
    // If two usable objects differ and nothing proves which is right, either may be the damaged one.
    const whole = isProof || (first !== undefined && second?.equals(first) === true) ? first : undefined;
    const stateOf = (bytes: Bytes): KeptTwice['copy'] => {
      if (bytes === undefined) return 'missing';
      return whole?.equals(bytes) === true ? 'sound' : 'damaged';
    };
    return { key, original: stateOf(original), copy: stateOf(copy), whole };
  });
}

/**
 * Makes sure that each of these objects is stored soundly twice, and removes copies of other objects.
 * @returns keys of the objects that were damaged or gone and are restored
 * @throws {DestinationError}
 */
export async function keepCopies(repository: Repository, signal: AbortSignal): Promise<readonly string[]> {
  const { destination } = repository;
  const restored: string[] = [];
  await repository.followRing(signal);
  const kept = await inspectCopies(repository, signal);
  for (const { key, original, copy, whole } of kept) {
    if (whole === undefined) continue;
    if (original !== 'sound' && (await putAnew(repository, key, original, whole, signal))) restored.push(key);
    if (copy !== 'sound') await putAnew(repository, copyKey(key), copy, whole, signal);
  }
  if (!destination.properties.canDelete) return restored;
  for (const key of await needlessCopies(repository, kept, signal))
    await deleteIfAllowed(repository, copyKey(key), signal);
  return restored;
}

/**
 * Copies of rings and configurations below those in force, and of slots that are gone. Copies with higher numbers stay:
 * another host may be putting them in force, or a newer program has stored them.
 */
async function needlessCopies(
  repository: Repository,
  kept: readonly KeptTwice[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const needed = new Set(kept.map(({ key }) => key));
  const inForce = kept.map(({ key }) => numbered(key)).filter((one) => one !== undefined);
  const needless: string[] = [];
  for (const key of await listCopied(repository.destination, '', signal)) {
    const one = numbered(key);
    if (one !== undefined) {
      if (inForce.some(({ prefix, n }) => prefix === one.prefix && one.n < n)) needless.push(key);
    } else if (/^keys\/[0-9a-f]{32}$/.test(key) && !needed.has(key)) {
      if ((await bytesOf(repository, key, signal)) === undefined) needless.push(key);
    }
  }
  return needless;
}

function numbered(key: string): { readonly prefix: string; readonly n: number } | undefined {
  const [, prefix, n] = /^(keys\/ring-|config\/)(\d{1,16})$/.exec(key) ?? [];
  return prefix === undefined ? undefined : { prefix, n: Number(n) };
}

interface Needed {
  readonly key: string;
  readonly isWhole: (bytes: Buffer) => boolean;
  /** Whether passing `isWhole` proves that the bytes are the right ones. */
  readonly isProof: boolean;
}

async function neededObjects(repository: Repository, signal: AbortSignal): Promise<readonly Needed[]> {
  const { keyring, ringNumber, slot } = repository;
  const config = await usableConfig(repository, signal);
  const slots = knownSlots(keyring).map((known) => ({
    key: `keys/${known.slot}`,
    isWhole: (bytes: Buffer) =>
      known.file === undefined
        ? isUsable(() => decodeSlot(bytes, `keys/${known.slot}`))
        : sha256(bytes) === known.file.toString('hex'),
    isProof: known.file !== undefined,
  }));
  return [
    ...slots,
    {
      key: `keys/ring-${ringNumber}`,
      isProof: true,
      isWhole: (bytes) => isUsable(() => openRing(bytes, ringNumber, slot)),
    },
    {
      key: `config/${config.number}`,
      isProof: true,
      isWhole: (bytes) => isUsable(() => openConfig(keyring, repository.keys, bytes, config.number)),
    },
  ];
}

function isUsable(open: () => unknown): boolean {
  try {
    open();
    return true;
  } catch (error) {
    if (!(error instanceof RepositoryError)) throw error;
    return false;
  }
}

/**
 * The object's bytes; undefined where there is none. Empty for one that the storage has but cannot return, which then
 * counts as damaged.
 */
async function bytesOf({ destination }: Repository, key: string, signal: AbortSignal): Promise<Bytes> {
  try {
    return await destination.get(key, undefined, signal);
  } catch (error) {
    if (error instanceof DestinationError && error.kind === 'not-found') return undefined;
    if (isUnreadableHere(error, destination)) return Buffer.alloc(0);
    // A host that may not read copies cannot maintain them either.
    if (key.startsWith(copyKey('')) && error instanceof DestinationError && error.kind === 'denied')
      return undefined;
    throw error;
  }
}

/** Stores an object anew. False when the damaged one cannot be deleted, or another host was first. */
async function putAnew(
  repository: Repository,
  key: string,
  state: KeptTwice['copy'],
  bytes: Buffer,
  signal: AbortSignal,
): Promise<boolean> {
  const { destination } = repository;
  if (state === 'damaged') {
    if (!destination.properties.canDelete) return false;
    if (!(await deleteIfAllowed(repository, key, signal))) return false;
  }
  try {
    await destination.put(key, bytes, signal);
    return true;
  } catch (error) {
    // Another host was first, or this one may not store copies. A refusal to store the object itself is reported.
    const isCopy = key.startsWith(copyKey(''));
    if (error instanceof DestinationError && (error.kind === 'exists' || (isCopy && error.kind === 'denied')))
      return false;
    throw error;
  }
}
