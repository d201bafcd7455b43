/** Tries a place out before backups are sent to it: otherwise a missing place would be noticed only when files are needed. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DestinationError, StateError } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { applyChanges, type ConfigChange } from '../../config/config-edit.ts';
import { loadConfig } from '../../config/load.ts';
import type { DestinationSettings, SecretReference, Settings } from '../../config/settings.ts';
import type { Finding } from '../../daemon/doctor/finding.ts';
import { NEEDS_PASSPHRASE } from '../../daemon/doctor/try-destination.ts';
import { kitPassphrase, kitRecoveryCode } from '../../daemon/places/kit-secrets.ts';
import { directoryOf, parseLocation, shownPlace } from '../../destination/location.ts';
import type { Context } from '../command/context.ts';
import { configFile, type StatePaths } from '../command/state-directory.ts';
import { tryOut } from '../places/destination-look.ts';
import { checkChange, readSettings, settingsContext, settingsOrDefaults } from '../places/settings-file.ts';

export interface Insisting {
  /** The beginning of the error: `nas was not added`. */
  readonly refused: string;
  /** The command that does it nevertheless. */
  readonly command: string;
  /** Text that follows the command. */
  readonly more?: string;
  /** The command that names a file with the passphrase of a repository that is there already. */
  readonly withPassphrase?: string;
}

/**
 * Tries a place out by storing, reading and removing something there. Makes what the first backup would make. Returns
 * the warnings.
 * @throws {DestinationError} when backups could not be kept there; {StateError} WRONG_PASSPHRASE when the only thing
 * that is wrong is that a repository there needs another passphrase
 */
export async function requireUsable(
  settings: DestinationSettings,
  { refused, command, more = '', withPassphrase }: Insisting,
  context: Context,
): Promise<readonly Finding[]> {
  const findings = await tryOut(settings, { configured: true, isNew: true }, context);
  const wrong = findings.filter(({ status }) => status === 'error');
  const [first] = wrong;
  if (first === undefined) return findings.filter(({ status }) => status === 'warning');
  const said = wrong.map(({ message }) => message).join('; ');
  if (withPassphrase !== undefined && wrong.every(({ check }) => check === NEEDS_PASSPHRASE))
    throw new StateError('WRONG_PASSPHRASE', `${refused}: ${said}`, {
      hint: `Put the passphrase or the recovery code of that repository into a file that only you can read, and run: ${withPassphrase}`,
    });
  throw new DestinationError('unreachable', `${refused}: ${said}`, {
    op: 'test',
    hint: `${joined(first.hint)}o do it anyway${mayBeElsewhere(first) ? ', for example when the disk is not connected today' : ''}: ${command}${more}`,
    details: { destination: settings.name, place: shownPlace(parseLocation(settings.url)) },
  });
}

/** Whether the place may just be elsewhere today: not if it could be opened and failed then. */
function mayBeElsewhere({ check }: Finding): boolean {
  return check === 'open' || check === 'mounted';
}

/**
 * A hint and the first letter of the text that follows it. A hint that ends with a command has no full stop, which
 * would be copied with the command.
 */
function joined(hint: string): string {
  if (hint === '') return 'T';
  return /[.!?]$/.test(hint) ? `${hint} T` : `${hint}; or, t`;
}

/**
 * Tries out a setting that would send backups to another directory of this machine before it is written. Tries out a
 * change that sends backups to another local directory. Remote places are not tried here: their address and access are
 * set one after the other, and `holdfast destinations test` tries them then.
 * @param insisting the command that makes the change nevertheless
 * @throws {DestinationError} when backups could not be kept there
 */
export async function tryChange(change: ConfigChange, insisting: string, context: Context): Promise<void> {
  const loaded = await readSettings(undefined, context);
  await checkChange([change], loaded, undefined, context);
  const before = loaded?.settings ?? (await settingsOrDefaults(undefined, context));
  const file = configFile(undefined, context.env);
  const text = Buffer.from(applyChanges(loaded?.text ?? '{}', [change]));
  const after = loadConfig(file, text, settingsContext(context.env)).settings;
  for (const place of toBeTried(before, after))
    await requireUsable(place, { refused: 'Nothing was changed', command: insisting }, context);
}

function toBeTried(before: Settings, after: Settings): readonly DestinationSettings[] {
  const known = new Map(before.destinations.map(({ name, url }) => [name, url]));
  return after.destinations.filter(({ name, url, untested }) => {
    const isElsewhere = known.get(name) !== url;
    const isChosen = name === after.defaultDestination && name !== before.defaultDestination;
    const isOnMachine = directoryOf(url) !== undefined && url !== after.embedded.url;
    return isOnMachine && untested !== true && (isElsewhere || isChosen);
  });
}

interface NewPlace {
  readonly url: string;
  readonly passphrase?: SecretReference;
}

/**
 * Says what will open the repository that the first backup makes at a new destination, or what opens the one that is there
 * already and keeps its keys. Undefined where the recovery kit of this computer opens that one, or nobody has looked.
 * @throws {StateError}
 */
export async function whatWillOpen(
  { url, passphrase }: NewPlace,
  { directory: state }: StatePaths,
  name: string,
): Promise<string | undefined> {
  const directory = directoryOf(url);
  if (directory !== undefined && existsSync(join(directory, 'keys')))
    return passphrase === undefined
      ? undefined
      : `The backups there open with the passphrase that you gave, or with the recovery kit of the computer that made them. Keep that kit: the one of this computer does not open them. To let it, once it is made: ${holdfast`keys add -r ${name} --recovery-kit`}`;
  const made = directory === undefined ? 'The repository created there' : 'The repository there';
  const another = `To create a recovery code for it after the first backup: ${holdfast`keys add -r ${name} --recovery-code`}`;
  if (passphrase !== undefined)
    return `${made} opens with the passphrase you chose, not with the recovery kit. ${another}`;
  // If there is neither, the first start makes a kit with both.
  const isComplete =
    (await kitRecoveryCode(state)) !== undefined || (await kitPassphrase(state)) === undefined;
  return isComplete
    ? `${made} opens with the recovery kit of this computer: either its passphrase or its recovery code.`
    : `${made} opens with the passphrase of the recovery kit, but not with its recovery code. ${another}`;
}
