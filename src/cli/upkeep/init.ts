import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { RepositoryError, isAbsentPlace } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { passphraseCost } from '../../codec/kdf.ts';
import { formatRecoveryCode, parseRecoveryCode } from '../../codec/recovery-code.ts';
import { kitPassphrase, kitRecoveryCode } from '../../daemon/places/kit-secrets.ts';
import type { Destination } from '../../destination/destination.ts';
import { directoryOf } from '../../destination/location.ts';
import { openDestination } from '../../destination/open/open.ts';
import { readKeyFiles } from '../../repository/slots/key-files.ts';
import { createRepository } from '../../repository/opening.ts';
import type { Repository } from '../../repository/repository.ts';
import { keepReserve } from '../../repository/reserve.ts';
import { memoryBytes } from '../../system/machine-memory.ts';
import { unmountedAt } from '../../system/unmounted.ts';
import type { Context } from '../command/context.ts';
import { placeNamed, reachOfPlace, type ChosenPlace } from '../places/chosen-place.ts';
import { knownDestinations } from '../agent/ask-agent.ts';
import { newPassphrase } from '../keys/new-passphrase.ts';
import { openOptions, openOther, shownLocation } from '../places/open.ts';
import {
  addExamples,
  addOutputOptions,
  addRepositoryOptions,
  usage,
  type OutputOptions,
  type RepositoryOptions,
} from '../command/options.ts';
import { secretOfSettings } from '../places/reach.ts';
import { givenByOptions, readGiven, takeFromEnvironment } from '../places/secret.ts';
import { statePaths } from '../command/state-directory.ts';
import { createStyles, printable, wantsColor } from '../terminal/terminal.ts';
import { shortId } from '../terminal/wording.ts';
import { mayBeThere } from '../../system/where-it-lies.ts';

interface InitOptions extends RepositoryOptions, OutputOptions {
  readonly like?: string;
  readonly likePasswordFile?: string;
  readonly likePasswordCommand?: string;
}

export function define(command: Command, context: Context): void {
  addRepositoryOptions(command)
    .optionsGroup('Relation to another repository:')
    .option(
      '--like <dir>',
      'Share deduplication settings with that repository, so that copying between them is cheap',
    )
    .option('--like-password-file <file>', 'Its passphrase, if it differs')
    .option('--like-password-command <command>', 'The same, from a command');
  addOutputOptions(command, { json: 'The result as a JSON object, recovery code included' });
  addExamples(command, [
    [holdfast`init -r /mnt/backup`, 'create a repository on a drive; asks for a passphrase'],
  ]);
  command.action(async (options: InitOptions) => {
    await init(options, context);
  });
}

async function init(options: InitOptions, context: Context): Promise<void> {
  const named = options.repository ?? context.env['HOLDFAST_REPOSITORY'] ?? '';
  if (named === '') {
    throw usage(
      'It is not clear where to create the repository',
      `Give a directory: ${holdfast`init -r DIR`}. Or let Holdfast choose one: ${holdfast`start --source DIR`}`,
    );
  }
  const place = await placeNamed(named, context);
  const { location } = place;
  if (place.how === 'embedded')
    throw usage(
      '"init" cannot create the repository in the state directory',
      `The first start creates it, with a key for this machine: ${holdfast`start --source DIR`}`,
    );
  await requireNone(place, context);
  await requireNoneElsewhere(place, context);
  await warnOfNewParents(location, context);
  warnIfUnmounted(location, context);
  const passphrase = await passphraseFor(place, options, context);
  const like =
    options.like === undefined ? undefined : await openLike(options.like, passphrase, options, context);
  const ofKit = await codeOfKit(place, passphrase, context);
  const recovery = ofKit ?? randomBytes(32);
  const label = ofKit === undefined ? 'recovery code' : 'recovery kit';
  const reach = await reachOfPlace(place, context);
  const destination = await openDestination(location, { ...reach, create: true }, context.signal);
  try {
    const created = await createRepository(
      destination,
      {
        ...openOptions(context),
        secrets: [
          { secret: { kind: 'passphrase', text: passphrase }, label: 'passphrase' },
          { secret: { kind: 'recovery', secret: recovery }, label },
        ],
        cost: passphraseCost(context.env, memoryBytes()),
        ...(like === undefined ? {} : { like }),
      },
      context.signal,
    );
    await keepReserve(created, 0, context.signal);
    const code = ofKit === undefined ? formatRecoveryCode(recovery) : undefined;
    await tell(created, shownLocation(location), code, options, context);
  } finally {
    await destination.close();
    await like?.close();
  }
}

/** A repository made where a disk is not mounted fills the system disk, and is hidden once the disk is mounted. */
function warnIfUnmounted(location: string, { stderr }: Context): void {
  const directory = directoryOf(location);
  const point = directory === undefined ? undefined : unmountedAt(directory);
  if (point === undefined) return;
  stderr.write(
    `Warning: nothing seems to be mounted at ${printable(point)}, so this repository is on the system disk.\n`,
  );
}

/**
 * Refuses the name of a destination whose backups are in a repository that is not there at the moment: a second one,
 * below an empty mount point, would hide the first from everybody who looks there.
 */
async function requireNoneElsewhere({ settings, location }: ChosenPlace, context: Context): Promise<void> {
  if (settings === undefined) return;
  const id = (await knownDestinations(context))?.find(({ name }) => name === settings.name)?.repository_id;
  if (id === undefined || id === null || id === '') return;
  throw new RepositoryError(
    'REPOSITORY_EXISTS',
    `The backups of ${settings.name} are in a repository (${shortId(id)}) that is not available at the moment`,
    {
      hint: `Connect or mount its disk. To start an empty repository at the same place anyway, use its path: ${holdfast`init -r ${shownLocation(location)}`}`,
    },
  );
}

/** A path whose parents are missing too is often that of a disk which is not mounted. */
async function warnOfNewParents(location: string, { stderr }: Context): Promise<void> {
  const directory = directoryOf(location);
  if (directory === undefined) return;
  const parent = dirname(directory);
  if (await mayBeThere(parent)) return;
  stderr.write(
    `Note: creating ${printable(parent)}, which did not exist. If a disk or share should be mounted there, mount it first.\n`,
  );
}

/** Nobody should choose a passphrase only to learn that there is a repository already. */
async function requireNone(place: ChosenPlace, context: Context): Promise<void> {
  const { location } = place;
  let destination: Destination;
  try {
    destination = await openDestination(location, await reachOfPlace(place, context), context.signal);
  } catch (error) {
    if (isAbsentPlace(error)) return;
    throw error;
  }
  try {
    const { slots, damaged } = await readKeyFiles(destination, context.signal);
    if (slots.length === 0 && damaged.length === 0) return;
    throw new RepositoryError(
      'REPOSITORY_EXISTS',
      `There is already a repository in ${shownLocation(location)}`,
      { hint: 'Use that repository, or choose another directory.' },
    );
  } finally {
    await destination.close();
  }
}

/**
 * The passphrase that was given; else the one that the settings name for the place, as the agent will use that; else
 * typed twice.
 */
async function passphraseFor(
  { settings }: ChosenPlace,
  options: InitOptions,
  context: Context,
): Promise<string> {
  if (givenByOptions(options) !== undefined || settings === undefined)
    return await newPassphrase(options, context);
  const secret = await secretOfSettings(settings, context);
  if (secret === undefined) return await newPassphrase(options, context);
  if (secret.kind === 'passphrase') {
    await requireOne(secret.text, settings.name, context);
    return secret.text;
  }
  throw usage(
    `The passphrase in the settings of ${settings.name} is a key to an existing repository`,
    'A new repository needs its own keys. Set a passphrase in the settings and run init again; a recovery code is created with the repository.',
  );
}

/**
 * Refuses two different passphrases. Later, commands take that of the environment and the agent that of the settings:
 * both have to open the repository that is made here.
 */
async function requireOne(ofSettings: string, name: string, context: Context): Promise<void> {
  const fromEnvironment = takeFromEnvironment({ ...context.env });
  if (fromEnvironment === undefined || (await readGiven(fromEnvironment, context)) === ofSettings) return;
  throw usage(
    `The passphrase in the environment differs from the one in the settings of ${name}`,
    'The agent uses the one in the settings. Unset HOLDFAST_PASSWORD, HOLDFAST_PASSWORD_FILE and HOLDFAST_PASSWORD_COMMAND, or make both the same.',
  );
}

/**
 * Opens the repository named by `--like`: with the passphrase given for it, else with what this computer has for it, the
 * new passphrase, or one that is asked for.
 */
async function openLike(
  named: string,
  passphrase: string,
  options: InitOptions,
  context: Context,
): Promise<Repository> {
  const given = givenByOptions({
    ...(options.likePasswordFile === undefined ? {} : { passwordFile: options.likePasswordFile }),
    ...(options.likePasswordCommand === undefined ? {} : { passwordCommand: options.likePasswordCommand }),
  });
  try {
    return await openOther(named, given, { text: passphrase }, context);
  } catch (error) {
    const wrong = error instanceof RepositoryError && error.code === 'WRONG_PASSPHRASE';
    if (!wrong || given !== undefined) throw error;
    throw new RepositoryError('WRONG_PASSPHRASE', error.message, {
      hint: 'Give the passphrase of that repository with --like-password-file or --like-password-command.',
      cause: error,
    });
  }
}

/**
 * The recovery code of the kit, where the repository gets the kit's passphrase: the kit opens what this computer makes,
 * whoever makes it first. Undefined where there is none.
 */
async function codeOfKit({ settings }: ChosenPlace, passphrase: string, { env }: Context) {
  if (settings === undefined || settings.passphrase !== null) return undefined;
  const { directory } = statePaths(env);
  if ((await kitPassphrase(directory)) !== passphrase) return undefined;
  const code = await kitRecoveryCode(directory);
  return code === undefined ? undefined : parseRecoveryCode(code);
}

/** `recoveryCode`: undefined where it is that of the recovery kit, which the person has already. */
async function tell(
  { id, destination }: Repository,
  place: string,
  recoveryCode: string | undefined,
  options: InitOptions,
  { out, env }: Context,
): Promise<void> {
  if (options.json === true) {
    const { url } = destination.properties;
    const code = recoveryCode ?? null;
    await out.json({ type: 'repository', repository_id: id, location: url, recovery_code: code });
    return;
  }
  if (recoveryCode === undefined) {
    await out.write(`Repository ${id.slice(0, 8)} is ready in ${printable(place)}

It opens with the recovery kit of this computer: either its passphrase or its recovery code.
`);
    return;
  }
  const { bold } = createStyles(wantsColor(out.stream, env));
  await out.write(`Repository ${id.slice(0, 8)} is ready in ${printable(place)}

Recovery code  ${bold(recoveryCode)}

It opens the repository if you lose the passphrase. It is not shown again: write it down, and keep it away
from the backups. Without the passphrase or this code, nobody can read them.
`);
}
