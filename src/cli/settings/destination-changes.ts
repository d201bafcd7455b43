/** Adds and removes destinations, and sets the default one. Each command says what becomes of existing backups. */
import { resolve } from 'node:path';
import { resolveTyped } from '../../base/typed-path.ts';
import { RequestError } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import {
  type ConfigChange,
  removeDestination,
  removeValue,
  setDestination,
  setValue,
} from '../../config/config-edit.ts';
import {
  DEFAULT_DESTINATION,
  EMBEDDED_DESTINATION,
  findDestination,
} from '../../config/effective-settings.ts';
import { shownDestination, shownNames } from '../../config/embedded-repository.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { DestinationSettings, SecretReference, Settings } from '../../config/settings.ts';
import { onePlaces } from '../../daemon/places/one-place.ts';
import type { Finding } from '../../daemon/doctor/finding.ts';
import { directoryOf } from '../../destination/location.ts';
import type { Context } from '../command/context.ts';
import { showFindings } from '../doctor/doctor.ts';
import { type Elsewhere, holdings, lookAtEach, othersOf } from '../places/elsewhere.ts';
import { type OutputOptions, usage } from '../command/options.ts';
import { changeSettings, checkChange, readSettings, settingsOrDefaults } from '../places/settings-file.ts';
import { printable } from '../terminal/terminal.ts';
import { type Insisting, requireUsable, whatWillOpen } from './usable-destination.ts';
import { usableOrAsked } from './asked-passphrase.ts';
import { statePaths } from '../command/state-directory.ts';
import { count } from '../terminal/wording.ts';

export interface ChangeOptions extends OutputOptions {
  readonly config?: string;
}

export interface AddOptions extends ChangeOptions {
  readonly default?: boolean;
  readonly untested?: boolean;
  readonly passphraseFile?: string;
  readonly passphraseEnv?: string;
  readonly passphraseCommand?: string;
  readonly passphraseCredential?: string;
}

/** Refuses a second name for a place, which would be no second copy. @throws {RequestError} INVALID_DESTINATION */
function refuseOnePlace(name: string, url: string, known: readonly DestinationSettings[]): void {
  const same = onePlaces([...known, { name, url }]).find((names) => names.includes(name));
  if (same === undefined) return;
  const others = same.filter((one) => one !== name).join(', ');
  throw new RequestError('INVALID_DESTINATION', `That location is already a destination: ${others}`, {
    hint: 'Use that destination, or choose another location: a second name for the same place is not a second copy.',
  });
}

export async function addDestination(
  name: string,
  location: string,
  options: AddOptions,
  context: Context,
): Promise<void> {
  const loaded = await readSettings(options.config, context);
  const before = loaded?.settings ?? (await settingsOrDefaults(undefined, context));
  if (namesOf(loaded).includes(name))
    throw new RequestError('INVALID_DESTINATION', `There is already a destination called ${name}`, {
      hint: `Choose another name, or change its location: ${holdfast`config set destinations.${name}.url ${location}`}`,
    });
  const given = passphraseOf(options);
  const url = locationOf(location);
  const named = before.destinations.filter((one) => namesOf(loaded).includes(one.name));
  refuseOnePlace(name, url, named);
  const isUntested = options.untested === true;
  const changesWith = (passphrase: SecretReference | undefined): readonly ConfigChange[] => [
    setDestination(name, {
      url,
      ...(passphrase === undefined ? {} : { passphrase }),
      ...(isUntested ? { untested: true } : {}),
    }),
    ...(options.default === true ? [setValue(['defaultDestination'], name)] : []),
  ];
  // Faults of the name or the URL are reported before faults of the place.
  await checkChange(changesWith(given), loaded, options.config, context);
  const { concerns, passphrase } = isUntested
    ? { concerns: [], passphrase: given }
    : await usableOrAsked(
        { name, url, passphrase: given ?? null },
        insisting(name, location, options),
        context,
      );
  const changed = await changeSettings(changesWith(passphrase), loaded, options.config, context);
  const earlier = options.default === true ? await earlierBackups(changed.settings, context) : [];
  if (options.json === true) {
    await context.out.json({
      type: 'destination_added',
      name,
      url,
      default: options.default === true,
      tested: !isUntested,
      earlier_backups: earlier.map(earlierObject),
    });
    return;
  }
  const test = holdfast`destinations test ${name}`;
  const trial = isUntested
    ? `It was not tested. Backups to it wait until it is available; test it then with: ${test}`
    : 'The test succeeded.';
  await context.out.line(printable(`Added ${name}, at ${url}. ${trial}`));
  const opening = await whatWillOpen(
    { url, ...(passphrase === undefined ? {} : { passphrase }) },
    statePaths(context.env),
    name,
  );
  if (opening !== undefined) await context.out.line(printable(opening));
  await showConcerns(concerns, context);
  if (options.default === true) await sayEarlier(name, before, changed.settings, earlier, context);
}

function insisting(name: string, location: string, options: AddOptions): Insisting {
  const isOnMachine = directoryOf(locationOf(location)) !== undefined;
  return {
    refused: `${name} was not added`,
    withPassphrase:
      options.default === true
        ? holdfast`destinations add ${name} ${location} --default --passphrase-file FILE`
        : holdfast`destinations add ${name} ${location} --passphrase-file FILE`,
    command:
      options.default === true
        ? holdfast`destinations add ${name} ${location} --default --untested`
        : holdfast`destinations add ${name} ${location} --untested`,
    more: isOnMachine
      ? ''
      : `. Then set what it needs for access: ${holdfast`config set destinations.${name}.access JSON`}`,
  };
}

/** Resolves a relative path from the working directory; a URL stays as it is. */
export function locationOf(text: string): string {
  return /^[a-z][a-z0-9+.-]+:/i.test(text) ? text : resolveTyped(text);
}

function passphraseOf(options: AddOptions): SecretReference | undefined {
  const { passphraseFile, passphraseEnv, passphraseCommand, passphraseCredential } = options;
  const given: readonly SecretReference[] = [
    ...(passphraseFile === undefined ? [] : [{ file: resolve(passphraseFile) }]),
    ...(passphraseEnv === undefined ? [] : [{ env: passphraseEnv }]),
    ...(passphraseCommand === undefined ? [] : [{ command: passphraseCommand }]),
    ...(passphraseCredential === undefined ? [] : [{ credential: passphraseCredential }]),
  ];
  if (given.length > 1) throw usage('Only one option can set the passphrase', 'Use only one of them.');
  return given[0];
}

export interface DefaultOptions extends ChangeOptions {
  readonly untested?: boolean;
}

export async function chooseDefault(
  wanted: string,
  options: DefaultOptions,
  context: Context,
): Promise<void> {
  const loaded = await readSettings(options.config, context);
  const before = loaded?.settings ?? (await settingsOrDefaults(options.config, context));
  const place = destinationNamed(wanted, before);
  if (place.name === before.defaultDestination) {
    await say(
      `${shownDestination(place.name, before)} is already the default destination.`,
      { type: 'default_destination', name: place.name },
      options,
      context,
    );
    return;
  }
  const isEmbedded = place.url === before.embedded.url;
  const concerns =
    isEmbedded || options.untested === true
      ? []
      : await requireUsable(
          place,
          {
            refused: `The default destination is still ${shownDestination(before.defaultDestination, before)}`,
            command: holdfast`destinations set-default ${place.name} --untested`,
          },
          context,
        );
  const changed = await changeSettings(changesToDefault(place, loaded), loaded, options.config, context);
  const { settings } = changed;
  const name = settings.defaultDestination;
  const earlier = await earlierBackups(settings, context);
  if (options.json === true) {
    const object = { type: 'default_destination', name, earlier_backups: earlier.map(earlierObject) };
    await context.out.json(object);
    return;
  }
  await context.out.line(printable(`${shownDefault(settings)} is now the default destination.`));
  await showConcerns(concerns, context);
  await sayEarlier(name, before, settings, earlier, context);
}

/** The default destination as shown to people. The embedded repository may have another name than the one that was typed. */
function shownDefault({ defaultDestination, destinations, embedded }: Settings): string {
  const place = destinations.find(({ name }) => name === defaultDestination);
  return place?.url === embedded.url
    ? `The repository on this computer (${embedded.url})`
    : defaultDestination;
}

function destinationNamed(wanted: string, settings: Settings): DestinationSettings {
  const place = findDestination(settings, wanted);
  if (place !== undefined) return place;
  const names = shownNames(settings).join(', ');
  throw new RequestError('INVALID_DESTINATION', `There is no destination called ${wanted}`, {
    hint: `Destinations are: ${names}. Add one with: ${holdfast`destinations add NAME LOCATION`}`,
  });
}

/** @param without a destination that is being removed */
function changesToDefault(
  place: DestinationSettings,
  loaded: LoadedConfig | undefined,
  without?: string,
): readonly ConfigChange[] {
  const isNamed = namesOf(loaded).includes(place.name);
  const isTaken = namesOf(loaded).some((name) => name === DEFAULT_DESTINATION && name !== without);
  // Without the setting, the embedded repository is the default destination.
  if (isNamed || isTaken) return [setValue(['defaultDestination'], place.name)];
  return (loaded?.values.defaultDestination ?? null) === null ? [] : [removeValue(['defaultDestination'])];
}

export interface RemoveOptions extends ChangeOptions {
  readonly defaultTo?: string;
}

export async function dropDestination(name: string, options: RemoveOptions, context: Context): Promise<void> {
  const loaded = await readSettings(options.config, context);
  const settings = loaded?.settings ?? (await settingsOrDefaults(options.config, context));
  if (loaded === undefined || !namesOf(loaded).includes(name))
    throw await notRemovable(name, settings, context);
  const next = options.defaultTo === undefined ? undefined : destinationNamed(options.defaultTo, settings);
  if (next?.name === name)
    throw usage(`${name} cannot replace itself`, 'Give another destination after --default-to.');
  requireUnused(name, loaded, next);
  const changes = [
    ...(next === undefined ? [] : changesToDefault(next, loaded, name)),
    removeDestination(name),
  ];
  const changed = await changeSettings(changes, loaded, options.config, context);
  const { defaultDestination } = changed.settings;
  if (options.json === true) {
    const more = next === undefined ? {} : { default: defaultDestination };
    await context.out.json({ type: 'destination_removed', name, ...more });
    return;
  }
  await context.out.line(
    printable(`${name} was removed from the settings. The backups stored there are kept.`),
  );
  if (next !== undefined)
    await context.out.line(printable(`${shownDefault(changed.settings)} is now the default destination.`));
}

/** @throws {RequestError} INVALID_DESTINATION while backups go there, with the command that changes that */
function requireUnused(
  name: string,
  { settings, values }: LoadedConfig,
  next: DestinationSettings | undefined,
): void {
  const isDefault = settings.defaultDestination === name;
  const other = typedName(next ?? otherThan(name, settings), settings);
  const command = holdfast`destinations remove ${name} --default-to ${other}`;
  const together = `Choose another default destination at the same time: ${command}`;
  for (const [index, source] of settings.sources.entries()) {
    if (!source.destinations.includes(name)) continue;
    const message = `${name} is in use: ${source.path} is backed up to it`;
    const written = values.sources[index];
    const isNamed = written?.destinations?.includes(name) ?? written?.destination === name;
    if (isDefault && !isNamed) {
      if (next !== undefined) continue;
      throw inUse(message, together);
    }
    const rest = source.destinations.filter((one) => one !== name);
    const change =
      source.destinations.length > 1
        ? setCommand(`sources[${index}].destinations`, JSON.stringify(rest))
        : setCommand(
            `sources[${index}].${written?.destinations ? 'destinations' : 'destination'}`,
            written?.destinations ? JSON.stringify([other]) : other,
          );
    throw inUse(
      message,
      `Back it up elsewhere first: ${change}. Or stop backing it up: ${holdfast`sources remove ${source.path}`}`,
    );
  }
  if (values.defaultDestination === name && next === undefined)
    throw inUse(`${name} is the default destination`, together);
}

function setCommand(key: string, value: string): string {
  return holdfast`config set ${key} ${value}`;
}

/** A destination that can replace this one: another one of the settings, or the embedded repository, which always exists. */
function otherThan(name: string, { destinations, embedded }: Settings): DestinationSettings {
  return destinations.find((one) => one.name !== name) ?? embedded;
}

/** The name to type for a place, which stays valid once the settings have changed. */
function typedName(place: DestinationSettings, { destinations, embedded }: Settings): string {
  const isFree = destinations.every((one) => one.name !== EMBEDDED_DESTINATION || one === embedded);
  return place.url === embedded.url && isFree ? EMBEDDED_DESTINATION : place.name;
}

function inUse(message: string, hint: string): RequestError {
  return new RequestError('INVALID_DESTINATION', message, { hint });
}

/** The error for a name that the settings do not define: it is unknown, or means the embedded repository. */
async function notRemovable(name: string, settings: Settings, context: Context): Promise<RequestError> {
  const place = findDestination(settings, name);
  if (place === undefined || place.url !== settings.embedded.url)
    return new RequestError(
      'INVALID_DESTINATION',
      `There is no destination called ${name} in the configuration`,
      {
        hint: `List them with: ${holdfast`destinations list`}`,
      },
    );
  const [found] = await lookAtEach([place], settings, context);
  const what = found === undefined ? undefined : holdings(found);
  const lost = what === undefined ? '' : ` It holds ${what}.`;
  return new RequestError(
    'INVALID_DESTINATION',
    `${place.name} is the repository on this computer (${place.url}), which stays listed as long as it holds backups`,
    {
      hint: `It gets no new backups once another destination is the default: ${holdfast`destinations set-default NAME`}.${lost} To delete its backups for good: ${holdfast`forget -r ${place.name} SNAPSHOT`}, then ${holdfast`prune -r ${place.name}`}`,
    },
  );
}

/** The other destinations, except those that are known to have no snapshots. */
async function earlierBackups(settings: Settings, context: Context): Promise<readonly Elsewhere[]> {
  const others = othersOf(settings, settings.defaultDestination);
  const found = await lookAtEach(others, settings, context);
  return found.filter(({ snapshots }) => snapshots !== 0);
}

function earlierObject({ name, shown, snapshots }: Elsewhere): object {
  return { name, url: shown, snapshots };
}

async function sayEarlier(
  name: string,
  before: Settings,
  after: Settings,
  earlier: readonly Elsewhere[],
  { out }: Context,
): Promise<void> {
  const goesThere = ({ sources }: Settings, path: string): boolean =>
    sources.some((source) => source.path === path && source.destinations.includes(name));
  const moved = new Set(
    after.sources
      .map(({ path }) => path)
      .filter((path) => goesThere(after, path) && !goesThere(before, path)),
  );
  if (moved.size > 0)
    await out.line(
      printable(
        `${count(moved.size, 'source')} ${moved.size === 1 ? 'is' : 'are'} now backed up to ${shownDestination(name, after)}, starting with a full backup.`,
      ),
    );
  for (const one of earlier) {
    const what = holdings(one);
    const called = shownDestination(one.name, after);
    const where = `${called} (${one.shown})`;
    const stays =
      what === undefined
        ? `Anything stored in ${where} stays there.`
        : `Earlier backups stay in ${where}: ${what}.`;
    await out.line(printable(`${stays} List them with: ${holdfast`snapshots -r ${called}`}`));
  }
}

async function showConcerns(concerns: readonly Finding[], context: Context): Promise<void> {
  if (concerns.length > 0) await showFindings(concerns, context);
}

async function say(text: string, object: object, options: OutputOptions, { out }: Context): Promise<void> {
  if (options.json === true) await out.json(object);
  else await out.line(printable(text));
}

function namesOf(loaded: LoadedConfig | undefined): readonly string[] {
  return Object.keys(loaded?.values.destinations ?? {});
}
