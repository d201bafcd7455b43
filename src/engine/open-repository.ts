/** The repository of a job: opened by the rules for destinations, and kept open for the next job of the same one. */
import { sep } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { HoldfastError, RepositoryError, isAbort, isAbsentPlace } from '../base/errors.ts';
import { holdfast } from '../base/holdfast-command.ts';
import { passphraseCost, testCost } from '../codec/passphrase-cost.ts';
import { parseRecoveryCode } from '../codec/recovery-code.ts';
import { openCached, openLook, type CachedRepository } from '../cache/open.ts';
import type { Destination } from '../destination/destination.ts';
import { UploadLimit, paceOf } from '../destination/limited.ts';
import { createMemoryDestination } from '../destination/memory.ts';
import { directoryOf, parseLocation, shownPlace } from '../destination/location.ts';
import { openDestination } from '../destination/open/open.ts';
import type { FirstLook, LookExtent } from '../repository/first-look.ts';
import type { Secret } from '../repository/slots/key-slots.ts';
import {
  createRepository,
  openRepository,
  type OpenOptions,
  type Repository,
} from '../repository/repository.ts';
import { keepReserve } from '../repository/reserve.ts';
import { secretHanded } from '../repository/slots/typed-secret.ts';
import { readKeyFiles, withCopies } from '../repository/slots/key-files.ts';
import { memoryBytes } from '../system/machine-memory.ts';
import type { EngineDestination } from './protocol.ts';
import { watchPacks, type WatchedPacks } from './watched-packs.ts';
import type { SlotFile } from '../repository/slots/slot-file.ts';

/** What the engine process gives every job. */
export interface EngineSurroundings {
  readonly clock: Clock;
  /** Of the process; only the test setting of the passphrase cost is read. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface OpenRequest {
  readonly destination: EngineDestination;
  readonly stateDirectory: string;
  /** What to do where there is no repository and none is remembered. */
  readonly absent: 'create' | 'pretend' | 'refuse';
  /** Asked when one is made: the repository that it is made like, if any. */
  readonly like?: (() => Promise<Repository | undefined>) | undefined;
}

export interface JobRepository extends OpenedRepository {
  /** For jobs that only read or add: its metadata comes from this machine's copies where the repository is far away. */
  readonly cached: Repository;
  /** What was sent to it, and whether that is limited now. */
  readonly upload: Pick<UploadLimit, 'limited' | 'passed'>;
}

interface OpenedRepository extends Pick<WatchedPacks, 'packBytes' | 'useSpool' | 'hasThrown'> {
  readonly repository: Repository;
  /** Made just now. */
  readonly created: boolean;
  /** One in memory that stands in for a repository that does not exist: for dry runs. */
  readonly pretended: boolean;
  /** Absolute path of a destination on this machine. */
  readonly directory: string | undefined;
  /** For people: a path or a URL. */
  readonly shown: string;
  /** How a job sees a far destination when it begins. */
  readonly look: FirstLook | undefined;
}

type Where = Pick<JobRepository, 'directory' | 'shown'>;

interface Kept {
  readonly opened: JobRepository;
  readonly cache: CachedRepository;
  /** What it was opened for: another request opens another one. */
  readonly identity: string;
  readonly stateDirectory: string;
  /** Names of the key and configuration objects at that time. */
  readonly keys: string;
}

/**
 * Opens repositories for one job after the other. Stretching a passphrase takes half a second, so the last repository
 * stays open; what it remembers of the destination are its keys and configuration, which are compared by name before
 * it is used again. Everything else is listed anew by every job.
 */
export class RepositoryKeeper implements AsyncDisposable {
  readonly #surroundings: EngineSurroundings;
  readonly #limit: UploadLimit;
  /** A limit that was set since the job began: its request has an older one. */
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

  /** A job begins, which brings its own limit. */
  begin(): void {
    this.#changed = undefined;
  }

  /** Holds at once, also for a job at work, and for one that has not come to open its repository. */
  limit(bytesPerSecond: number | null): void {
    this.#changed = { to: bytesPerSecond };
    this.#limit.set(bytesPerSecond ?? undefined);
  }

  /** Closes what lies on a disk that may be unmounted: all directories but those in the state of this machine. */
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

/** Whether the destination still is the one that was opened, with the same keys and configuration. */
async function stillStands({ opened, keys }: Kept, signal: AbortSignal): Promise<boolean> {
  if (opened.pretended) return false;
  try {
    return (await keyNames(opened.repository.destination, signal)) === keys;
  } catch (error) {
    if (isAbort(error) || !(error instanceof HoldfastError)) throw error;
    // Opening anew says what is wrong.
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
    // Before the secret is tried: that it does not open a stranger's repository says nothing about the secret.
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
    throw error;
  }
}

type ReadingSecret = Exclude<Secret, { readonly kind: 'write-only' }>;

const LABELS: Readonly<Record<ReadingSecret['kind'], string>> = {
  machine: 'this machine',
  passphrase: 'passphrase',
  recovery: 'recovery code',
};

/** A backup lists nearly everything; other jobs list less, or want to see what is there at that very moment. */
function extentOf({ absent }: OpenRequest): LookExtent | undefined {
  return absent === 'refuse' ? undefined : 'everything';
}

/** Undefined where there is nothing and a dry run only wants to know what would be. */
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

/** @throws {RepositoryError} REFUSED for a write-only key: jobs compare, list and check what they make */
function secretFor({ secret, name }: EngineDestination): ReadingSecret {
  const handed = secretHanded(secret);
  if (handed.kind !== 'write-only') return handed;
  throw new RepositoryError('REFUSED', `The destination "${name}" has a write-only key for a passphrase`, {
    hint: `The agent needs a key that reads. With this one back up by "${holdfast`backup`}", from a timer of the system.`,
  });
}

/** Of the kit whose passphrase the repository is made with. */
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
    'Check that the drive or share is connected and mounted. If it was deleted on purpose, name another folder as the destination: backups begin anew there.',
  ],
  empty: [
    'is gone: the place is empty',
    'Check that the right drive is mounted there. If it was emptied on purpose, name another folder as the destination, such as a new one below it: backups begin anew there.',
  ],
  different: [
    'was replaced by another one',
    'Find out who replaced it. To use the other one, move it to another folder, and name that as the destination.',
  ],
} as const;

/** Never a reason to make a new repository: whoever empties or swaps a drive must not end up without history unnoticed. */
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
