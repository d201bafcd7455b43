/** The options that say what a backup leaves out: the same for `backup` and `explain`; and the rules of the settings. */
import { relative, sep } from 'node:path';
import type { Command } from 'commander';
import { bytesOfText, textWithBytes } from '../../base/byte-path.ts';
import { causeText } from '../../base/errno-words.ts';
import { faultWords, peopleBytes, SAVE_AS_UTF8 } from '../../base/people-text.ts';
import { filePath, requireBaseOf } from '../../base/typed-path.ts';
import type { SourceSettings } from '../../config/settings.ts';
import type { ExcludeOptions, NeverPath } from '../../exclude/excluder.ts';
import { parsePatternFile, type PatternSetting, typedPattern } from '../../exclude/patterns.ts';
import { parseMarker } from '../../exclude/tags.ts';
import { collect, parseLimit, usage } from '../command/options.ts';
import { readAtMost } from '../terminal/standard-streams.ts';

/** The largest exclude file, in bytes: room for hundreds of thousands of patterns, and a limit for devices that never end. */
const LARGEST = 16 << 20;

/** The values of these options as commander provides them. */
export interface GivenExcludes {
  readonly ignoreFile?: readonly string[];
  readonly excludeCaches?: boolean;
  readonly excludeIfPresent?: readonly string[];
  readonly excludeLargerThan?: number;
  readonly oneFileSystem?: boolean;
}

/** A pattern, or a file of patterns that is still to be read. */
export type GivenPattern = PatternSetting | { readonly file: string };

/** Adds the options; the returned list fills with what was given, in that order. */
export function addExcludeOptions(command: Command): readonly GivenPattern[] {
  const patterns: GivenPattern[] = [];
  const add = (from: string, ignoreCase: boolean) => (pattern: string) => {
    patterns.push({ pattern: typedPattern(pattern), from, ignoreCase });
  };
  command
    .optionsGroup('What to exclude:')
    .option(
      '-e, --exclude <pattern>',
      'Exclude what matches, as in .gitignore; a later "!pattern" includes it again (repeatable)',
      add('--exclude', false),
    )
    .option('--iexclude <pattern>', 'The same, ignoring upper and lower case', add('--iexclude', true))
    .option(
      '--exclude-file <file>',
      'Patterns from a file, one on each line (repeatable)',
      (file: string) => {
        patterns.push({ file });
      },
    )
    .option(
      '--ignore-file <name>',
      'Follow the rules in files of this name in the source, such as .gitignore (repeatable)',
      collect,
    )
    .option('--exclude-caches', 'Exclude directories marked as caches by a CACHEDIR.TAG')
    .option(
      '--exclude-if-present <name>',
      'Exclude directories that contain a file of this name (repeatable)',
      collect,
    )
    .option('--exclude-larger-than <size>', 'Exclude files larger than this, such as 500M', parseLimit)
    .option('-x, --one-file-system', 'Stay on the file system of each source');
  return patterns;
}

export function excludeOptions(
  given: GivenExcludes,
  patterns: readonly PatternSetting[],
  never: readonly NeverPath[],
): ExcludeOptions {
  return {
    patterns,
    ignoreFiles: (given.ignoreFile ?? []).map(bytesOfText),
    excludeCaches: given.excludeCaches ?? false,
    markers: (given.excludeIfPresent ?? []).map((setting) => parseMarker(bytesOfText(setting))),
    largerThan: given.excludeLargerThan,
    oneFileSystem: given.oneFileSystem ?? false,
    never,
  };
}

/** The rules of a source of the settings. */
export function excludeOfSource(
  { path, exclude }: Pick<SourceSettings, 'path' | 'exclude'>,
  never: readonly NeverPath[],
): ExcludeOptions {
  const from = `the rules of the source ${path}`;
  return {
    patterns: exclude.patterns.map((pattern) => ({ pattern: typedPattern(pattern), from })),
    ignoreFiles: exclude.ignoreFiles.map(bytesOfText),
    excludeCaches: exclude.caches,
    markers: exclude.ifPresent.map((marker) => parseMarker(bytesOfText(marker))),
    largerThan: exclude.largerThan ?? undefined,
    oneFileSystem: exclude.oneFileSystem,
    never,
  };
}

/** Whether the command line says itself what is left out, and not the settings. */
export function saysWhatIsLeftOut(given: GivenExcludes, patterns: readonly GivenPattern[]): boolean {
  const { ignoreFile, excludeCaches, excludeIfPresent, excludeLargerThan, oneFileSystem } = given;
  const options = [ignoreFile, excludeCaches, excludeIfPresent, excludeLargerThan, oneFileSystem];
  return patterns.length > 0 || options.some((option) => option !== undefined);
}

/** All patterns, including those in files. @throws {RequestError} when a file cannot be read, or is not text */
export async function readPatterns(
  given: readonly GivenPattern[],
  signal: AbortSignal,
): Promise<readonly PatternSetting[]> {
  const patterns: PatternSetting[] = [];
  for (const one of given) {
    if ('file' in one) patterns.push(...(await patternsIn(one.file, signal)));
    else patterns.push(one);
  }
  return patterns;
}

async function patternsIn(file: string, signal: AbortSignal): Promise<PatternSetting[]> {
  const text = peopleBytes(await contentOf(file, signal));
  if (text === undefined) throw usage(`The exclude file ${file} ${faultWords('zero-bytes')}`, SAVE_AS_UTF8);
  return parsePatternFile(text).map(({ pattern, line }) => ({
    pattern: typedPattern(textWithBytes(pattern)),
    from: `${file}:${line}`,
  }));
}

/** Reads a file, or a pipe that a shell made, as with `<(…)`. */
async function contentOf(file: string, signal: AbortSignal): Promise<Buffer> {
  requireBaseOf(file);
  let content: Buffer | undefined;
  try {
    content = await readAtMost(filePath(file), LARGEST, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw usage(
      `The exclude file ${file} cannot be read: ${causeText(error)}`,
      'Check the path given with --exclude-file.',
    );
  }
  if (content !== undefined) return content;
  throw usage(
    `The exclude file ${file} is larger than 16 MiB`,
    'It should be a text file with one pattern on each line.',
  );
}

/** True for the directory itself, too. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/** The pattern, as in .gitignore: anchored at the source, with special characters escaped. */
export function patternFor(path: string, source: string): string {
  const below = relative(source, path).split(sep).join('/');
  return `/${below.replaceAll(/[\\*?[\]]/g, String.raw`\$&`).replace(/ $/, String.raw`\ `)}`;
}
