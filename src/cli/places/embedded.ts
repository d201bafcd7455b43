/** The repository that `start` makes in the state directory, so that backing up needs no preparation. */
import { randomBytes } from 'node:crypto';
import { writeFileAtomically } from '../../base/atomic-file.ts';
import { RepositoryError } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { withLockFile } from '../../base/lock-file.ts';
import { passphraseCost } from '../../codec/kdf.ts';
import { formatRecoveryCode } from '../../codec/recovery-code.ts';
import { openDestination } from '../../destination/open/open.ts';
import { readKeyFiles } from '../../repository/slots/key-files.ts';
import { memoryBytes } from '../../system/machine-memory.ts';
import { createRepository, openRepository } from '../../repository/opening.ts';
import type { Repository } from '../../repository/repository.ts';
import { keepReserve } from '../../repository/reserve.ts';
import type { Surroundings } from '../command/context.ts';
import { openOptions } from './open.ts';
import { generatePassphrase, writeRecoveryKit } from './recovery-kit.ts';
import {
  createMachineKey,
  ensureStateDirectory,
  knownRepositoryId,
  readMachineKey,
  statePaths,
  type StatePaths,
} from '../command/state-directory.ts';

export interface Embedded {
  readonly repository: Repository;
  /** Whether this call made it. */
  readonly created: boolean;
}

/**
 * Opens the embedded repository, or makes it. A repository that was there before and is gone is not made anew, which
 * would hide the loss.
 * @throws {RepositoryError} {StateError} {DestinationError}
 */
export async function openEmbedded(context: Surroundings): Promise<Embedded> {
  const paths = statePaths(context.env);
  await ensureStateDirectory(paths.directory);
  const knownId = await knownRepositoryId(paths);
  const destination = await openDestination(paths.repository, { create: true }, context.signal);
  try {
    const isAbsent = await hasNoKeys(destination, context);
    if (isAbsent && knownId !== undefined) throw gone(paths);
    // If two programs start at once, the second must not replace the recovery kit of the first by one that opens nothing.
    const made = isAbsent
      ? await withLockFile(
          `${paths.repositoryId}.lock`,
          async () =>
            (await hasNoKeys(destination, context)) ? await create(paths, destination, context) : undefined,
          context.signal,
        )
      : undefined;
    const repository = made ?? (await openWithMachineKey(paths, destination, context));
    const created = made !== undefined;
    if (knownId !== undefined && knownId !== repository.id) throw replaced(paths);
    if (knownId === undefined) await writeFileAtomically(paths.repositoryId, `${repository.id}\n`);
    return { repository, created };
  } catch (error) {
    await destination.close();
    throw error;
  }
}

async function hasNoKeys(destination: Repository['destination'], { signal }: Surroundings): Promise<boolean> {
  const { slots, damaged } = await readKeyFiles(destination, signal);
  return slots.length === 0 && damaged.length === 0;
}

async function openWithMachineKey(
  paths: StatePaths,
  destination: Repository['destination'],
  context: Surroundings,
): Promise<Repository> {
  const secret = await requireMachineKey(paths);
  return await openRepository(destination, { kind: 'machine', secret }, openOptions(context), context.signal);
}

/**
 * Writes the recovery kit before it makes the repository: a crash between the two leaves a useless kit, never a
 * repository without a kit.
 */
async function create(
  paths: StatePaths,
  destination: Repository['destination'],
  context: Surroundings,
): Promise<Repository> {
  const machine = (await readMachineKey(paths)) ?? (await createMachineKey(paths));
  const recovery = randomBytes(32);
  const passphrase = generatePassphrase();
  const recoveryCode = formatRecoveryCode(recovery);
  // The agent uses both when it makes repositories at other places, so that one kit opens them all.
  await writeFileAtomically(paths.passphrase, `${passphrase}\n`);
  await writeFileAtomically(paths.recoveryCode, `${recoveryCode}\n`);
  await writeRecoveryKit(paths.recoveryKit, {
    location: paths.repository,
    passphrase,
    recoveryCode,
    madeMs: context.clock.now(),
  });
  const created = await createRepository(
    destination,
    {
      ...openOptions(context),
      secrets: [
        { secret: { kind: 'machine', secret: machine }, label: 'this machine' },
        { secret: { kind: 'passphrase', text: passphrase }, label: 'recovery kit' },
        { secret: { kind: 'recovery', secret: recovery }, label: 'recovery kit' },
      ],
      cost: passphraseCost(context.env, memoryBytes()),
    },
    context.signal,
  );
  await keepReserve(created, 0, context.signal);
  return created;
}

async function requireMachineKey(paths: StatePaths): Promise<Buffer> {
  const key = await readMachineKey(paths);
  if (key !== undefined) return key;
  throw new RepositoryError('WRONG_PASSPHRASE', `The machine key ${paths.machineKey} is missing`, {
    hint: `Restore it from a copy, or use the passphrase of the recovery kit: ${holdfast`backup -r ${paths.repository} DIR`}`,
  });
}

function gone(paths: StatePaths): RepositoryError {
  return new RepositoryError('NO_REPOSITORY', `The repository in ${paths.repository} is gone`, {
    hint: `If it is on another drive, connect the drive. To start a new repository, first move away ${paths.repositoryId} and ${paths.recoveryKit}`,
  });
}

function replaced(paths: StatePaths): RepositoryError {
  return new RepositoryError(
    'REFUSED',
    `The repository in ${paths.repository} is not the one that was there before`,
    {
      hint: `Find out who replaced it. If it was you, remove ${paths.repositoryId}`,
    },
  );
}
