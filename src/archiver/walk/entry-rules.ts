/**
 * Decides by which rules an entry is taken. A source inside another source starts afresh: it has its own device and its
 * own anchor for patterns, and ignores the rules above it. If those leave out a directory on the way to it, that
 * directory is stored with nothing but the way.
 */
import type { ByteString } from '../../base/byte-path.ts';
import type { Decision } from '../../exclude/decision.ts';
import type { DirectoryScope, Excluder } from '../../exclude/excluder.ts';
import type { SourceKind } from '../source/stat.ts';
import type { SourceNode } from '../source/source-tree.ts';
import type { EntryStat } from '../../system/entry-stat.ts';

/** The rules for the entries of a directory. */
export interface RulesInside {
  /** Undefined where only the way to the sources of `node` is taken. */
  readonly excluder: Excluder | undefined;
  /** The rules of the directory that holds this one; undefined at a source. */
  readonly scope: DirectoryScope | undefined;
  /** The sources below the directory; undefined when there are none. */
  readonly node: SourceNode | undefined;
}

export interface TakenEntry {
  /** False for a directory that is stored without its content. */
  readonly descend: boolean;
  readonly inside: RulesInside;
}

export interface FoundEntry {
  readonly name: ByteString;
  readonly path: ByteString;
  readonly kind: SourceKind;
  readonly stat: EntryStat;
  /** The entry is a source, or leads to some. */
  readonly node: SourceNode | undefined;
}

/** Makes the rules for one source root, once its stat is known. */
export type ExcluderFor = (root: ByteString, kind: SourceKind, device: number) => Excluder;

/** The decision of the rules about an entry that is no named source. */
export function decisionOn(
  { name, kind, stat }: Pick<FoundEntry, 'name' | 'kind' | 'stat'>,
  { excluder, scope }: Pick<RulesInside, 'excluder' | 'scope'>,
): Decision | undefined {
  const plainKind = kind === 'file' || kind === 'directory' ? kind : 'other';
  const ownPlace = kind === 'directory' ? excluder?.ownPlace(stat) : undefined;
  return ownPlace ?? scope?.decide(name, plainKind, stat.size, Number(stat.dev));
}

/**
 * @param scope the rules of the directory that contains the entry
 * @returns undefined when the entry is left out
 */
export function takeEntry(
  { name, path, kind, stat, node }: FoundEntry,
  { excluder, scope }: Pick<RulesInside, 'excluder' | 'scope'>,
  excluderFor: ExcluderFor,
): TakenEntry | undefined {
  const below = kind === 'directory' && node !== undefined && node.children.size > 0 ? node : undefined;
  let inside: RulesInside = { excluder, scope, node: below };
  let decision: Decision | undefined;
  if (node?.whole === true) {
    const own = excluderFor(path, kind, Number(stat.dev));
    inside = { excluder: own, scope: undefined, node: below };
    decision = (kind === 'directory' && own.ownPlace(stat)) || own.rootDecision;
  } else {
    decision = decisionOn({ name, kind, stat }, { excluder, scope });
  }
  if (decision?.excluded === false && decision.descend) return { descend: true, inside };
  if (below !== undefined)
    return { descend: true, inside: { excluder: undefined, scope: undefined, node: below } };
  return decision?.excluded === false ? { descend: false, inside } : undefined;
}
