/**
 * The configuration of a repository: stored under the next number, and read when the repository is opened. The holder
 * of a write-only key can seal a configuration that the administrator has signed again under any number, so each is
 * signed for its number (it is bound). Configurations by previews of 0.1 are unbound: they are used only where no bound
 * one exists, and their number proves nothing.
 */
import { DestinationError, RepositoryError, corrupt, planted } from '../base/errors.ts';
import { holdfastThere } from '../base/holdfast-command.ts';
import { verifyEd25519 } from '../codec/curves.ts';
import type { ObjectKeys } from '../codec/keys.ts';
import type { Destination } from '../destination/destination.ts';
import { OBJECT_TYPES } from '../format/header.ts';
import type { Keyring } from '../format/keyring.ts';
import {
  MAX_NUMBER,
  configMap,
  decodeConfig,
  encodeSigned,
  signedConfig,
  type ConfigRecord,
} from '../format/records.ts';
import { fetchEarly, isUnusable, isWorthCopy } from './slots/key-files.ts';
import { listNumbered } from './objects/listing.ts';
import { openRecord, sealObject } from './objects/objects.ts';
import { inTurn } from './objects/parallel.ts';
import { getCopy, listCopied, replaceCopy } from './objects/second-copies.ts';
import type { Repository } from './repository.ts';
import { BEYOND_BELIEF } from './chain-view.ts';

/**
 * Stores a configuration under number `n` and remembers that it is there.
 * @throws {RepositoryError} CORRUPT_DATA when it has a value that no reader accepts
 */
export async function putConfig(
  repository: Repository,
  config: ConfigRecord,
  n: number,
  signal: AbortSignal,
): Promise<void> {
  const bytes = sealConfig(repository, config, n);
  await repository.destination.put(`config/${n}`, bytes, signal);
  await replaceCopy(repository.destination, 'config/', n, bytes, signal);
  await repository.writer.remember({ config: n });
}

/** How many times another program may take the number that was free a moment ago. */
const NUMBER_TRIES = 100;

/**
 * Stores the configuration in force again if it is unbound or sealed under old keys. Numbers under which others have
 * planted objects are skipped.
 * @param under generations under which it must not stay sealed
 * @throws {RepositoryError} LIMIT_EXCEEDED
 */
export async function renewConfig(
  repository: Repository,
  under: readonly number[],
  signal: AbortSignal,
): Promise<void> {
  const { config, number, generation, bound } = await usableConfig(repository, signal);
  if (bound && !under.includes(generation)) return;
  const { destination } = repository;
  const taken = new Set([
    ...(await listNumbered(destination, 'config/', signal)),
    ...(await copiedNumbers(destination, signal)),
  ]);
  let n = bound ? number : believedNumber([...taken]);
  for (let tries = 0; tries < NUMBER_TRIES; tries += 1) {
    do n += 1;
    while (taken.has(n));
    if (n > MAX_NUMBER) break;
    try {
      await putConfig(repository, config, n, signal);
      return;
    } catch (error) {
      if (!(error instanceof DestinationError) || error.kind !== 'exists') throw error;
    }
    // Another host may have stored a newer bound configuration first; any other object under that number is skipped.
    const now = await usableConfig(repository, signal);
    if (now.bound && now.number >= n) return;
  }
  throw new RepositoryError('LIMIT_EXCEEDED', 'No number is left for the configuration', {
    hint: `Somebody has planted configurations. To remove those that are not needed, run: ${holdfastThere`recover`}`,
  });
}

/**
 * The highest number that is reached from the lowest without a jump of more than `BEYOND_BELIEF`, for a repository
 * without a bound configuration. Previews of 0.1 use the highest number that they find, so a planted one must not
 * decide which comes next.
 */
function believedNumber(numbers: readonly number[]): number {
  const [lowest = 0, ...others] = numbers.filter((n) => n < MAX_NUMBER).sort((a, b) => a - b);
  let top = lowest;
  for (const n of others) {
    if (n - top > BEYOND_BELIEF) break;
    top = n;
  }
  return top < MAX_NUMBER - NUMBER_TRIES ? top : 0;
}

/**
 * A configuration as the object of number `n`.
 * @throws {RepositoryError} CORRUPT_DATA when it has a value that no reader accepts
 */
export function sealConfig(repository: Repository, config: ConfigRecord, n: number): Buffer {
  const context = Buffer.alloc(8);
  context.writeBigUInt64BE(BigInt(n));
  const plaintext = encodeSigned(configMap(config, n), (unsigned) => repository.sign('hf1/config', unsigned));
  // A configuration that does not read back would lock everybody out.
  decodeConfig(plaintext, `config/${n}`);
  return sealObject(repository.keys, OBJECT_TYPES.config, context, plaintext).bytes;
}

export interface EarlyConfig {
  /** Ascending. */
  readonly numbers: readonly number[];
  /** The bytes of the newest configuration. */
  readonly bytes: Buffer | undefined;
}

/**
 * The configuration as fetched while the passphrase is stretched. Undefined when that fails; it is then requested again
 * later.
 */
export async function configEarly(
  destination: Destination,
  signal: AbortSignal,
): Promise<EarlyConfig | undefined> {
  try {
    const numbers = await listNumbered(destination, 'config/', signal);
    const newest = numbers.at(-1);
    const bytes = await fetchEarly(
      destination,
      newest === undefined ? undefined : `config/${newest}`,
      signal,
    );
    return { numbers, bytes };
  } catch {
    return undefined;
  }
}

/**
 * The configuration in force.
 * @param copied also consider numbers of which only a second copy is left, before it is known that no other can be used
 * @returns `passed`: why a newer one could not be used
 * @throws {RepositoryError} CORRUPT_DATA when none can be used
 */
export async function newestConfig(
  destination: Destination,
  {
    keyring,
    keys,
    early,
    copied = false,
  }: {
    readonly keyring: Keyring;
    readonly keys: ObjectKeys;
    readonly early: EarlyConfig | undefined;
    readonly copied?: boolean;
  },
  signal: AbortSignal,
) {
  const listed = early?.numbers ?? (await listNumbered(destination, 'config/', signal));
  const look = async (number: number): Promise<(OpenedConfig & { readonly number: number }) | Error> => {
    const object = `config/${number}`;
    const open = (bytes: Buffer): OpenedConfig => openConfig(keyring, keys, bytes, number);
    try {
      const fetched = number === early?.numbers.at(-1) ? early.bytes : undefined;
      return { ...open(fetched ?? (await destination.get(object, undefined, signal))), number };
    } catch (error) {
      if (!isWorthCopy(error, destination)) throw error;
      const copy = await getCopy(destination, object, signal);
      const opened = copy && usableOrNot(() => open(copy), destination);
      if (opened !== undefined) return { ...opened, number };
      if (!isUnusable(error)) throw error;
      return error;
    }
  };
  let passed: Error | undefined;
  let unbound: (OpenedConfig & { readonly number: number }) | undefined;
  const boundOf = async (
    all: readonly number[],
  ): Promise<(OpenedConfig & { readonly number: number }) | undefined> => {
    const { numbers, others } = inOrderOfBelief(all);
    for (const some of [numbers, others]) {
      // Numbers beyond `MAX_NUMBER`, as an attack on previews could leave, are considered only when all others fail.
      if (some === others && unbound !== undefined) break;
      for await (const config of inTurn(some, destination.properties.maxParallel, look)) {
        if (config instanceof Error) passed ??= config;
        else if (config.bound) return config;
        else unbound ??= config;
      }
    }
    return undefined;
  };
  const first = copied ? [...listed, ...(await copiedNumbers(destination, signal))] : listed;
  const bound = await boundOf(first);
  if (bound !== undefined) return { ...bound, passed };
  // Anyone can plant a number that is listed, so it does not prove that the second copies are needless.
  const more = copied ? [] : await copiedNumbers(destination, signal);
  const copy = await boundOf(more.filter((number) => !listed.includes(number)));
  if (copy !== undefined) return { ...copy, passed };
  if (unbound !== undefined) return { ...unbound, passed };
  throw passed ?? corrupt('config/', 'the repository has no configuration');
}

/** The numbers, highest first. @returns `others`: those beyond `MAX_NUMBER`, which no valid configuration has */
function inOrderOfBelief(all: readonly number[]): {
  readonly numbers: readonly number[];
  readonly others: readonly number[];
} {
  const falling = [...new Set(all)].sort((a, b) => b - a);
  return {
    numbers: falling.filter((n) => n <= MAX_NUMBER),
    others: falling.filter((n) => n > MAX_NUMBER),
  };
}

function usableOrNot<T>(open: () => T, destination: Destination): T | undefined {
  try {
    return open();
  } catch (error) {
    if (!isWorthCopy(error, destination)) throw error;
    return undefined;
  }
}

async function copiedNumbers(destination: Destination, signal: AbortSignal): Promise<readonly number[]> {
  const keys = await listCopied(destination, 'config/', signal);
  return keys.flatMap((key) => {
    const number = /^config\/([1-9]\d{0,15})$/.exec(key)?.[1];
    return number === undefined ? [] : [Number(number)];
  });
}

/** The configuration in force as the storage has it now, with its number and the generation it is sealed under. */
export async function usableConfig(
  repository: Repository,
  signal: AbortSignal,
): Promise<OpenedConfig & { readonly number: number }> {
  const { destination, keyring, keys } = repository;
  return await newestConfig(destination, { keyring, keys, early: undefined, copied: true }, signal);
}

export interface OpenedConfig {
  readonly config: ConfigRecord;
  readonly generation: number;
  /** Whether the configuration was signed for this number. */
  readonly bound: boolean;
}

/** @throws {RepositoryError} CORRUPT_DATA */
export function openConfig(keyring: Keyring, keys: ObjectKeys, bytes: Buffer, number: number): OpenedConfig {
  const object = `config/${number}`;
  const { context, generation, plaintext } = openRecord(keys, OBJECT_TYPES.config, bytes, object);
  // The signature is checked before anything that the plaintext claims, above all that a newer program is needed.
  const { n, signed, signature } = signedConfig(plaintext, object);
  const message = Buffer.concat([Buffer.from('hf1/config'), keyring.repository, signed]);
  if (!verifyEd25519(keyring.adminPublic, message, signature))
    throw corrupt(object, 'it is not signed by the administrator key');
  const stands = context.readBigUInt64BE(0) === BigInt(number);
  if (!stands) throw corrupt(object, 'it is stored under another number');
  if (n !== undefined && n !== number) throw planted(object, `it was signed for number ${n}`);
  const { record } = decodeConfig(plaintext, object);
  if (!record.repository.equals(keyring.repository))
    throw corrupt(object, 'it belongs to another repository');
  return { config: record, generation, bound: n !== undefined };
}
