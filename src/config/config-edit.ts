/**
 * Changes the configuration file. Changes are checked before they are written, applied completely or not at all, and
 * keep comments.
 */
import { writeFileAtomically } from '../base/atomic-file.ts';
import { HoldfastError, RequestError } from '../base/errors.ts';
import { withLockFile } from '../base/lock-file.ts';
import { ConfigError, InvalidChange, type KeyPath, shownKeyPath } from './config-error.ts';
import { BYTE_ORDER_MARK } from './config-text.ts';
import { APPEND, removeFromText, setInText } from './edit-text.ts';
import { loadConfig, type LoadedConfig, NO_FILE, readConfig, requireNeverThere } from './load.ts';
import { CONFIG_VERSION, type ConfigFile } from './schema.ts';
import type { SettingsContext } from './settings-context.ts';

export type ConfigChange =
  | { readonly kind: 'set'; readonly path: KeyPath; readonly value: unknown }
  | { readonly kind: 'remove'; readonly path: KeyPath };

export function setValue(path: KeyPath, value: unknown): ConfigChange {
  return { kind: 'set', path, value };
}

/** Removes the value, so that its default applies again. */
export function removeValue(path: KeyPath): ConfigChange {
  return { kind: 'remove', path };
}

export function addSource(source: NonNullable<ConfigFile['sources']>[number]): ConfigChange {
  return setValue(['sources', APPEND], source);
}

export function removeSource(index: number): ConfigChange {
  return removeValue(['sources', index]);
}

export function setDestination(
  name: string,
  destination: NonNullable<ConfigFile['destinations']>[string],
): ConfigChange {
  return setValue(['destinations', name], destination);
}

export function removeDestination(name: string): ConfigChange {
  return removeValue(['destinations', name]);
}

export function applyChanges(text: string, changes: readonly ConfigChange[]): string {
  return changes.reduce(
    (changed, change) =>
      change.kind === 'set'
        ? setInText(changed, change.path, change.value)
        : removeFromText(changed, change.path),
    text,
  );
}

export interface EditTarget {
  readonly file: string;
  readonly context: SettingsContext;
}

const NEW_FILE = `{\n  "version": ${CONFIG_VERSION}\n}\n`;

/**
 * Changes the file, or creates it. With a revision, only if the file still has that revision.
 * @throws {RequestError} REVISION_MISMATCH, or what is wrong with the change; the file is unchanged
 * @throws {ConfigError} when the file is invalid or missing and must be repaired first
 * @throws {StateError} when the file cannot be written
 */
export async function editConfig(
  { file, context }: EditTarget,
  changes: readonly ConfigChange[],
  expectedRevision: string | undefined,
  signal: AbortSignal,
): Promise<LoadedConfig> {
  requireShallowValues(changes);
  // Editors ignore the lock; it prevents lost changes between other commands, the API and the page.
  return await withLockFile(
    `${file}.lock`,
    async () => {
      const { before, bytes, after } = await changed({ file, context }, changes, expectedRevision);
      if (after.revision !== before?.revision) await writeFileAtomically(file, bytes);
      return after;
    },
    signal,
  );
}

/** Checks like `editConfig`, with the same errors, but writes nothing. */
export async function checkEdit(
  target: EditTarget,
  changes: readonly ConfigChange[],
  expectedRevision: string | undefined,
): Promise<void> {
  requireShallowValues(changes);
  await changed(target, changes, expectedRevision);
}

interface Changed {
  /** Undefined while there is no file. */
  readonly before: LoadedConfig | undefined;
  readonly bytes: Buffer;
  readonly after: LoadedConfig;
}

async function changed(
  { file, context }: EditTarget,
  changes: readonly ConfigChange[],
  expectedRevision: string | undefined,
): Promise<Changed> {
  const before = await readConfig(file, context);
  if (before === undefined) await requireNeverThere(file, context.stateDirectory);
  requireRevision(before?.revision ?? NO_FILE, expectedRevision);
  const text = applyChanges(before?.text ?? NEW_FILE, changes);
  const bytes = Buffer.from(before?.byteOrderMark === true ? BYTE_ORDER_MARK + text : text);
  const after = checkChanged(file, bytes, context);
  requireFitSources(before, after, context);
  return { before, bytes, after };
}

/** @throws {InvalidChange} for a new source that no backup can store */
function requireFitSources(
  before: LoadedConfig | undefined,
  { settings }: LoadedConfig,
  { checkNewSource, stateDirectory }: SettingsContext,
): void {
  const known = new Set(before?.settings.sources.map(({ path }) => path));
  for (const [index, { path }] of settings.sources.entries()) {
    if (known.has(path)) continue;
    try {
      checkNewSource?.(path, settings, stateDirectory);
    } catch (cause) {
      if (!(cause instanceof HoldfastError)) throw cause;
      const { message, hint } = cause;
      const at = shownKeyPath(['sources', index, 'path']);
      const problem = { code: 'CONFIG_INVALID' as const, path: at, line: 1, column: 1, message, hint };
      throw new InvalidChange('INVALID_REQUEST', `${at}: ${message}`, { hint, details: { path: at } }, [
        problem,
      ]);
    }
  }
}

/** No setting has this many levels, and a value nested a thousand times would exhaust the stack. */
const DEEPEST_VALUE = 16;

function requireShallowValues(changes: readonly ConfigChange[]): void {
  for (const change of changes) if (change.kind === 'set') requireShallow(change.value, change.path);
}

function requireShallow(value: unknown, path: KeyPath, depth = 0): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth === DEEPEST_VALUE) {
    throw new RequestError('INVALID_REQUEST', `${shownKeyPath(path)}: the value is nested too deep`, {
      hint: 'No setting has that many levels.',
      details: { path: shownKeyPath(path) },
    });
  }
  for (const item of Object.values(value)) requireShallow(item, path, depth + 1);
}

function requireRevision(found: string, expected: string | undefined): void {
  if (expected === undefined || expected === found) return;
  throw new RequestError('REVISION_MISMATCH', 'The configuration was changed in the meantime', {
    hint: 'Read it again, then repeat the change if you still want it.',
    details: { revision: found },
  });
}

/** The text was valid before, so any problem of the changed text is a problem of the change. */
function checkChanged(file: string, bytes: Buffer, context: SettingsContext): LoadedConfig {
  try {
    return loadConfig(file, bytes, context);
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    const [problem] = cause.problems;
    if (problem === undefined) throw cause;
    const { path, message, hint } = problem;
    const code = REQUEST_CODES.has(problem.code) ? problem.code : 'INVALID_REQUEST';
    const shown = path === '' ? message : `${path}: ${message}`;
    throw new InvalidChange(code, shown, { hint, details: { path } }, cause.problems);
  }
}

const REQUEST_CODES: ReadonlySet<string> = new Set(['UNKNOWN_FIELD', 'MISSING_FIELD', 'SECRET_IN_URL']);
