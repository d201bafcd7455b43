/**
 * Decides what a backup leaves out of a source.
 *
 * A walker opens one scope per directory and asks it about each entry. The rules are independent, and any of them can
 * leave an entry out: an absolute path that is never backed up, a tag or marker in the directory, patterns, size. A
 * directory on another file system is kept but not entered. Patterns of the command line and the configuration take
 * precedence over ignore files, an ignore file over those further up, and within one list the last match decides.
 * Nothing below an excluded directory can be taken back in, because the walker never gets there, except for a source
 * that was named there (`entry-rules.ts`).
 *
 * Apart from reading ignore files and tags, through `RuleFiles`, this is pure. Of git's sources of rules only the files
 * in the tree are used: not `.git/info/exclude`, not `core.excludesFile`, not files above the source root.
 */

import { asByteString, joinBytes, type ByteString } from '../base/byte-path.ts';
import { pathText } from '../base/tree-path.ts';
import { RequestError, SourceError } from '../base/errors.ts';
import { SAVE_AS_UTF8, faultWords, peopleBytes } from '../base/people-text.ts';
import { formatBytes } from '../base/units.ts';
import { identityOf, type OwnPlace } from '../system/same-place.ts';
import {
  KEEP,
  MOUNT_POINT,
  quoted,
  shownPath,
  reasonOf,
  type CacheDirectoryExclusion,
  type Decision,
  type EntryKind,
  type Exclusion,
  type Kept,
  type MarkerExclusion,
  type NeverExclusion,
  type PatternExclusion,
} from './decision.ts';
import {
  compileIgnoreFile,
  compileSettings,
  decidingRule,
  enterPatterns,
  NO_PATTERNS,
  ruleForRoot,
  type ActivePatterns,
  type PatternLayer,
  type PatternRule,
  type PatternSetting,
} from './patterns.ts';
import {
  contentsMarkers,
  findContentsRule,
  readRules,
  requireFileName,
  type Marker,
  type RuleFiles,
} from './tags.ts';

export interface ExcludeOptions {
  /** Later ones win. */
  readonly patterns: readonly PatternSetting[];
  /** Names of files in the tree whose patterns apply to their directory; in one directory later names win. */
  readonly ignoreFiles: readonly ByteString[];
  /** Leave out the content of directories with a CACHEDIR.TAG, except for the tag file. */
  readonly excludeCaches: boolean;
  /** Leave out the content of directories that contain one of these files, except for that file. */
  readonly markers: readonly Marker[];
  /** Leave out regular files of more than this many bytes. */
  readonly largerThan: number | undefined;
  readonly oneFileSystem: boolean;
  readonly never: readonly NeverPath[];
}

/** A path that is left out with everything below it, whatever the other rules say. `reason` says why, as a noun phrase. */
export type NeverPath = OwnPlace;

export const NO_EXCLUSIONS: ExcludeOptions = {
  patterns: [],
  ignoreFiles: [],
  excludeCaches: false,
  markers: [],
  largerThan: undefined,
  oneFileSystem: false,
  never: [],
};

export interface ExcludeSource {
  /** Absolute path, usually of a directory. */
  readonly root: ByteString;
  readonly kind: EntryKind;
  /** `st_dev` as a number. */
  readonly device: number;
}

export interface Excluder {
  readonly source: ExcludeSource;
  /**
   * The decision about the source root. It was named on purpose, so only a `never` path or an absolute pattern that
   * matches it leaves it out. When it does, there is nothing to walk.
   */
  readonly rootDecision: Decision;
  /** The decision about a directory that is one of the `never` paths under another name; undefined for any other. */
  ownPlace(stat: { readonly dev: bigint; readonly ino: bigint }): NeverExclusion | undefined;
  /** Opens the scope of a directory: the source root (without a parent), or one whose decision was to descend. */
  enterDirectory(
    parent: DirectoryScope | undefined,
    path: ByteString,
    entryNames: readonly ByteString[],
  ): DirectoryScope;
}

export interface DirectoryScope {
  /** The patterns in force here, passed on to the directories below. */
  readonly patterns: ActivePatterns;
  /** The rule that leaves out all of the directory's content, except for the file that the rule comes from. */
  readonly leavesOut: CacheDirectoryExclusion | MarkerExclusion | undefined;
  /** The decision about an entry of the directory. `size` in bytes matters for files only, `device` for directories only. */
  decide(name: ByteString, kind: EntryKind, size: number, device: number): Decision;
}

/** A larger ignore file is not a list of patterns, and every entry would be compared with all of it. */
const maxIgnoreFileBytes = 1024 * 1024;

const keepEverything: DirectoryScope = {
  patterns: NO_PATTERNS,
  leavesOut: undefined,
  decide: (): Kept => KEEP,
};

/** @throws RequestError for an option that makes no sense: a pattern that never matches, a relative `never` path */
export function createExcluder(options: ExcludeOptions, source: ExcludeSource, files: RuleFiles): Excluder {
  const root = absolutePath(source.root, 'source');
  for (const name of options.ignoreFiles) requireFileName(name, 'ignore file');
  const settings = compileSettings(options.patterns, root);
  const markers = contentsMarkers(options.markers, options.excludeCaches);
  const neverBelow = neverByDirectory(options.never);
  const identities = new Map(
    options.never.flatMap(({ identity, reason }) =>
      identity === undefined ? [] : [[identity, { excluded: true, rule: 'never', reason } as const]],
    ),
  );
  const largerThan = options.largerThan ?? Number.POSITIVE_INFINITY;
  const ignoreNames = options.ignoreFiles.toReversed();
  const isPlain =
    settings.rules.length === 0 &&
    ignoreNames.length === 0 &&
    markers.length === 0 &&
    options.largerThan === undefined &&
    !options.oneFileSystem;

  const enterDirectory: Excluder['enterDirectory'] = (parent, path, entryNames) => {
    const never = neverBelow.get(path);
    if (isPlain && never === undefined) return keepEverything;

    const contents = findContentsRule(markers, path, entryNames, files);
    const ignoreFiles = ignoreNames.filter((name) => entryNames.includes(name));
    const added = ignoreFiles.flatMap((name) => readIgnoreFile(path, name, files) ?? []);
    const patterns = enterPatterns(parent?.patterns ?? NO_PATTERNS, settings, added, path);
    const { rules } = patterns;

    const decide: DirectoryScope['decide'] = (name, kind, size, device) => {
      const forbidden = never?.get(name);
      if (forbidden !== undefined) return forbidden;
      if (contents !== undefined && name !== contents.keptName) return contents.exclusion;
      if (rules.length > 0) {
        const rule = decidingRule(rules, name, kind === 'directory');
        if (rule !== undefined && !rule.negated) return rule.exclusion;
      }
      if (kind === 'file' && size > largerThan) {
        return { excluded: true, rule: 'larger-than', size, limit: largerThan };
      }
      // Directories only: overlayfs gives files the device number of the layer they come from, so that comparing
      // it would leave out ordinary files.
      if (options.oneFileSystem && kind === 'directory' && device !== source.device) return MOUNT_POINT;
      return KEEP;
    };
    return { patterns, leavesOut: contents?.exclusion, decide };
  };

  return {
    source: { ...source, root },
    rootDecision:
      neverAtOrAbove(options.never, root) ??
      exclusionBy(ruleForRoot(settings, root, source.kind === 'directory')) ??
      KEEP,
    ownPlace(stat) {
      return identities.size === 0 ? undefined : identities.get(identityOf(stat));
    },
    enterDirectory,
  };
}

/** The error that nothing of a source is backed up, although it was named. */
export function sourceLeftOut(source: ByteString, decision: Exclusion): SourceError {
  return new SourceError(
    'SOURCE_LEFT_OUT',
    `Nothing in the source ${shownPath(source)} was backed up: ${reasonOfSource(decision)}`,
    {
      op: 'find source',
      hint: 'To back it up, remove that rule or file.',
      details: { path: pathText(source) },
    },
  );
}

function reasonOfSource(decision: Exclusion): string {
  if (decision.rule === 'cache-directory') return `the file ${shownPath(decision.tag)} marks it as a cache`;
  if (decision.rule === 'marker') return `the file ${shownPath(decision.marker)} excludes the whole folder`;
  return reasonOf(decision);
}

/** What rules left out of a source. */
export interface LeftOutEntries {
  count: number;
  /** Reasons, each with the name of an entry. */
  readonly examples: Map<string, ByteString>;
  /** Whether all that was looked at is what Holdfast itself stores there. */
  isOwnOnly: boolean;
}

/** The error that each entry of a source was left out separately, so that no file of it is backed up. */
export function everythingLeftOut(
  source: ByteString,
  { count, examples, isOwnOnly }: LeftOutEntries,
): SourceError {
  if (isOwnOnly && examples.size > 0)
    return new SourceError(
      'SOURCE_LEFT_OUT',
      `No file in the source ${shownPath(source)} was backed up: it holds nothing but the backups themselves`,
      {
        op: 'find source',
        hint: 'Choose another source.',
        details: { path: pathText(source) },
      },
    );
  const named = [...examples].map(([reason, name]) => `${shownPath(name)}, as ${reason}`).join('; ');
  return new SourceError(
    'SOURCE_LEFT_OUT',
    `No file in the source ${shownPath(source)} was backed up: the rules exclude everything in it (${count === 1 ? 'one entry' : `${count} entries`})${named === '' ? '' : `: ${named}`}`,
    {
      op: 'find source',
      hint: 'To back it up, change these rules.',
      details: { path: pathText(source) },
    },
  );
}

function exclusionBy(rule: PatternRule | undefined): PatternExclusion | undefined {
  return rule === undefined || rule.negated ? undefined : rule.exclusion;
}

function readIgnoreFile(directory: ByteString, name: ByteString, files: RuleFiles): PatternLayer | undefined {
  const path = joinBytes(directory, name);
  const content = readRules(files, path, maxIgnoreFileBytes + 1);
  if (content === undefined) return undefined;
  if (content.length <= maxIgnoreFileBytes) {
    const text = peopleBytes(content);
    if (text !== undefined) return compileIgnoreFile(text, path, directory);
    files.onError(
      new SourceError('EXCLUDE_FILE_UNREADABLE', `${shownPath(path)} ${faultWords('zero-bytes')}`, {
        op: 'read exclude rules',
        hint: `Its rules are not applied in this backup. ${SAVE_AS_UTF8}`,
      }),
    );
    return undefined;
  }
  files.onError(
    new SourceError(
      'EXCLUDE_FILE_TOO_LARGE',
      `${shownPath(path)} is larger than ${formatBytes(maxIgnoreFileBytes)}, too large for a list of patterns`,
      { op: 'read exclude rules', hint: 'Its rules are not applied in this backup. Shorten or remove it.' },
    ),
  );
  return undefined;
}

/** Directory -> name in it -> decision. */
function neverByDirectory(
  never: readonly NeverPath[],
): ReadonlyMap<ByteString, ReadonlyMap<ByteString, NeverExclusion>> {
  const directories = new Map<ByteString, Map<ByteString, NeverExclusion>>();
  for (const { path, reason } of never) {
    const absolute = absolutePath(path, 'path that is never backed up');
    const slash = absolute.lastIndexOf('/');
    const directory = asByteString(absolute.slice(0, slash) || '/');
    const names = directories.get(directory) ?? new Map<ByteString, NeverExclusion>();
    names.set(asByteString(absolute.slice(slash + 1)), { excluded: true, rule: 'never', reason });
    directories.set(directory, names);
  }
  return directories;
}

function neverAtOrAbove(never: readonly NeverPath[], root: ByteString): NeverExclusion | undefined {
  for (const { path, reason } of never) {
    const absolute = absolutePath(path, 'path that is never backed up');
    if (absolute === root) return { excluded: true, rule: 'never', reason };
    if (absolute === '/' || root.startsWith(`${absolute}/`)) {
      return { excluded: true, rule: 'never', reason: `inside ${reason}` };
    }
  }
  return undefined;
}

/**
 * The path without trailing slashes.
 * @throws RequestError when it is not absolute
 */
function absolutePath(path: ByteString, what: string): ByteString {
  if (!path.startsWith('/')) {
    throw new RequestError('EXCLUDE_PATH', `The ${what} ${quoted(pathText(path))} is not an absolute path`, {
      hint: 'Give the full path.',
    });
  }
  return asByteString(path.replace(/\/+$/, '') || '/');
}
