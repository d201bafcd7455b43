/** The configuration of a repository: stored under the next number, and read when the repository is opened. */
import { corrupt } from '../base/errors.ts';
import { verifyEd25519 } from '../codec/curves.ts';
import type { ObjectKeys } from '../codec/keys.ts';
import type { Destination } from '../destination/destination.ts';
import { OBJECT_TYPES } from '../format/header.ts';
import type { Keyring } from '../format/keyring.ts';
import { configMap, decodeConfig, encodeSigned, type ConfigRecord } from '../format/records.ts';
import { fetchEarly, isUnusable, isWorthCopy } from './key-files.ts';
import { listNumbered } from './listing.ts';
import { openObject, sealObject } from './objects.ts';
import { getCopy, listCopied, replaceCopy } from './second-copies.ts';
import type { Repository } from './repository.ts';

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

/**
 * A configuration as the object of number `n`.
 * @throws {RepositoryError} CORRUPT_DATA when it has a value that no reader accepts
 */
export function sealConfig(repository: Repository, config: ConfigRecord, n: number): Buffer {
  const context = Buffer.alloc(8);
  context.writeBigUInt64BE(BigInt(n));
  const plaintext = encodeSigned(configMap(config), (unsigned) => repository.sign('hf1/config', unsigned));
  // One that does not read back would lock everybody out.
  decodeConfig(plaintext, `config/${n}`);
  return sealObject(repository.keys, OBJECT_TYPES.config, context, plaintext).bytes;
}

export interface EarlyConfig {
  /** Ascending. */
  readonly numbers: readonly number[];
  /** Of the newest. */
  readonly bytes: Buffer | undefined;
}

/** Fetched while the passphrase is stretched; undefined when it cannot be had, and is to be asked for again. */
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
 * @param copied also of numbers that only a second copy is left of
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
  const more = copied || listed.length === 0 ? await copiedNumbers(destination, signal) : [];
  let passed: Error | undefined;
  for (const number of [...new Set([...listed, ...more])].sort((a, b) => b - a)) {
    const object = `config/${number}`;
    const open = (bytes: Buffer): OpenedConfig => openConfig(keyring, keys, bytes, number);
    try {
      const fetched = number === early?.numbers.at(-1) ? early.bytes : undefined;
      return { ...open(fetched ?? (await destination.get(object, undefined, signal))), number, passed };
    } catch (error) {
      if (!isWorthCopy(error, destination)) throw error;
      const copy = await getCopy(destination, object, signal);
      const opened = copy && usableOrNot(() => open(copy), destination);
      if (opened !== undefined) return { ...opened, number, passed };
      if (!isUnusable(error)) throw error;
      passed ??= error;
    }
  }
  throw passed ?? corrupt('config/', 'the repository has no configuration');
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
}

/** @throws {RepositoryError} CORRUPT_DATA */
export function openConfig(keyring: Keyring, keys: ObjectKeys, bytes: Buffer, number: number): OpenedConfig {
  const object = `config/${number}`;
  const { context, generation, plaintext } = openObject(keys, OBJECT_TYPES.config, bytes, object);
  const { record, signed, signature } = decodeConfig(plaintext, object);
  const message = Buffer.concat([Buffer.from('hf1/config'), keyring.repository, signed]);
  if (!verifyEd25519(keyring.adminPublic, message, signature))
    throw corrupt(object, 'it is not signed by the administrator key');
  if (Number(context.readBigUInt64BE(0)) !== number) throw corrupt(object, 'it stands under another number');
  if (!record.repository.equals(keyring.repository))
    throw corrupt(object, 'it belongs to another repository');
  return { config: record, generation };
}
