/** The configuration of a repository: stored under the next number, and read when the repository is opened. */
import { corrupt } from '../base/errors.ts';
import { verifyEd25519 } from '../codec/curves.ts';
import type { ObjectKeys } from '../codec/keys.ts';
import type { Destination } from '../destination/destination.ts';
import { OBJECT_TYPES } from '../format/header.ts';
import type { Keyring } from '../format/keyring.ts';
import { configMap, decodeConfig, encodeSigned, type ConfigRecord } from '../format/records.ts';
import { fetchEarly, isUnusable } from './key-files.ts';
import { listNumbered } from './listing.ts';
import { openObject, sealObject } from './objects.ts';
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
  const context = Buffer.alloc(8);
  context.writeBigUInt64BE(BigInt(n));
  const plaintext = encodeSigned(configMap(config), (unsigned) => repository.sign('hf1/config', unsigned));
  // One that does not read back would lock everybody out.
  decodeConfig(plaintext, `config/${n}`);
  const { bytes } = sealObject(repository.keys, OBJECT_TYPES.config, context, plaintext);
  await repository.destination.put(`config/${n}`, bytes, signal);
  await repository.writer.remember({ config: n });
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
 * @returns `passed`: why a newer one could not be used
 * @throws {RepositoryError} CORRUPT_DATA when none can be used
 */
export async function newestConfig(
  destination: Destination,
  {
    keyring,
    keys,
    early,
  }: { readonly keyring: Keyring; readonly keys: ObjectKeys; readonly early: EarlyConfig | undefined },
  signal: AbortSignal,
) {
  const numbers = [...(early?.numbers ?? (await listNumbered(destination, 'config/', signal)))].toReversed();
  let passed: Error | undefined;
  for (const number of numbers) {
    const object = `config/${number}`;
    try {
      const opened = openObject(
        keys,
        OBJECT_TYPES.config,
        (number === early?.numbers.at(-1) ? early.bytes : undefined) ??
          (await destination.get(object, undefined, signal)),
        object,
      );
      const { record, signed, signature } = decodeConfig(opened.plaintext, object);
      const message = Buffer.concat([Buffer.from('hf1/config'), keyring.repository, signed]);
      if (!verifyEd25519(keyring.adminPublic, message, signature))
        throw corrupt(object, 'it is not signed by the administrator key');
      if (Number(opened.context.readBigUInt64BE(0)) !== number)
        throw corrupt(object, 'it stands under another number');
      if (!record.repository.equals(keyring.repository))
        throw corrupt(object, 'it belongs to another repository');
      return { config: record, number, passed };
    } catch (error) {
      if (!isUnusable(error)) throw error;
      passed ??= error;
    }
  }
  throw passed ?? corrupt('config/', 'the repository has no configuration');
}
