/**
 * Builds the settings that the agent reads from the file's values with defaults, and checks what a schema cannot
 * express.
 */
import { join } from 'node:path';
import { BugError, HoldfastError } from '../base/errors.ts';
import { requireOwnTags } from '../base/job-tag.ts';
import { parseDuration, parseSize } from '../base/units.ts';
import { buildAccess } from './access-settings.ts';
import type { Filled, FilledConfig } from './schema.ts';
import type {
  DestinationSettings,
  NoticeSettings,
  SecretReference,
  Settings,
  SourceSettings,
} from './settings.ts';
import { checkAgainstSchema, type Fault } from './validate.ts';
import { absolutePath, isFromRoot, isHome, type SettingsContext } from './settings-context.ts';

/** Name of the default destination while no other is chosen. */
export const DEFAULT_DESTINATION = 'default';

/**
 * The name by which the embedded repository can always be addressed. It is also its name while another destination is
 * the default.
 */
export const EMBEDDED_DESTINATION = 'embedded';

/** Recognised by its directory, as the settings may give it another name. */
function embeddedDestination(
  name: string,
  { stateDirectory }: Pick<SettingsContext, 'stateDirectory'>,
): DestinationSettings {
  return { name, url: join(stateDirectory, 'repository'), passphrase: null };
}

export interface Built {
  /** Undefined when there are faults. */
  readonly settings: Settings | undefined;
  readonly faults: readonly Fault[];
}

export function buildSettings(config: FilledConfig, context: SettingsContext): Built {
  const faults: Fault[] = [];
  const { destinations, embedded } = buildDestinations(config, context, faults);
  const chosen = config.defaultDestination ?? DEFAULT_DESTINATION;
  const defaultDestination = nameOf(chosen, destinations, embedded);
  requireName(defaultDestination, ['defaultDestination'], destinations, faults);
  for (const name of ['prune', 'check', 'drill'] as const)
    ask(context.checkSchedule, config.maintenance[name], ['maintenance', name], faults);
  const settings: Settings = {
    listen: config.listen,
    plan: config.plan,
    timeZone: config.timeZone,
    requireEncryption: config.requireEncryption,
    defaultDestination,
    destinations,
    embedded,
    sources: buildSources(config, { context, destinations, embedded, defaultDestination, faults }),
    retention: config.retention,
    maintenance: {
      prune: config.maintenance.prune,
      check: config.maintenance.check,
      drill: config.maintenance.drill,
      drillFiles: config.maintenance.drillFiles,
      checkReadData: Number(config.maintenance.checkReadData.slice(0, -1)) / 100,
      jitterSeconds: seconds(config.maintenance.jitter),
    },
    conditions: config.conditions,
    bandwidth: buildBandwidth(config, faults),
    restore: { allowedRoots: config.restore.allowedRoots.map((path) => absolutePath(path, context)) },
    notices: buildNotices(config.notices),
    partner: config.partner,
    updates: config.updates,
    log: config.log,
  };
  return { settings: faults.length === 0 ? settings : undefined, faults };
}

/** The settings without a configuration file: all defaults. */
export function defaultSettings(context: SettingsContext): Settings {
  return requireSettings({}, context);
}

/** The settings of a source that is not configured, for a backup on request: all defaults. */
export function defaultSource(path: string, settings: Settings, context: SettingsContext): SourceSettings {
  const [source] = requireSettings({ sources: [{ path }] }, context).sources;
  if (source === undefined) throw new BugError('The defaults of a source are not valid');
  return { ...source, destinations: [settings.defaultDestination] };
}

function requireSettings(value: object, context: SettingsContext): Settings {
  const checked = checkAgainstSchema(value);
  const settings = checked.value === undefined ? undefined : buildSettings(checked.value, context).settings;
  if (settings === undefined) throw new BugError('The defaults of the configuration are not valid');
  return settings;
}

/**
 * Finds the destination that a name refers to: a configured one; otherwise `default` for the default one, `embedded`
 * for the repository in the state directory, and `cloud` for the first destination that is not on this machine.
 */
export function findDestination(settings: Settings, name: string): DestinationSettings | undefined {
  const named = (wanted: string): DestinationSettings | undefined =>
    settings.destinations.find((destination) => destination.name === wanted);
  if (name === 'cloud') return named(name) ?? settings.destinations.find(({ url }) => isRemote(url));
  if (name === EMBEDDED_DESTINATION) return named(name) ?? settings.embedded;
  return named(name) ?? (name === DEFAULT_DESTINATION ? named(settings.defaultDestination) : undefined);
}

function isRemote(url: string): boolean {
  return /^[a-z][a-z0-9+.-]+:/i.test(url) && !/^file:/i.test(url);
}

interface BuiltDestinations {
  readonly destinations: readonly DestinationSettings[];
  readonly embedded: DestinationSettings;
}

function buildDestinations(
  config: FilledConfig,
  context: SettingsContext,
  faults: Fault[],
): BuiltDestinations {
  const configured = Object.entries(config.destinations).map(
    ([name, { url, passphrase, access, untested }]) => ({
      name,
      url: locationOf(url, context),
      passphrase: reference(passphrase),
      ...(access === null ? {} : { access: buildAccess(access, { name, url, context, faults }) }),
      ...(untested ? { untested } : {}),
    }),
  );
  for (const { name, url } of configured)
    ask(context.checkLocation, url, ['destinations', name, 'url'], faults);
  const unnamed = embeddedDestination(embeddedName(config), context);
  const embedded = configured.find(({ url }) => url === unnamed.url) ?? unnamed;
  if (configured.includes(embedded)) return { destinations: configured, embedded };
  if (usesEmbedded(config, embedded.name)) return { destinations: [embedded, ...configured], embedded };
  const isKept = context.holdsBackups?.(context.stateDirectory) === true;
  return { destinations: isKept ? [...configured, embedded] : configured, embedded };
}

/**
 * The name of the embedded repository: `default` while it is the default destination and the name is free; otherwise a
 * name that no other destination has.
 */
function embeddedName({ defaultDestination, destinations }: FilledConfig): string {
  const isTaken = (name: string): boolean => Object.hasOwn(destinations, name);
  const isDefault = (defaultDestination ?? DEFAULT_DESTINATION) === DEFAULT_DESTINATION;
  if (isDefault && !isTaken(DEFAULT_DESTINATION)) return DEFAULT_DESTINATION;
  let name = EMBEDDED_DESTINATION;
  for (let again = 2; isTaken(name); again += 1) name = `${EMBEDDED_DESTINATION}-${again}`;
  return name;
}

/** Whether the embedded repository is the default destination or is named by a source. */
function usesEmbedded({ defaultDestination, sources }: FilledConfig, name: string): boolean {
  if (name === DEFAULT_DESTINATION) return true;
  return (
    defaultDestination === name ||
    sources.some(({ destination, destinations }) => destination === name || destinations?.includes(name))
  );
}

/** Translates a name into that of the settings: the embedded repository may always be called `embedded`. */
function nameOf(
  named: string,
  destinations: readonly DestinationSettings[],
  embedded: DestinationSettings,
): string {
  const isKnown = destinations.some(({ name }) => name === named);
  return named === EMBEDDED_DESTINATION && !isKnown ? embedded.name : named;
}

function locationOf(url: string, context: SettingsContext): string {
  return isFromRoot(url) || isHome(url) ? absolutePath(url, context) : url;
}

/** Runs `check`, and adds the error it throws to the faults. */
function ask(
  check: ((text: string) => void) | undefined,
  text: string,
  path: Fault['path'],
  faults: Fault[],
): void {
  try {
    check?.(text);
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    const code = error.code === 'SECRET_IN_URL' ? 'SECRET_IN_URL' : 'CONFIG_INVALID';
    faults.push({ path, code, message: error.message.replace(/\.$/, ''), hint: error.hint });
  }
}

function requireName(
  name: string,
  path: Fault['path'],
  destinations: readonly DestinationSettings[],
  faults: Fault[],
): void {
  if (destinations.some((destination) => destination.name === name)) return;
  const names = destinations.map((destination) => `"${destination.name}"`).join(', ');
  const hint =
    names === ''
      ? 'Define it in "destinations".'
      : `Use a defined one (${names}), or define "${name}" in "destinations".`;
  faults.push({ path, code: 'CONFIG_INVALID', message: `No destination is called "${name}"`, hint });
}

interface SourceScene {
  readonly context: SettingsContext;
  readonly destinations: readonly DestinationSettings[];
  readonly embedded: DestinationSettings;
  readonly defaultDestination: string;
  readonly faults: Fault[];
}

function buildSources(config: FilledConfig, scene: SourceScene): readonly SourceSettings[] {
  const { faults } = scene;
  const sources = config.sources.map((source, index) => buildSource(source, index, scene));
  const seen = new Map<string, number>();
  for (const [index, { path, destinations, encryption }] of sources.entries()) {
    const keys = destinations.map((destination) => JSON.stringify([path, destination]));
    const first = keys.map((key) => seen.get(key)).find((one) => one !== undefined);
    if (first !== undefined) {
      faults.push({
        path: ['sources', index, 'path'],
        code: 'CONFIG_INVALID',
        message: 'This source is configured twice for the same destination',
        hint: `Keep one of them; the other is sources[${first}].`,
      });
    }
    for (const key of keys) seen.set(key, index);
    if (config.requireEncryption && !encryption) {
      faults.push({
        path: ['sources', index, 'encryption'],
        code: 'CONFIG_INVALID',
        message: 'This source is not encrypted, but "requireEncryption" is true',
        hint: 'Write "encryption": true, or remove "requireEncryption".',
      });
    }
  }
  return sources;
}

function buildSource(
  source: Filled<FilledConfig['sources'][number]>,
  index: number,
  scene: SourceScene,
): SourceSettings {
  const { context, faults } = scene;
  const { destination, destinations, hooks, exclude, path, ...rest } = source;
  ask(context.checkSchedule, source.schedule, ['sources', index, 'schedule'], faults);
  for (const [place, tag] of source.tags.entries())
    ask((text) => requireOwnTags([text]), tag, ['sources', index, 'tags', place], faults);
  const root = absolutePath(path, context);
  for (const [place, pattern] of exclude.patterns.entries())
    ask(
      (text) => context.checkPattern?.(text, root),
      pattern,
      ['sources', index, 'exclude', 'patterns', place],
      faults,
    );
  const { timeout, ...commands } = hooks;
  return {
    ...rest,
    path: root,
    acceptUnreadable: source.acceptUnreadable.map((one) => absolutePath(one, context)),
    destinations: destinationsOf({ destination, destinations }, index, scene),
    exclude: {
      ...exclude,
      largerThan: exclude.largerThan === null ? null : parseSize(exclude.largerThan),
    },
    hooks: { ...commands, timeoutSeconds: seconds(timeout) },
  };
}

function destinationsOf(
  {
    destination,
    destinations,
  }: Pick<Filled<FilledConfig['sources'][number]>, 'destination' | 'destinations'>,
  index: number,
  scene: SourceScene,
): readonly string[] {
  const { faults } = scene;
  if (destinations === null) return [destinationOf(destination, ['sources', index, 'destination'], scene)];
  const at = ['sources', index, 'destinations'] as const;
  if (destination !== null) {
    faults.push({
      path: at,
      code: 'CONFIG_INVALID',
      message: 'This source has both "destination" and "destinations"',
      hint: 'List all names in "destinations", and remove "destination".',
    });
  }
  const found = destinations.map((name, place) => destinationOf(name, [...at, place], scene));
  for (const [place, name] of found.entries()) {
    if (found.indexOf(name) === place) continue;
    faults.push({
      path: [...at, place],
      code: 'CONFIG_INVALID',
      message: `The destination "${name}" is named twice`,
      hint: 'Keep one of them.',
    });
  }
  return found;
}

/**
 * Resolves a source's destination. `default` means the default one, as in the API, unless a destination has that name.
 */
function destinationOf(
  named: string | null,
  path: Fault['path'],
  { destinations, embedded, defaultDestination, faults }: SourceScene,
): string {
  const known = destinations.some(({ name }) => name === named);
  const isDefault = named === null || (named === DEFAULT_DESTINATION && !known);
  const found = isDefault ? defaultDestination : nameOf(named, destinations, embedded);
  if (found !== defaultDestination) requireName(found, path, destinations, faults);
  return found;
}

function buildBandwidth({ bandwidth }: FilledConfig, faults: Fault[]): Settings['bandwidth'] {
  for (const [index, { from }] of bandwidth.entries()) {
    if (bandwidth.findIndex((rule) => rule.from === from) === index) continue;
    faults.push({
      path: ['bandwidth', index, 'from'],
      code: 'CONFIG_INVALID',
      message: `Two rules begin at ${from}`,
      hint: 'Keep one of them.',
    });
  }
  return bandwidth
    .map(({ from, uploadLimit }) => ({
      from,
      uploadLimit: uploadLimit === null ? null : parseSize(uploadLimit),
    }))
    .sort((a, b) => a.from.localeCompare(b.from));
}

function buildNotices({ ntfy, webhook, email, ...rest }: FilledConfig['notices']): NoticeSettings {
  return {
    ...rest,
    ntfy: ntfy && { ...ntfy, token: reference(ntfy.token) },
    webhook: webhook && { ...webhook, secret: reference(webhook.secret) },
    email: email && { ...email, password: reference(email.password) },
  };
}

/** The schema ensures that exactly one of the four forms is present. */
function reference(written: object | null): SecretReference | null {
  return written as SecretReference | null;
}

/** In whole seconds, rounded up. */
function seconds(span: string): number {
  return Math.ceil(parseDuration(span) / 1_000);
}
