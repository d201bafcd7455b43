import type { Clock } from '../base/clock.ts';
import { unknownGeneration } from '../codec/keys.ts';
import { writeOnlyMark } from '../codec/write-only.ts';
import type { Destination } from '../destination/destination.ts';
import type { Keyring } from '../format/keyring.ts';
import type { ConfigRecord } from '../format/records.ts';
import { configEarly, type EarlyConfig, newestConfig } from './configuration.ts';
import type { FirstLook } from './first-look.ts';
import { listCopied } from './objects/second-copies.ts';
import { objectKeysOf } from './repository.ts';
import { type KeyFiles, openKeyring, withCopies } from './slots/key-files.ts';
import type { OpenSlot, Secret } from './slots/key-slots.ts';
import { WriterState } from './writer-state.ts';

/** The keyring and the configuration in force, and what this machine remembers. */
export interface InForce {
  readonly slot: OpenSlot;
  readonly keyring: Keyring;
  readonly ringNumber: number;
  readonly writer: WriterState;
  readonly config: ConfigRecord;
  readonly number: number;
  /** Whether the configuration was signed for this number; only then is the number remembered. */
  readonly bound: boolean;
  /** Why a newer ring or configuration could not be used. */
  readonly passed: Error | undefined;
}

export interface OpenOptions {
  readonly clock: Clock;
  /** Where this host keeps its memory of repositories; undefined: a new writer each time. */
  readonly stateDirectory: string | undefined;
  /** Accept passphrase costs below the floor of the format; for tests. */
  readonly allowWeakCost?: boolean;
  /** The look whose view the destination is, if it is one: the first requests of a run are then answered from it. */
  readonly look?: FirstLook | undefined;
}

type Options = Pick<OpenOptions, 'stateDirectory' | 'allowWeakCost'>;

/**
 * Opens the newest keyring and configuration that can be used. A machine that has not seen the repository, or has seen
 * a newer ring or configuration, also considers those of which only second copies are left.
 */
export async function openInForce(
  destination: Destination,
  files: KeyFiles,
  secret: Secret,
  options: Options,
  signal: AbortSignal,
): Promise<InForce> {
  const early = configEarly(destination, signal);
  const open = async (keyFiles: KeyFiles, copied: boolean): Promise<InForce> =>
    await openNewest(destination, { keyFiles, secret, options, early, copied }, signal);
  const inForce = await open(files, false);
  const isFirst = options.stateDirectory !== undefined && inForce.writer.memory.ring === 0;
  if (!isFirst && !mayLackNewest(inForce)) return inForce;
  if (!(await hasNewerCopies(destination, inForce, signal))) return inForce;
  return await open((await withCopies(destination, files, signal)) ?? files, true);
}

async function hasNewerCopies(
  destination: Destination,
  { ringNumber, number }: InForce,
  signal: AbortSignal,
): Promise<boolean> {
  const keys = await listCopied(destination, '', signal);
  return keys.some((key) => {
    const [, prefix, n] = /^(keys\/ring-|config\/)(\d{1,9})$/.exec(key) ?? [];
    return prefix !== undefined && Number(n) > (prefix === 'config/' ? number : ringNumber);
  });
}

interface OpenRequest {
  readonly keyFiles: KeyFiles;
  readonly secret: Secret;
  readonly options: Options;
  readonly early: Promise<EarlyConfig | undefined>;
  /** Also consider objects of which only second copies are left. */
  readonly copied: boolean;
}

async function openNewest(
  destination: Destination,
  { keyFiles, secret, options, early, copied }: OpenRequest,
  signal: AbortSignal,
): Promise<InForce> {
  const { passed, ...opened } = await openKeyring(destination, keyFiles, secret, options, signal);
  const { keyring } = opened;
  const writer = await openWriter(options.stateDirectory, keyring);
  const keys = objectKeysOf(keyring, writer);
  const read = async (from: EarlyConfig | undefined): ReturnType<typeof newestConfig> =>
    await newestConfig(destination, { keyring, keys, early: from, copied }, signal);
  const before = await early;
  const { passed: passedConfig, ...config } = await read(before).catch(async (error: unknown) => {
    // The configuration that was fetched early may meanwhile have been stored again under newer keys, and its own
    // generation retired.
    if (before === undefined || unknownGeneration(error) === undefined) throw error;
    return await read(undefined);
  });
  return { ...opened, ...config, writer, passed: passed ?? passedConfig };
}

/**
 * Whether a newer ring or configuration may exist: this machine has seen one, or a configuration is under a generation
 * that the keyring lacks.
 */
function mayLackNewest({ writer, ringNumber, number, bound, passed }: InForce): boolean {
  const { ring, config } = writer.memory;
  return ringNumber < ring || (bound ? number : 0) < config || unknownGeneration(passed) !== undefined;
}

/**
 * Opens this host's writer. A write-only key has a writer of its own, since objects that it seals are accepted under no
 * other.
 */
async function openWriter(
  directory: string | undefined,
  { repository, grantedTo }: Keyring,
): Promise<WriterState> {
  const id = repository.toString('hex');
  if (grantedTo === undefined) return await WriterState.open(directory, id);
  const { writer } = writeOnlyMark(repository, grantedTo);
  return await WriterState.open(directory, `${id}.write-only-${grantedTo}`, writer);
}
