/**
 * The configuration of the running agent: follows the file, and keeps the last valid settings whatever happens to it.
 */
import { isDeepStrictEqual } from 'node:util';
import { readFileIfPresent, writeFileAtomically } from '../base/atomic-file.ts';
import type { Clock } from '../base/clock.ts';
import { HoldfastError, isAbort } from '../base/errors.ts';
import { checkEdit, type ConfigChange, editConfig } from './config-edit.ts';
import { ConfigError } from './config-error.ts';
import { defaultSettings } from './effective-settings.ts';
import { type FileWatch, watchFile } from './file-watch.ts';
import {
  firstLineOf,
  lastGoodPath,
  loadConfig,
  type LoadedConfig,
  missingConfig,
  NO_FILE,
  readConfig,
} from './load.ts';
import type { SettingsContext } from './settings-context.ts';
import type { Settings } from './settings.ts';

export interface ConfigState {
  readonly status: 'ok' | 'degraded';
  /** Why the file is not in effect; line and column are null when the problem is not in its text. */
  readonly error: {
    readonly message: string;
    /** The same, without the place. */
    readonly what?: string;
    readonly hint: string;
    readonly line: number | null;
    readonly column: number | null;
  } | null;
  /** The revision of the content that is in effect. */
  readonly revision: string;
}

export interface ConfigUpdate {
  readonly settings: Settings;
  readonly state: ConfigState;
  /** False when only the state changed. */
  readonly settingsChanged: boolean;
}

export interface ConfigSourceOptions {
  /** Absolute path of the file. */
  readonly file: string;
  /** The user named the file, so that it is an error if it does not exist. */
  readonly required: boolean;
  readonly context: SettingsContext;
  readonly clock: Clock;
  /** Called with problems in the background that do not harm the settings. Must not throw. */
  readonly report: (error: Error) => void;
}

/** Milliseconds without a further change before the file is read, as editors write in several steps. */
const QUIET_MS = 200;
/** After this many rounds a file that keeps changing is read anyway. */
const MOST_QUIET_ROUNDS = 10;
/**
 * Milliseconds between two checks of the file without a reported change: events get lost, and network drives have none.
 */
const LOOK_AGAIN_MS = 30_000;
/** The same while the file is not in effect: a directory that was moved away takes its watch with it. */
const LOOK_AGAIN_DEGRADED_MS = 2_000;

/**
 * Reads the file; when it is invalid, starts with its last valid content.
 * @throws {ConfigError} when there are no settings to start with: the file is invalid and no valid content is known
 */
export async function openConfigSource(options: ConfigSourceOptions): Promise<ConfigSource> {
  const source = new ConfigSource(options, await begin(options));
  await source.watch();
  return source;
}

interface InForce {
  readonly settings: Settings;
  /** Undefined while there is no file and the defaults are in effect. */
  readonly loaded: LoadedConfig | undefined;
  readonly error: ConfigError | null;
}

async function begin({ file, required, context, report }: ConfigSourceOptions): Promise<InForce> {
  let problem: ConfigError;
  try {
    const loaded = await readConfig(file, context);
    if (loaded !== undefined) {
      await keep(loaded, { file, context, report });
      return { settings: loaded.settings, loaded, error: null };
    }
    problem = missingConfig(file);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problem = error;
  }
  const loaded = await readLastGood(file, context);
  if (loaded !== undefined) return { settings: loaded.settings, loaded, error: problem };
  if (problem.code !== 'CONFIG_MISSING' || required) throw problem;
  return { settings: defaultSettings(context), loaded: undefined, error: null };
}

/** A copy that cannot be written does no harm at present, so the failure is only reported. */
async function keep(
  loaded: LoadedConfig,
  { file, context, report }: Pick<ConfigSourceOptions, 'file' | 'context' | 'report'>,
): Promise<void> {
  try {
    await saveLastGood(context.stateDirectory, file, loaded);
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    report(error);
  }
}

export class ConfigSource implements AsyncDisposable {
  readonly file: string;
  readonly #options: ConfigSourceOptions;
  readonly #listeners = new Set<(update: ConfigUpdate) => void>();
  #inForce: InForce;
  #watch: FileWatch | undefined;
  #following: Promise<void> | undefined;
  /** Aborted to end the wait for the next change. */
  #idle = new AbortController();
  readonly #closing = new AbortController();
  #changed = false;
  /** The file was missing or invalid. Its directory may have been moved away, which ends the watch. */
  #watchInDoubt = false;
  /** Serialises reads of the file. */
  #reading: Promise<void> = Promise.resolve();

  constructor(options: ConfigSourceOptions, inForce: InForce) {
    this.file = options.file;
    this.#options = options;
    this.#inForce = inForce;
  }

  /** The settings in effect, which are always valid. */
  get current(): Settings {
    return this.#inForce.settings;
  }

  /** The text and values in effect; undefined while there is no file and the defaults are in effect. */
  get document(): LoadedConfig | undefined {
    return this.#inForce.loaded;
  }

  get state(): ConfigState {
    const { error, loaded } = this.#inForce;
    return {
      status: error === null ? 'ok' : 'degraded',
      error: error && shown(error),
      revision: loaded?.revision ?? NO_FILE,
    };
  }

  /** Calls `listener` after each change of settings or state. The returned function ends that. */
  onChange(listener: (update: ConfigUpdate) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Starts to follow the file. If watching fails, that is reported, and the file is checked periodically. */
  async watch(): Promise<void> {
    if (this.#following !== undefined) return;
    await this.#openWatch();
    this.#following = this.#follow();
  }

  async #openWatch(): Promise<void> {
    this.#watchInDoubt = false;
    const wake = (): void => {
      this.#changed = true;
      this.#idle.abort();
    };
    await this.#watch?.close();
    this.#watch = await watchFile(this.file, wake, this.#options.report);
    // Changes made before the watch began raised no event.
    this.#changed = true;
  }

  /** Reads the file now. Resolves once it is in effect, or the state says why it is not. */
  async reload(): Promise<ConfigState> {
    const read = this.#reading.then(async () => await this.#read());
    this.#reading = read;
    await read;
    return this.state;
  }

  /**
   * Changes the file, keeping comments and layout, and puts it into effect.
   * @throws {RequestError} REVISION_MISMATCH, or what is wrong with the change
   * @throws {ConfigError} when the file is invalid and must be repaired first
   */
  async edit(
    changes: readonly ConfigChange[],
    expectedRevision: string | undefined,
    signal: AbortSignal,
  ): Promise<ConfigState> {
    const { context } = this.#options;
    await editConfig({ file: this.file, context }, changes, expectedRevision, signal);
    return await this.reload();
  }

  /** Throws what `edit` would throw, but changes nothing. */
  async check(changes: readonly ConfigChange[], expectedRevision: string | undefined): Promise<void> {
    await checkEdit({ file: this.file, context: this.#options.context }, changes, expectedRevision);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#idle.abort();
    await this.#following;
    await this.#watch?.close();
    await this.#reading;
    this.#listeners.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #follow(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      if (!this.#changed) {
        this.#idle = new AbortController();
        const lookAgainMs = this.#inForce.error === null ? LOOK_AGAIN_MS : LOOK_AGAIN_DEGRADED_MS;
        await this.#wait(lookAgainMs, this.#idle.signal);
      }
      for (let round = 0; this.#changed && round < MOST_QUIET_ROUNDS; round += 1) {
        this.#changed = false;
        await this.#wait(QUIET_MS, this.#closing.signal);
      }
      this.#changed = false;
      if (this.#closing.signal.aborted) return;
      await this.reload();
      if (this.#watchInDoubt) await this.#openWatch();
    }
  }

  async #wait(ms: number, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.clock.sleep(ms, signal);
    } catch (error) {
      if (!isAbort(error)) throw error;
    }
  }

  async #read(): Promise<void> {
    this.#put(await this.#next());
  }

  async #next(): Promise<InForce> {
    const now = this.#inForce;
    const { context } = this.#options;
    try {
      const loaded = await readConfig(this.file, context);
      // A file that never existed is not missing.
      if (loaded === undefined)
        return { ...now, error: now.loaded === undefined ? null : missingConfig(this.file) };
      if (loaded.revision === now.loaded?.revision) return { ...now, error: null };
      await keep(loaded, this.#options);
      return { settings: loaded.settings, loaded, error: null };
    } catch (cause) {
      const error =
        cause instanceof ConfigError
          ? cause
          : new ConfigError('CONFIG_UNREADABLE', `The configuration ${this.file} cannot be used`, { cause });
      return { ...now, error };
    }
  }

  #put(next: InForce): void {
    const before = this.#inForce;
    this.#inForce = next;
    if (before.error !== null && next.error === null) {
      this.#watchInDoubt = true;
      this.#idle.abort();
    }
    const settingsChanged = next.settings !== before.settings;
    if (!settingsChanged && isDeepStrictEqual(factsOf(next.error), factsOf(before.error))) return;
    const update = { settings: next.settings, state: this.state, settingsChanged };
    for (const listener of this.#listeners) {
      try {
        listener(update);
      } catch (error) {
        this.#options.report(error instanceof Error ? error : new Error(String(error)));
      }
    }
  }
}

function factsOf(error: ConfigError | null): object | null {
  return error && { code: error.code, details: error.details, ...shown(error) };
}

function shown({ message, what, hint, problems: [first] }: ConfigError): ConfigState['error'] {
  return {
    message,
    what: what ?? message,
    hint,
    line: first?.line ?? null,
    column: first?.column ?? null,
  };
}

/** @throws {StateError} */
export async function saveLastGood(
  stateDirectory: string,
  file: string,
  { text }: Pick<LoadedConfig, 'text'>,
): Promise<void> {
  const path = lastGoodPath(stateDirectory);
  const content = firstLineOf(file) + text;
  if ((await readFileIfPresent(path))?.toString('utf8') === content) return;
  await writeFileAtomically(path, content);
}

/**
 * The last valid content of this file; undefined when there is none, or when it is no longer valid.
 * @throws {StateError} when it cannot be read
 */
async function readLastGood(file: string, context: SettingsContext): Promise<LoadedConfig | undefined> {
  const path = lastGoodPath(context.stateDirectory);
  const content = (await readFileIfPresent(path))?.toString('utf8') ?? '';
  const first = firstLineOf(file);
  if (!content.startsWith(first)) return undefined;
  try {
    return loadConfig(path, Buffer.from(content.slice(first.length)), context);
  } catch (error) {
    // The file itself is invalid too, otherwise its copy would not be needed; the file's problem is the one to report.
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}
