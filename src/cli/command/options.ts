/** Options that several commands share, in the same words everywhere. */
import type { Command } from 'commander';
import { RequestError } from '../../base/errors.ts';
import { hasNothingToSee, isOneLine } from '../../base/one-line.ts';
import { isStoreChoice } from '../../base/stored-by.ts';
import { lacksUnit, parseDuration, parseSize, SLOWEST_UPLOAD } from '../../base/units.ts';
import { printable } from '../terminal/terminal.ts';

export interface RepositoryOptions {
  readonly repository?: string;
  readonly passwordFile?: string;
  readonly passwordCommand?: string;
}

/** The passphrase of a second repository. */
export interface FromOptions {
  readonly fromPasswordFile?: string;
  readonly fromPasswordCommand?: string;
}

export interface OutputOptions {
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Which snapshots are meant. */
export interface FilterOptions {
  readonly host?: readonly string[];
  readonly tag?: readonly string[];
  readonly path?: readonly string[];
  /** Values that `isStoreChoice` accepts. */
  readonly storedBy?: readonly string[];
}

export function addRepositoryOptions(command: Command): Command {
  return command
    .optionsGroup('Repository:')
    .option(
      '-r, --repository <dir>',
      'The repository: a directory, a URL or the name of a destination (HOLDFAST_REPOSITORY)',
    )
    .option('--password-file <file>', 'Read the passphrase from a file (HOLDFAST_PASSWORD_FILE)')
    .option('--password-command <command>', 'Get the passphrase from a command (HOLDFAST_PASSWORD_COMMAND)');
}

export function addOutputOptions(command: Command, texts: { json: string; quiet?: string }): Command {
  command.optionsGroup('Output:').option('--json', texts.json);
  if (texts.quiet !== undefined) command.option('-q, --quiet', texts.quiet);
  return command;
}

export function fromOptions({
  fromPasswordFile,
  fromPasswordCommand,
}: FromOptions): Pick<RepositoryOptions, 'passwordFile' | 'passwordCommand'> {
  return {
    ...(fromPasswordFile === undefined ? {} : { passwordFile: fromPasswordFile }),
    ...(fromPasswordCommand === undefined ? {} : { passwordCommand: fromPasswordCommand }),
  };
}

/** Title of the filter options of commands about many snapshots. */
export const ALL_SNAPSHOTS = 'Which snapshots:';
/** Title of the filter options of commands about one snapshot, which may be called `latest`. */
export const ONE_SNAPSHOT = 'Which snapshots "latest" is chosen from:';

export function addFilterOptions(command: Command, title: string): Command {
  return command
    .optionsGroup(title)
    .option('--host <name>', 'Of this host (repeatable)', collect)
    .option('--tag <tags>', 'With all of these tags, separated by commas (repeatable)', collectTags)
    .option('--path <path>', 'With this source path (repeatable)', collect)
    .option(
      '--stored-by <key>',
      'Stored with full keys (full), or with the write-only key of this number, such as 3 (repeatable)',
      collectStores,
    );
}

/** Collects the values of a repeatable option in order. */
export function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

function collectStores(value: string, previous?: readonly string[]): readonly string[] {
  if (isStoreChoice(value)) return collect(value, previous);
  throw usage(
    `"${printable(value)}" is not a key that stores snapshots`,
    'Use full, the number of a write-only key (3), or a key as listed (3@1a2b3c4d).',
  );
}

/** Accepts a name or label that is one line of visible text. @throws {RequestError} USAGE */
export function oneLine(value: string): string {
  if (isOneLine(value) && !hasNothingToSee(value)) return value;
  throw usage(`"${printable(value)}" cannot be a name`, 'Use readable characters, on one line.');
}

/**
 * Collects lists of tags. A list without a tag is refused, as it would be a filter that everything passes.
 * @throws {RequestError} USAGE
 */
export function collectTags(value: string, previous?: readonly string[]): readonly string[] {
  if (!isOneLine(value)) throw usage(`"${printable(value)}" cannot be a tag`, 'Use words, on one line.');
  if (commaList([value]).length > 0) return collect(value, previous);
  throw usage(`"${value}" contains no tag`, 'Use words separated by commas.');
}

/** The words of comma-separated values, without the empty ones. */
export function commaList(values: readonly string[] = []): readonly string[] {
  return values.flatMap((value) => value.split(',').map((word) => word.trim())).filter((word) => word !== '');
}

/**
 * A time as typed: `2026-11-21`, `2026-11-21 13:05` (both local), an RFC 3339 time, or an age: `3d`, `12h`.
 * Milliseconds since 1970.
 * @throws {RequestError}
 */
export function parseWhen(text: string, nowMs: number): number {
  if (/^\d{4}-\d{2}-\d{2}/.test(text)) {
    const time = Date.parse(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00` : text.replace(' ', 'T'));
    if (!Number.isNaN(time)) return time;
  } else if (/^\d/.test(text)) return nowMs - parseDuration(text);
  throw usage(
    `"${text}" is not a time`,
    'Use a date (2026-11-21), a date and time (2026-11-21 13:05), or an age (3d, 12h).',
  );
}

/** The size, in bytes, of an option that limits something. @throws {RequestError} also for 0, which would allow nothing */
export function parseLimit(text: string): number {
  const bytes = parseAmount(text);
  if (bytes > 0) return bytes;
  throw usage(`"${text}" is not a possible size`, 'For no limit, leave the option out.');
}

/** Bytes of something large. @throws {RequestError} also for a small number whose unit was forgotten; 0 needs none */
export function parseAmount(text: string): number {
  const bytes = parseSize(text);
  if (bytes === 0 || !lacksUnit(text)) return bytes;
  throw usage(`"${text}" has no unit`, `Give the size with its unit, such as ${text.trim()}M.`);
}

/** Bytes per second. @throws {RequestError} also for what is too slow to be meant */
export function parseRate(text: string): number {
  const bytes = parseSize(text);
  if (bytes >= SLOWEST_UPLOAD) return bytes;
  throw usage(
    `"${text}" would send less than 1 KiB a second`,
    'Use a size with its unit, such as 500KiB or 2MiB. For no limit, leave the option out.',
  );
}

/** Adds one or two examples below the options, each with what it does. */
export function addExamples(
  command: Command,
  examples: readonly (readonly [line: string, what: string])[],
): Command {
  const width = Math.max(...examples.map(([line]) => line.length));
  const lines = examples.map(([line, what]) =>
    width > 56 ? `  ${line}\n      ${what}` : `  ${line.padEnd(width)}   ${what}`,
  );
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}

/** @throws {RequestError} */
export function usage(message: string, hint: string): RequestError {
  return new RequestError('USAGE', message, { hint });
}
