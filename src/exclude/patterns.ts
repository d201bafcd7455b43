/** Exclude patterns in gitignore syntax: where each applies, and which one decides about a name. */

import { asByteString, bytesOfText, textOfBytes, type ByteString } from '../base/byte-path.ts';
import { IGNORES_CASE } from '../base/spellings.ts';
import { WINDOWS_PATHS, pathText } from '../base/tree-path.ts';
import { RequestError } from '../base/errors.ts';
import { quoted, type PatternExclusion } from './decision.ts';
import { compileGlob, matchSegment, matchSegments, type Segment } from './glob.ts';
import { foldCase, inForm, type NameForm } from './name-forms.ts';

/** A pattern from the command line or the configuration. */
export interface PatternSetting {
  /** The bytes as typed, usually UTF-8. A leading `#` does not make it a comment, and spaces are significant. */
  readonly pattern: ByteString;
  /** Where it was written, as shown to people: `--exclude`, or a configuration path. */
  readonly from: string;
  readonly ignoreCase?: boolean;
}

export interface PatternRule {
  readonly form: NameForm;
  readonly negated: boolean;
  readonly directoriesOnly: boolean;
  /**
   * Where the rule applies: in any directory, at a path below the directory of its layer, or at a path from the root
   * directory.
   */
  readonly place: 'anywhere' | 'below' | 'absolute';
  /** What the directories above the name must match, unless the place is anywhere. */
  readonly parents: readonly Segment[];
  /** What the name must match. */
  readonly last: Segment;
  readonly exclusion: PatternExclusion;
}

/** Rules written in one place. */
export interface PatternLayer {
  /** Number of names in the path of the directory that the rules are relative to. */
  readonly depth: number;
  /** The last one written comes first, because it wins. */
  readonly rules: readonly PatternRule[];
}

/** The rules in force in one directory. */
export interface ActivePatterns {
  /** The one that wins comes first. */
  readonly layers: readonly PatternLayer[];
  /** The rules whose parents match the directory; the one that wins comes first. */
  readonly rules: readonly PatternRule[];
}

export const NO_PATTERNS: ActivePatterns = { layers: [], rules: [] };

/**
 * A pattern as somebody typed it. On Windows it may be written like a path there, `C:\\Users\\u\\*.tmp` or `build\\tmp`; a
 * backslash is an escape only before what has a meaning in a pattern and can be in a name.
 */
export function typedPattern(text: string, style = process.platform): ByteString {
  if (style !== 'win32') return bytesOfText(text);
  const escaped = /^\\[!#]|\\[[\] ]/g;
  const [, negation = '', written = ''] = /^(!?)(.*)$/s.exec(text) ?? [];
  const isAbsolute = /^[a-z]:[\\/]|^\\\\[^\\]/i.test(written);
  if (isAbsolute) {
    const directoriesOnly = /[\\/]$/.test(written) ? '/' : '';
    return asByteString(`${negation}${WINDOWS_PATHS.toTree(written)}${directoriesOnly}`);
  }
  const kept = [...written.matchAll(escaped)].map(([one]) => one);
  const parts = written.split(escaped).map((part) => part.replaceAll('\\', '/'));
  return bytesOfText(`${negation}${parts.map((part, at) => `${part}${kept[at] ?? ''}`).join('')}`);
}

/**
 * Compiles patterns typed by a user for one source. A leading `/` anchors a pattern at the source root, unless the
 * pattern is an absolute path of the root or of something below it (`/home/u/cache` in the source `/home/u`).
 * @throws RequestError for a pattern that could never match, which must be a mistake
 */
export function compileSettings(
  settings: readonly PatternSetting[],
  root: ByteString,
  ignoreCase = IGNORES_CASE,
): PatternLayer {
  const rules = settings.map((setting) =>
    compileSetting({ ...setting, ignoreCase: ignoreCase || setting.ignoreCase === true }, namesOf(root)),
  );
  return { depth: namesOf(root).length, rules: rules.toReversed() };
}

/**
 * Compiles the rules of an ignore file in a directory. As in git, a line that can never match has no effect, and case
 * counts where the file system makes a difference.
 */
export function compileIgnoreFile(
  content: ByteString,
  file: ByteString,
  directory: ByteString,
  ignoreCase = IGNORES_CASE,
): PatternLayer {
  const form = ignoreCase ? 'folded' : 'bytes';
  const rules: PatternRule[] = [];
  for (const { pattern, line } of parsePatternFile(content)) {
    const written = readPattern(pattern);
    const segments = compileGlob(inForm(written.body, ignoreCase ? 'text' : 'bytes'), {
      fold: ignoreCase ? foldCase : undefined,
    });
    if (typeof segments === 'string') continue;
    rules.push(ruleOf(pattern, `${pathText(file)}:${line}`, written, segments, form));
  }
  return { depth: namesOf(directory).length, rules: rules.toReversed() };
}

/** The patterns of a file in gitignore syntax, one per line, without comments and empty lines; lines count from 1. */
export function parsePatternFile(
  content: ByteString,
): { readonly pattern: ByteString; readonly line: number }[] {
  const patterns = [];
  let line = 0;
  for (const raw of content.split('\n')) {
    line += 1;
    if (raw === '' || raw.startsWith('#')) continue;
    const pattern = withoutTrailingSpaces(raw.endsWith('\r') ? raw.slice(0, -1) : raw);
    if (pattern !== '') patterns.push({ pattern: asByteString(pattern), line });
  }
  return patterns;
}

/** Removes trailing spaces, which are not significant, except for one after a backslash and those before it. */
function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (line[end - 1] === ' ') end -= 1;
  let backslashes = 0;
  while (line[end - 1 - backslashes] === '\\') backslashes += 1;
  return line.slice(0, backslashes % 2 === 1 ? end + 1 : end);
}

interface WrittenPattern {
  readonly negated: boolean;
  readonly directoriesOnly: boolean;
  /** The pattern is for a path relative to a directory, rather than for a name anywhere. */
  readonly hasSlash: boolean;
  readonly leadingSlash: boolean;
  /** The pattern without `!` and without one slash at either end. */
  readonly body: ByteString;
}

function readPattern(pattern: ByteString): WrittenPattern {
  const negated = pattern.startsWith('!');
  const directoriesOnly = pattern.endsWith('/');
  const kept = pattern.slice(negated ? 1 : 0, directoriesOnly ? -1 : undefined);
  const leadingSlash = kept.startsWith('/');
  const body = asByteString(leadingSlash ? kept.slice(1) : kept);
  return { negated, directoriesOnly, hasSlash: kept.includes('/'), leadingSlash, body };
}

function compileSetting(setting: PatternSetting, root: readonly ByteString[]): PatternRule {
  const written = readPattern(setting.pattern);
  const asBytes = compileGlob(written.body, { fold: undefined });
  if (typeof asBytes === 'string') throw neverMatches(setting, `it has a fault: ${asBytes}`);
  if (asBytes.some(isImpossible)) throw neverMatches(setting, "no entry is called '', '.' or '..'");

  // Literal text matches equally in bytes and in text; only `?` and brackets have to see whole characters.
  const folded = setting.ignoreCase === true;
  const form = folded ? 'folded' : asBytes.some(({ kind }) => kind === 'elements') ? 'text' : 'bytes';
  const segments =
    form === 'bytes'
      ? asBytes
      : compileGlob(inForm(written.body, 'text'), { fold: folded ? foldCase : undefined });
  if (typeof segments === 'string') throw neverMatches(setting, `it has a fault: ${segments}`);

  const rule = ruleOf(setting.pattern, setting.from, written, segments, form);
  const isAbsolute = written.leadingSlash && reachesRoot(segments, root, form);
  return isAbsolute ? { ...rule, place: 'absolute' } : rule;
}

function isImpossible(segment: Segment): boolean {
  return segment.kind === 'literal' && (segment.text === '' || segment.text === '.' || segment.text === '..');
}

function neverMatches({ pattern, from }: PatternSetting, why: string): RequestError {
  return new RequestError(
    'EXCLUDE_PATTERN',
    `The pattern ${quoted(textOfBytes(pattern))} from ${from} can never match: ${why}`,
    {
      hint: 'Write a name (*.o), a path from the source root (/build), or an absolute path below the source.',
    },
  );
}

/** Whether a pattern with a leading `/` starts at the root directory: it does if it passes through the source root. */
function reachesRoot(segments: readonly Segment[], root: readonly ByteString[], form: NameForm): boolean {
  // A leading wildcard (`/*`, `/**/x`) conventionally means "at the source root".
  if (root.length === 0 || segments[0]?.kind !== 'literal') return false;
  let literal = true;
  for (const [index, name] of root.entries()) {
    const segment = segments[index];
    if (segment === undefined) return false;
    if (segment.kind === 'globstar') return true;
    if (!matchSegment(segment, inForm(name, form), form === 'folded')) return false;
    literal &&= segment.kind === 'literal';
  }
  return literal || segments.length > root.length;
}

function ruleOf(
  pattern: ByteString,
  from: string,
  written: WrittenPattern,
  segments: readonly Segment[],
  form: NameForm,
): PatternRule {
  return {
    form,
    negated: written.negated,
    directoriesOnly: written.directoriesOnly,
    place: written.hasSlash ? 'below' : 'anywhere',
    parents: segments.slice(0, -1),
    last: segments.at(-1) ?? { kind: 'literal', text: '' },
    exclusion: { excluded: true, rule: 'pattern', pattern: textOfBytes(pattern), from },
  };
}

/** The names of an absolute path, from the root directory on. */
export function namesOf(path: ByteString): readonly ByteString[] {
  return path
    .split('/')
    .filter((name) => name !== '')
    .map(asByteString);
}

/** The rules in force in the directory `path`. `added` are those of its own ignore files, the winning one first. */
export function enterPatterns(
  outer: ActivePatterns,
  settings: PatternLayer,
  added: readonly PatternLayer[],
  path: ByteString,
): ActivePatterns {
  const layers = added.length === 0 ? outer.layers : [...added, ...outer.layers];
  const all = [settings, ...layers];
  const everywhere = all.every(({ rules }) => rules.every(({ place }) => place === 'anywhere'));
  if (everywhere && added.length === 0 && outer !== NO_PATTERNS) return outer;
  if (everywhere) return { layers, rules: all.flatMap(({ rules }) => rules) };

  const names = namesOf(path);
  const forms: Partial<Record<NameForm, readonly string[]>> = { bytes: names };
  const namesIn = (form: NameForm): readonly string[] =>
    (forms[form] ??= names.map((name) => inForm(name, form)));
  const rules = all.flatMap((layer) =>
    layer.rules.filter((rule) => holdsIn(rule, layer.depth, namesIn(rule.form))),
  );
  return { layers, rules };
}

/** Whether the rule applies to entries of the directory with these names in its path. */
function holdsIn(rule: PatternRule, depth: number, names: readonly string[]): boolean {
  if (rule.place === 'anywhere') return true;
  return matchSegments(rule.parents, names, rule.place === 'absolute' ? 0 : depth, rule.form === 'folded');
}

/** The rule that decides about a name in the directory, negated or not; undefined when no pattern matches. */
export function decidingRule(
  rules: readonly PatternRule[],
  name: ByteString,
  isDirectory: boolean,
): PatternRule | undefined {
  let text: string | undefined;
  let folded: string | undefined;
  for (const rule of rules) {
    if (rule.directoriesOnly && !isDirectory) continue;
    let subject: string = name;
    if (rule.form === 'text') subject = text ??= inForm(name, 'text');
    else if (rule.form === 'folded') subject = folded ??= inForm(name, 'folded');
    if (matchSegment(rule.last, subject, rule.form === 'folded')) return rule;
  }
  return undefined;
}

/** The absolute pattern that decides about the source root itself, negated or not. */
export function ruleForRoot(
  settings: PatternLayer,
  root: ByteString,
  isDirectory: boolean,
): PatternRule | undefined {
  const names = namesOf(root);
  return settings.rules.find(
    (rule) =>
      rule.place === 'absolute' &&
      (isDirectory || !rule.directoriesOnly) &&
      matchSegments(
        [...rule.parents, rule.last],
        names.map((name) => inForm(name, rule.form)),
        0,
        rule.form === 'folded',
      ),
  );
}
