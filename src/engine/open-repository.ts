/** Opens the repository of a job by the rules for destinations, and keeps it open for the next job with the same one. */
import { sep } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { HoldfastError, RepositoryError, isAbort, isAbsentPlace } from '../base/errors.ts';
import { holdfast } from '../base/holdfast-command.ts';
import { passphraseCost, testCost } from '../codec/kdf.ts';
import { parseRecoveryCode } from '../codec/recovery-code.ts';
import { openCached, openLook, type CachedRepository } from '../cache/open.ts';
import type { Destination } from '../destination/destination.ts';
import { UploadLimit, paceOf } from '../destination/limited.ts';
import { createMemoryDestination } from '../destination/memory.ts';
import { directoryOf, parseLocation, shownPlace } from '../destination/location.ts';
import { openDestination } from '../destination/open/open.ts';
import type { FirstLook, LookExtent } from '../repository/first-look.ts';
import type { Secret } from '../repository/slots/key-slots.ts';
import type { OpenOptions } from '../repository/in-force.ts';
import { createRepository, openRepository } from '../repository/opening.ts';
import type { Repository } from '../repository/repository.ts';
import { keepReserve } from '../repository/reserve.ts';
import { passphraseFault, secretHanded } from '../repository/slots/typed-secret.ts';
import { readKeyFiles, withCopies } from '../repository/slots/key-files.ts';
import { memoryBytes } from '../system/machine-memory.ts';
import type { EngineDestination } from './protocol.ts';
import { watchPacks, type WatchedPacks } from './watched-packs.ts';
import type { SlotFile } from '../repository/slots/slot-file.ts';

/** What the engine process provides to every job. */
export interface EngineSurroundings {
  readonly clock: Clock;
  /** Environment of the process; only the passphrase cost for tests is read from it. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface OpenRequest {
  readonly destination: EngineDestination;
  readonly stateDirectory: string;
  /** What to do when there is no repository, and none is remembered. */
  readonly absent: 'create' | 'pretend' | 'refuse';
  /** Called when a repository is made: returns the repository that it is made like, if any. */
  readonly like?: (() => Promise<Repository | undefined>) | undefined;
}

export interface JobRepository extends OpenedRepository {
  /** For jobs that only read or add: metadata of a far repository comes from this machine's cache. */
  readonly cached: Repository;
  /** The bytes sent to it, and whether uploads are limited at the moment. */
  readonly upload: Pick<UploadLimit, 'limited' | 'passed'>;
}

interface OpenedRepository extends Pick<WatchedPacks, 'packBytes' | 'useSpool' | 'hasThrown'> {
  readonly repository: Repository;
  /** Whether it was made just now. */
  readonly created: boolean;
  /** Whether it is a temporary one in memory, in place of a repository that does not exist: for dry runs. */
  readonly pretended: boolean;
  /** Absolute path of a destination on this machine; undefined for any other. */
  readonly directory: string | undefined;
  /** The form for people: a path or a URL. */
  readonly shown: string;
  /** The listing of a far destination at the beginning of a job. */
  readonly look: FirstLook | undefined;
}

type Where = Pick<JobRepository, 'directory' | 'shown'>;

interface Kept {
  readonly opened: JobRepository;
  readonly cache: CachedRepository;
  /** Identifies the request: another one needs a repository of its own. */
  readonly identity: string;
  readonly stateDirectory: string;
  /** Names of the key and configuration objects when it was opened. */
  readonly keys: string;
}

/**
 * Opens repositories for one job after the other. Stretching a passphrase takes half a second, so the last repository
 * stays open. Of the destination it only remembers keys and configuration, whose names are compared before it is used
 * again. Every job lists everything else anew.
 */
export class RepositoryKeeper implements AsyncDisposable {
  readonly #surroundings: EngineSurroundings;
  readonly #limit: UploadLimit;
  /** A limit that was set since the job began, and is newer than the one in its request. */
  #changed: { readonly to: number | null } | undefined;
  #kept: Kept | undefined;

  constructor(surroundings: EngineSurroundings) {
    this.#surroundings = surroundings;
    this.#limit = new UploadLimit(surroundings.clock, undefined);
  }

  /** @throws {RepositoryError} {DestinationError} {RequestError} */
  async open(request: OpenRequest, signal: AbortSignal): Promise<JobRepository> {
    const { destination } = request;
    const identity = identityOf(request);
    const limit = this.#changed === undefined ? destination.uploadLimit : this.#changed.to;
    this.#limit.set(limit ?? undefined);
    const kept = this.#kept;
    kept?.opened.look?.begin(extentOf(request));
    if (kept?.identity === identity && (await stillStands(kept, signal))) {
      requireRemembered(kept.opened.repository, destination);
      return { ...kept.opened, created: false };
    }
    await this.close();
    const opened = await openFor(request, this.#limit, this.#surroundings, signal);
    try {
      requireRemembered(opened.repository, destination);
      const keys = await keyNames(opened.repository.destination, signal);
      const cache = openCached(opened.repository, request.stateDirectory, this.#surroundings.clock);
      const place = { ...opened, cached: cache.repository, upload: this.#limit };
      const { stateDirectory } = request;
      this.#kept = { opened: place, cache, identity, stateDirectory, keys };
      return place;
    } catch (error) {
      await opened.repository.close();
      throw error;
    }
  }

  /** Bytes that were sent to destinations so far. */
  get sent(): number {
    return this.#limit.passed;
  }

  /** To be called when a job begins, which has a limit of its own. */
  begin(): void {
    this.#changed = undefined;
  }

  /** Applies at once, also to a running job, and to one that has not opened its repository yet. */
  limit(bytesPerSecond: number | null): void {
    this.#changed = { to: bytesPerSecond };
    this.#limit.set(bytesPerSecond ?? undefined);
  }

  /** Closes a repository on a disk that may be unmounted, which is any directory outside the state directory. */
  async closeDisk(): Promise<void> {
    const { opened, stateDirectory } = this.#kept ?? {};
    const directory = opened?.directory;
    if (directory === undefined || stateDirectory === undefined) return;
    if (!directory.startsWith(`${stateDirectory}${sep}`)) await this.close();
  }

  async close(): Promise<void> {
    const kept = this.#kept;
    this.#kept = undefined;
    kept?.cache.close();
    await kept?.opened.repository.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function identityOf({ destination: { url, access, person, secret }, stateDirectory }: OpenRequest): string {
  return JSON.stringify([url, access, person, secret, stateDirectory]);
}

/** Whether the destination still has the same keys and configuration. */
async function stillStands({ opened, keys }: Kept, signal: AbortSignal): Promise<boolean> {
  if (opened.pretended) return false;
  try {
    return (await keyNames(opened.repository.destination, signal)) === keys;
  } catch (error) {
    if (isAbort(error) || !(error instanceof HoldfastError)) throw error;
    // Opening it anew reports what is wrong.
    return false;
  }
}

async function keyNames(destination: Destination, signal: AbortSignal): Promise<string> {
  const names: string[] = [];
  for (const prefix of ['keys/', 'config/'])
    for await (const page of destination.list(prefix, signal)) names.push(...page.map(({ key }) => key));
  return names.sort().join('\n');
}

async function openFor(
  request: OpenRequest,
  limit: UploadLimit,
  { clock, env }: EngineSurroundings,
  signal: AbortSignal,
): Promise<OpenedRepository> {
  const { destination, stateDirectory } = request;
  const directory = directoryOf(destination.url);
  const where = { directory, shown: shownPlace(parseLocation(destination.url)) };
  const options: OpenOptions = { clock, stateDirectory, allowWeakCost: testCost(env) !== undefined };
  const place = await openPlace(request, limit, signal);
  if (place === undefined) return await pretend(where, options, signal);
  const look = openLook(place, destination.url, extentOf(request), stateDirectory);
  const packs = watchPacks(look?.destination ?? place);
  const { watched } = packs;
  try {
    const files = await readKeyFiles(watched, signal);
    const { slots, damaged } = files;
    const empty = slots.length === 0 && damaged.length === 0;
    const remembered = rememberedId(destination);
    if (empty && remembered !== undefined) throw gone(destination, 'empty');
    // Checked before the secret is tried: failing to open a stranger's repository says nothing about the secret.
    if (remembered !== undefined && slots.length > 0 && !slots.some((slot) => isOf(slot, remembered))) {
      const copies = (await withCopies(watched, files, signal))?.slots ?? [];
      if (!copies.some((slot) => isOf(slot, remembered))) throw gone(destination, 'different');
    }
    const created = empty && request.absent === 'create';
    if (empty && request.absent === 'pretend') {
      await place.close();
      return await pretend(where, options, signal);
    }
    const secret = secretFor(destination);
    if (created) requireTypable(secret, destination);
    const like = created ? await request.like?.() : undefined;
    const repository = created
      ? await createRepository(
          watched,
          {
            ...options,
            look,
            ...(like === undefined ? {} : { like }),
            secrets: [{ secret, label: LABELS[secret.kind] }, ...codeOfKit(destination)],
            cost: passphraseCost(env, memoryBytes()),
          },
          signal,
        )
      : await openRepository(watched, secret, { ...options, look }, signal);
    if (created) await keepReserve(repository, 0, signal);
    return { repository, created, pretended: false, look, ...where, ...packs };
  } catch (error) {
    await place.close();
    throw ofDestination(error, destination.name, where.shown);
  }
}

/** Says whose passphrase is wrong: a notice of it is read where nothing else names the destination. */
function ofDestination(error: unknown, name: string, shown: string): unknown {
  const isPlain =
    error instanceof RepositoryError &&
    error.code === 'WRONG_PASSPHRASE' &&
    error.details['slotsNotTried'] === undefined &&
    error.details['untypable'] === undefined;
  if (!isPlain) return error;
  return new RepositoryError(
    'WRONG_PASSPHRASE',
    `The passphrase of the destination "${name}" does not open the repository at ${shown}`,
    {
      hint: 'Check that the right disk is mounted there. If the passphrase was changed, set the new one in the settings of the destination.',
      details: error.details,
      cause: error,
    },
  );
}

type ReadingSecret = Exclude<Secret, { readonly kind: 'write-only' }>;

const LABELS: Readonly<Record<ReadingSecret['kind'], string>> = {
  machine: 'this machine',
  passphrase: 'passphrase',
  recovery: 'recovery code',
};

/** A backup lists nearly everything at its beginning. Other jobs list less, or need the state at a particular moment. */
function extentOf({ absent }: OpenRequest): LookExtent | undefined {
  return absent === 'refuse' ? undefined : 'everything';
}

/** Undefined when there is nothing, and a dry run only needs to know what would happen. */
async function openPlace(
  { destination, absent }: OpenRequest,
  limit: UploadLimit,
  signal: AbortSignal,
): Promise<Destination | undefined> {
  const remembered = rememberedId(destination) !== undefined;
  const pace = paceOf(limit, (key) => key.startsWith('packs/'));
  try {
    return await openDestination(
      destination.url,
      {
        create: absent === 'create' && !remembered,
        pace,
        access: destination.access,
        person: destination.person,
      },
      signal,
    );
  } catch (error) {
    if (!isAbsentPlace(error)) throw error;
    if (remembered) throw gone(destination, 'missing', error);
    if (absent === 'pretend') return undefined;
    throw error;
  }
}

async function pretend(where: Where, options: OpenOptions, signal: AbortSignal): Promise<OpenedRepository> {
  const secret: Secret = { kind: 'machine', secret: Buffer.alloc(32) };
  const repository = await createRepository(
    createMemoryDestination(() => options.clock.now()),
    {
      ...options,
      stateDirectory: undefined,
      secrets: [{ secret, label: 'dry run' }],
      cost: { m: 64, t: 1, p: 1 },
    },
    signal,
  );
  return {
    repository,
    created: false,
    pretended: true,
    look: undefined,
    ...where,
    packBytes: () => undefined,
    useSpool: () => {},
    hasThrown: () => false,
  };
}

/** @throws {RepositoryError} REFUSED for a write-only key, as jobs have to compare, list and check what they make */
function secretFor({ secret, name }: EngineDestination): ReadingSecret {
  const handed = secretHanded(secret);
  if (handed.kind !== 'write-only') return handed;
  throw new RepositoryError('REFUSED', `The passphrase of the destination "${name}" is a write-only key`, {
    hint: `The agent needs a key that can read. To use this one, run "${holdfast`backup`}" from a timer of the system.`,
  });
}

/**
 * What nobody could type is found out before anything depends on it.
 * @throws {RepositoryError} REFUSED
 */
function requireTypable(secret: ReadingSecret, { name }: EngineDestination): void {
  const fault = secret.kind === 'passphrase' ? passphraseFault(secret.text) : undefined;
  if (fault === undefined) return;
  throw new RepositoryError('REFUSED', `The passphrase of the destination "${name}" ${fault.what}`, {
    hint: fault.hint,
  });
}

/** The recovery code of the kit whose passphrase the repository is made with. */
function codeOfKit({ secret }: EngineDestination): readonly { secret: Secret; label: string }[] {
  if (secret.kind !== 'passphrase' || secret.recoveryCode === undefined) return [];
  const recovery = { kind: 'recovery', secret: parseRecoveryCode(secret.recoveryCode) } as const;
  return [{ secret: recovery, label: 'recovery kit' }];
}

function rememberedId({ repositoryId }: EngineDestination): string | undefined {
  return repositoryId === null || repositoryId === '' ? undefined : repositoryId;
}

function isOf({ repository }: SlotFile, id: string): boolean {
  return repository.toString('hex') === id;
}

function requireRemembered(repository: Repository, destination: EngineDestination): void {
  const remembered = rememberedId(destination);
  if (remembered !== undefined && remembered !== repository.id) throw gone(destination, 'different');
}

const GONE = {
  missing: [
    'is gone',
    'Check that the drive or share is connected and mounted. If it was deleted on purpose, use another folder as the destination: backups start afresh there.',
  ],
  empty: [
    'is gone: the place is empty',
    'Check that the right drive is mounted there. If it was emptied on purpose, use another folder as the destination, such as a new one below it: backups start afresh there.',
  ],
  different: [
    'is not there: other backups are in its place',
    'Plug in the right disk. If it is the right one, find out who replaced them. To use the other one, move it to another folder, and use that as the destination.',
  ],
} as const;

/**
 * A missing or different repository is never replaced by a new one: a person who empties or swaps a drive must not lose
 * the history unnoticed.
 */
function gone(destination: EngineDestination, reason: keyof typeof GONE, cause?: unknown): RepositoryError {
  const [what, hint] = GONE[reason];
  return new RepositoryError(
    'NO_REPOSITORY',
    `The repository of the destination "${destination.name}" ${what}`,
    {
      hint,
      details: { destination: destination.name, reason },
      retry: 'later',
      cause,
    },
  );
}
