/** What the page needs when somebody chooses what to protect and where to. Its code is loaded on first use. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { timestamp, maybeTimestamp } from '../../api/presentation/values.ts';
import type { DestinationWish, EstimateWish, ProtectParts } from '../../api/page/protect-parts.ts';
import type {
  DestinationItem,
  DestinationTest,
  Destinations as ShownDestinations,
  Directories,
  Estimate,
  RecoveryKit,
  Suggestions,
} from '../../api/schemas/page/protect.ts';
import { readFileIfPresent } from '../../base/atomic-file.ts';
import { RequestError } from '../../base/errors.ts';
import { treePath } from '../../base/tree-path.ts';
import type { Clock } from '../../base/clock.ts';
import { createTurns } from '../../base/turns.ts';
import { parseSize } from '../../base/units.ts';
import { removeValue } from '../../config/config-edit.ts';
import type { ConfigSource } from '../../config/config-source.ts';
import type { Environment, SecretContext } from '../../config/secret.ts';
import type { DestinationSettings, Settings } from '../../config/settings.ts';
import type { SettingStore } from '../../db/settings.ts';
import { parseLocation, shownPlace } from '../../destination/location.ts';
import { untilAborted } from '../../destination/stall.ts';
import type { EstimateOrder, SourceEstimate } from '../../engine/protocol.ts';
import type { Agent } from '../../jobs/agent.ts';
import { destinationViews } from '../places/reachability.ts';
import type { Destinations } from '../places/destinations.ts';
import { freeSpace } from '../places/free-space.ts';
import { notOpenedByKit, otherKeysText } from '../places/other-keys.ts';
import { createPassphraseGuesses, type PassphraseGuesses } from './passphrase-check.ts';
import type { KitState } from './recovery-kit.ts';
import { typedSecrets } from './typed-secrets.ts';
import { secretsOf } from '../places/withheld.ts';
import { absolutePath, type SettingsContext } from '../../config/settings-context.ts';

export interface PageProtectParts {
  readonly stateDirectory: string;
  readonly clock: Clock;
  readonly config: ConfigSource;
  readonly store: Pick<SettingStore, 'get' | 'set'>;
  readonly destinations: Destinations;
  readonly agent: Pick<Agent, 'fullStatus' | 'jobs'>;
  readonly secrets: SecretContext;
  /** Environment of the processes that the agent starts. */
  readonly childVariables: Environment;
  /** Paths that no backup includes. */
  readonly never: () => readonly string[];
  readonly weakCost: boolean;
  /** Receives errors of background work. */
  readonly trouble: (error: unknown) => void;
}

export function createPageProtect(parts: PageProtectParts): ProtectParts & Disposable {
  const { stateDirectory, clock, config, trouble } = parts;
  const home = homedir();
  const space = freeSpace(clock);
  const secrets = typedSecrets({
    stateDirectory,
    clock,
    references: () => secretsOf(config.current),
    settingsFiles: settingsFilesOf(stateDirectory, config.file),
    learn: (secret) => parts.secrets.learn?.(secret),
  });
  const tidy = (): void => void secrets.tidy().catch(trouble);
  const unfollow = config.onChange(({ settingsChanged }) => {
    if (!settingsChanged) return;
    secrets.follow();
    tidy();
  });
  tidy();
  const estimates = once(
    async () =>
      new (await import('../sources/size-estimates.ts')).SizeEstimates({
        ...parts,
        environment: parts.childVariables,
      }),
  );
  const kit = once(
    async () =>
      new (await import('./recovery-kit.ts')).RecoveryKitKeeper({
        stateDirectory,
        settings: parts.store,
        clock,
      }),
  );
  const guesses = createPassphraseGuesses(clock);
  const passphrases = once(
    async () => new (await import('./passphrase-check.ts')).PassphraseCheck({ ...parts, guesses }),
  );
  const trials = createTurns(MOST_TRIALS);
  return {
    suggestions: async () => await suggest(home),
    directories: async (path, signal) => {
      const { listDirectories } = await import('./directories.ts');
      const { isCut, items, ...listed } = await listDirectories(
        absolutePath(path ?? home, { home }),
        clock,
        signal,
      );
      return { ...listed, home, items: [...items], is_cut: isCut } satisfies Directories;
    },
    estimate: async (wish, signal) => {
      const order = orderOf(wish, home, parts);
      return shownEstimate(await (await estimates()).count(order, signal));
    },
    destinations: async () => await listed(parts, space),
    testDestination: async (wish, signal) => {
      using turn = await trials.take(signal);
      void turn;
      // A hanging share ignores the abort, and must not keep the turn for ever.
      return await untilAborted(tryOut(wish, home, { ...parts, guesses }, signal), signal);
    },
    keepSecret: async (secret) => await secrets.keep(secret),
    isFreshSecret: (file) => secrets.isFresh(file),
    recoveryKit: async () => shownKit(await (await kit()).state()),
    recoveryKitText: async () => withPlaces(await (await kit()).text(), config.current),
    confirmRecoveryKit: async () => shownKit(await (await kit()).confirm()),
    checkPassphrase: async (...of) => await (await passphrases()).try(...of),
    [Symbol.dispose]: unfollow,
  };
}

/** Destinations that are tried out at once, as each trial takes memory for what it stores and reads. */
const MOST_TRIALS = 2;

/** The file in use, the default one, and the one that is put in force when they are broken. */
function settingsFilesOf(stateDirectory: string, inUse: string): readonly string[] {
  const usual = ['config.json', 'config.last-good.json'].map((name) => join(stateDirectory, name));
  return [...new Set([inUse, ...usual])];
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return async () => await (made ??= make());
}

async function suggest(home: string): Promise<Suggestions> {
  const { findPlaces } = await import('./suggestions.ts');
  const isRoot = process.geteuid?.() === 0;
  const { sources, disks } = await findPlaces({ home, platform: process.platform, isRoot });
  return {
    home,
    sources: [...sources],
    disks: disks.map(({ path, freeBytes, totalBytes }) => ({
      path,
      free_bytes: freeBytes,
      total_bytes: totalBytes,
    })),
  };
}

function orderOf(
  { path, exclude, within }: EstimateWish,
  home: string,
  { stateDirectory, never }: PageProtectParts,
): EstimateOrder {
  const { largerThan } = exclude;
  return {
    path: absolutePath(path, { home }),
    exclude: { ...exclude, largerThan: largerThan === null ? null : parseSize(largerThan) },
    stateDirectory,
    never: never().map((path) => treePath(path)),
    withinMs: within * 1_000,
  };
}

function shownEstimate({ excludedFiles, excluded, largest, ...counted }: SourceEstimate): Estimate {
  return { ...counted, excluded_files: excludedFiles, excluded: [...excluded], largest: [...largest] };
}

/** The kit as it is taken away: with where backups go, and with what it does not open; both may have come since it was made. */
function withPlaces(text: string | undefined, settings: Settings): string | undefined {
  if (text === undefined) return undefined;
  const { destinations, embedded } = settings;
  const places = destinations
    .filter(({ url }) => url !== embedded.url)
    .map(({ name, url }) => `  ${name}: ${shownPlace(parseLocation(url))}\n`);
  const where = places.length === 0 ? '' : `\nWHERE THE BACKUPS OF THIS COMPUTER GO\n${places.join('')}`;
  const others = otherKeysText(notOpenedByKit(settings));
  return `${text}${where}${others === '' ? '' : `\nTHIS KIT IS NOT ENOUGH\n${others}\n`}`;
}

function shownKit({ state, madeAt, savedAt }: KitState): RecoveryKit {
  return { state, made_at: maybeTimestamp(madeAt), saved_at: maybeTimestamp(savedAt) };
}

async function listed(
  { agent, config, destinations, stateDirectory }: PageProtectParts,
  space: ReturnType<typeof freeSpace>,
): Promise<ShownDestinations> {
  const views = new Map((await destinationViews({ agent, destinations })).map((view) => [view.name, view]));
  const { destinations: known } = await agent.fullStatus();
  const items = await Promise.all(
    destinations.all().map(async (place): Promise<DestinationItem> => {
      const {
        used_bytes: used,
        repository_id: id,
        last_check: check,
      } = views.get(place.name) ?? NOTHING_KNOWN;
      const reach = known.find(({ name }) => name === place.name);
      const reachable = reach?.reachable ?? null;
      const isEmbedded = place.directory === join(stateDirectory, 'repository');
      return {
        name: place.name,
        url: place.shown,
        is_default: place.name === config.current.defaultDestination,
        is_embedded: isEmbedded,
        reachable,
        unreachable_reason: reach?.unreachable_reason ?? null,
        untested: reach?.untested ?? false,
        used_bytes: used,
        free_bytes: place.directory !== undefined && reachable === true ? await space(place.directory) : null,
        repository_id: id ?? (isEmbedded ? await embeddedId(stateDirectory) : null),
        last_check: check && { ...check, finished_at: timestamp(check.finished_at) },
      };
    }),
  );
  return { items };
}

const NOTHING_KNOWN = { used_bytes: null, repository_id: null, last_check: null };

/** The id of the embedded repository, which is made before the first backup. Null when it does not exist yet. */
async function embeddedId(stateDirectory: string): Promise<string | null> {
  const text = await readFileIfPresent(join(stateDirectory, 'repository-id'));
  return text === undefined ? null : text.toString('latin1').trim();
}

async function tryOut(
  { name, destination, files }: DestinationWish,
  home: string,
  parts: PageProtectParts & { readonly guesses: PassphraseGuesses },
  signal: AbortSignal,
): Promise<DestinationTest> {
  const { stateDirectory } = parts;
  const { destinationAsSaved, tryForPage } = await import('./destination-trial.ts');
  const context: SettingsContext = { home, stateDirectory, checkLocation: (url) => void parseLocation(url) };
  const wanted =
    destination === undefined ? savedOf(name, parts) : destinationAsSaved(name, destination, context);
  const isNew = destination !== undefined;
  const { findings, measured } = await tryForPage(
    wanted,
    filesOf(files, home, parts),
    { ...parts, isNew },
    signal,
  );
  const usable = findings.every(({ status }) => status !== 'error');
  // The destination was added without a test, and has now passed one.
  if (usable && !isNew && wanted.untested === true)
    await parts.config.edit([removeValue(['destinations', wanted.name, 'untested'])], undefined, signal);
  return {
    usable,
    findings: [...findings],
    write_speed: measured.writeSpeed,
    read_speed: measured.readSpeed,
    clock_skew_seconds: measured.clockSkewSeconds,
  };
}

/** Paths that are backed up, or will be. Before any are chosen: the home directory, which most people choose. */
function filesOf(
  files: readonly string[] | undefined,
  home: string,
  { config }: PageProtectParts,
): readonly string[] {
  const sources = config.current.sources.map(({ path }) => path);
  const paths = [...sources, ...(files ?? []).map((path) => absolutePath(path, { home }))];
  return paths.length === 0 ? [home] : paths;
}

/**
 * The saved settings of a destination. Only names are accepted here, as a URL that is not configured is given as an object.
 * @throws {RequestError} INVALID_DESTINATION
 */
function savedOf(name: string, { config, destinations }: PageProtectParts): DestinationSettings {
  const saved = config.current.destinations.find((one) => one.name === destinations.find(name).name);
  if (saved !== undefined) return saved;
  throw new RequestError('INVALID_DESTINATION', `There is no destination ${name}`, {
    hint: 'Name a configured one, or give its settings.',
    details: { destination: name },
  });
}
