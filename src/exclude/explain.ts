/** Explains why a path of a source is left out or kept, by replaying the rules of a backup from the source root down to it. */

import { asByteString, joinBytes, type ByteString } from '../base/byte-path.ts';
import { RequestError } from '../base/errors.ts';
import {
  type Decision,
  type EntryKind,
  type Exclusion,
  KEEP,
  type MountPoint,
  printable,
  quoted,
  reasonOf,
  shownPath,
} from './decision.ts';
import { decidingRule, namesOf, type PatternRule } from './patterns.ts';
import type { DirectoryScope, Excluder } from './excluder.ts';

/** The tree as it is now. Errors that it throws go to the caller of `explainExclusion`. */
export interface SourceTree {
  list(directory: ByteString): readonly ByteString[];
  /** Without following symbolic links; undefined when there is no such entry. */
  stat(path: ByteString): EntryFacts | undefined;
  /** Whether this process may not look at the path, so that `stat` throws. It is then taken for a mounted directory. */
  isClosed?(path: ByteString): boolean;
}

export interface EntryFacts {
  readonly kind: EntryKind;
  /** Bytes. */
  readonly size: number;
  /** `st_dev` as a number. */
  readonly device: number;
}

export interface Explanation {
  readonly path: ByteString;
  /** Whether a backup leaves the path out. */
  readonly excluded: boolean;
  readonly decision: Decision;
  /** The path that the decision is about: the one asked for, or a directory above it that a backup does not enter. */
  readonly decidedAt: ByteString;
  /** One sentence for people. */
  readonly sentence: string;
}

const CLOSED: EntryFacts = { kind: 'directory', size: 0, device: Number.NaN };

/**
 * Explains a path at or below the source root. A path that does not exist is taken for an empty file, or with a
 * trailing `/` for an empty directory.
 * @param sources all sources of the backup: the way to one inside this source is stored whatever the rules
 * @throws RequestError when the path is outside the source, or leads through something that is not a directory
 */
export function explainExclusion(
  excluder: Excluder,
  path: ByteString,
  tree: SourceTree,
  sources: readonly ByteString[] = [],
): Explanation {
  const { root } = excluder.source;
  const target = asByteString(`/${namesOf(path).join('/')}`);
  const below = namesBelow(root, path);
  const ledTo = sources.find((source) => source.startsWith(target === '/' ? '/' : `${target}/`));
  const without = (decidedAt: ByteString, decision: MountPoint | Exclusion): Explanation =>
    ledTo === undefined ? leftOut(target, decidedAt, decision) : theWay(target, decidedAt, decision, ledTo);
  if (excluder.rootDecision.excluded) return without(root, excluder.rootDecision);

  let scope: DirectoryScope | undefined;
  let directory = root;
  let exists = true;
  let rule: PatternRule | undefined;
  let decision: Decision = KEEP;
  for (const [index, name] of below.entries()) {
    const isTarget = index === below.length - 1;
    const entry = joinBytes(directory, name);
    scope = excluder.enterDirectory(scope, directory, exists ? tree.list(directory) : []);
    const isClosed: boolean = exists && tree.isClosed?.(entry) === true;
    const found: EntryFacts | undefined = isClosed ? CLOSED : exists ? tree.stat(entry) : undefined;
    exists = found !== undefined;
    const facts = found ?? {
      kind: !isTarget || path.endsWith('/') ? 'directory' : 'file',
      size: 0,
      device: excluder.source.device,
    };
    if (!isTarget && facts.kind !== 'directory') throw notADirectory(entry);

    decision = scope.decide(name, facts.kind, facts.size, facts.device);
    if (decision.excluded) return without(entry, decision);
    if (!decision.descend && !(isTarget && ledTo === undefined)) return without(entry, decision);
    rule = decidingRule(scope.patterns.rules, name, facts.kind === 'directory');
    directory = entry;
  }
  return {
    path: target,
    excluded: false,
    decision,
    decidedAt: target,
    sentence: keptSentence(target, decision, rule, exists),
  };
}

function leftOut(path: ByteString, decidedAt: ByteString, decision: MountPoint | Exclusion): Explanation {
  const why = reasonOf(decision);
  let sentence = `${shownPath(path)} is left out: ${why}.`;
  if (!decision.excluded) {
    sentence = `${shownPath(path)} is left out: only the directory ${shownPath(decidedAt)} is stored, because ${why}.`;
  } else if (path !== decidedAt) {
    sentence = `${shownPath(path)} is left out with the directory ${shownPath(decidedAt)}: ${why}.`;
  }
  return { path, excluded: true, decision, decidedAt, sentence };
}

/** For a directory that the rules leave out, except for the way to a source in it. */
function theWay(
  path: ByteString,
  decidedAt: ByteString,
  decision: MountPoint | Exclusion,
  source: ByteString,
): Explanation {
  const subject = `${shownPath(path)} is backed up only as far as it leads to the source ${shownPath(source)}`;
  const why = reasonOf(decision);
  const sentence =
    path === decidedAt
      ? `${subject}: ${why}.`
      : `${subject}; the rest of the directory ${shownPath(decidedAt)} is left out: ${why}.`;
  return { path, excluded: false, decision, decidedAt, sentence };
}

function keptSentence(
  path: ByteString,
  decision: Decision,
  rule: PatternRule | undefined,
  exists: boolean,
): string {
  const subject = exists
    ? `${shownPath(path)} is backed up`
    : `${shownPath(path)} does not exist, but would be backed up`;
  if (!decision.excluded && !decision.descend)
    return `${subject} as an empty directory: ${reasonOf(decision)}.`;
  if (rule === undefined) return `${subject}: no rule leaves it out.`;
  const { pattern, from } = rule.exclusion;
  return `${subject}: the pattern ${quoted(pattern)} from ${printable(from)} includes it again.`;
}

function namesBelow(root: ByteString, path: ByteString): readonly ByteString[] {
  const names = namesOf(path);
  const rootNames = namesOf(root);
  const isInside = path.startsWith('/') && rootNames.every((name, index) => names[index] === name);
  if (isInside && !names.includes(asByteString('..')) && !names.includes(asByteString('.'))) {
    return names.slice(rootNames.length);
  }
  throw new RequestError(
    'PATH_OUTSIDE_SOURCE',
    `${shownPath(path)} is not in the source ${shownPath(root)}`,
    {
      hint: 'Give an absolute path at or below the source, without . and .. in it.',
    },
  );
}

function notADirectory(path: ByteString): RequestError {
  return new RequestError(
    'NOT_A_DIRECTORY',
    `${shownPath(path)} is not a directory, so nothing can be in it`,
    {
      hint: 'Check the path. Symbolic links in a source are stored, not followed.',
    },
  );
}
