import {
  NO_PATTERNS,
  compileSettings,
  decidingRule,
  enterPatterns,
  namesOf,
  ruleForRoot,
  type ActivePatterns,
  type PatternLayer,
} from '../../exclude/patterns.ts';
import { asByteString, joinBytes, type ByteString } from '../../base/byte-path.ts';
import type { RestoreRequest } from './request.ts';
import { foldedName, foldedPath } from '../../base/spellings.ts';

/** The selection at one directory of the snapshot: which of its entries are to be restored. */
export interface SelectedDirectory {
  /** The directory itself was chosen, so it gets its metadata. Otherwise it only leads to what was chosen. */
  readonly selected: boolean;
  /** Every entry at every depth is chosen. */
  readonly everything: boolean;
  /** The selection at a subdirectory; undefined when nothing below it can be chosen. */
  enter(name: ByteString): SelectedDirectory | undefined;
  /** Whether an entry that is not a directory is chosen. */
  takes(name: ByteString): boolean;
}

/** The common case, which costs nothing. */
const EVERYTHING: SelectedDirectory = {
  selected: true,
  everything: true,
  enter: () => EVERYTHING,
  takes: () => true,
};

/** Nothing at all. */
export const NOTHING: SelectedDirectory = {
  selected: false,
  everything: false,
  enter: () => undefined,
  takes: () => false,
};

type Rules = Pick<RestoreRequest, 'paths' | 'include' | 'exclude' | 'subfolder'>;

/**
 * Compiles the request's paths and patterns into the selection at the snapshot's root directory.
 * @param sources paths that were backed up: directories above them only lead to them
 * @throws RequestError for a pattern that never matches
 */
export function compileSelection(
  { paths, include, exclude, subfolder = asByteString('/') }: Rules,
  sources: readonly ByteString[],
): SelectedDirectory {
  const rules: CompiledRules = {
    included: include.length === 0 ? undefined : compileSettings(include, subfolder),
    excluded: exclude.length === 0 ? undefined : compileSettings(exclude, subfolder),
  };
  const wanted = paths.length === 0 ? WHOLE : nodeAt(pathTree(paths), subfolder);
  const chosen = wanted === undefined ? NOTHING : subfolderOf(subfolder, wanted, rules);
  return aboveSources(leadingTo(namesOf(subfolder), chosen), pathTree(sources));
}

/** One of Holdfast's own places that lies in the target. */
export interface OwnPlaceInside {
  /** Its path below the target. */
  readonly path: ByteString;
  /** Whether other spellings of the path lead to it as well. */
  readonly ignoresCase: boolean;
}

/** The selection without Holdfast's own places below the directory, and without what is in them. */
export function withoutPlaces(
  directory: SelectedDirectory,
  places: readonly OwnPlaceInside[],
): SelectedDirectory {
  const exact = places.filter((one) => !one.ignoresCase).map(({ path }) => path);
  const folded = places.filter((one) => one.ignoresCase).map(({ path }) => foldedPath(path));
  const left = exact.length === 0 ? directory : withoutNode(directory, pathTree(exact), (name) => name);
  const fold = (name: ByteString): ByteString => asByteString(foldedName(name));
  return folded.length === 0 ? left : withoutNode(left, pathTree(folded), fold);
}

/** @param form the form of a name that `never` has */
function withoutNode(
  directory: SelectedDirectory,
  never: PathNode,
  form: (name: ByteString) => ByteString,
): SelectedDirectory {
  return {
    selected: directory.selected,
    everything: false,
    enter(name) {
      const below = directory.enter(name);
      const way = never.children.get(form(name));
      if (below === undefined || way === undefined) return below;
      return way.whole ? undefined : withoutNode(below, way, form);
    },
    takes: (name) => never.children.get(form(name))?.whole !== true && directory.takes(name),
  };
}

/** The selection at the subfolder. Since the user named it, only a pattern that matches it itself decides about it. */
function subfolderOf(path: ByteString, wanted: PathNode, rules: CompiledRules): SelectedDirectory {
  const { included, excluded } = rules;
  if (included === undefined && excluded === undefined && wanted.whole) return EVERYTHING;
  const meant = (layer: PatternLayer | undefined): boolean =>
    layer !== undefined && ruleForRoot(layer, path, true)?.negated === false;
  if (meant(excluded)) return NOTHING;
  return directoryOf(path, wanted.whole ? undefined : wanted, {
    rules,
    taken: included === undefined || meant(included),
  });
}

/** A selection in which these names lead to `directory`, and nothing else is chosen. */
function leadingTo(names: readonly ByteString[], directory: SelectedDirectory): SelectedDirectory {
  const [first, ...others] = names;
  if (first === undefined) return directory;
  return { ...NOTHING, enter: (name) => (name === first ? leadingTo(others, directory) : undefined) };
}

/** Paths as a tree of names. */
interface PathNode {
  whole: boolean;
  readonly children: Map<ByteString, PathNode>;
}

const WHOLE: PathNode = { whole: true, children: new Map() };

/** The node of a directory; undefined when it is neither on the way to a path nor below one. */
function nodeAt(root: PathNode, directory: ByteString): PathNode | undefined {
  let node: PathNode | undefined = root;
  for (const name of namesOf(directory)) {
    if (node === undefined || node.whole) break;
    node = node.children.get(name);
  }
  return node;
}

interface CompiledRules {
  readonly included: PatternLayer | undefined;
  readonly excluded: PatternLayer | undefined;
}

/** The patterns in force at a directory. */
interface PatternState {
  readonly rules: CompiledRules;
  /** An include pattern chose this directory or one above it, or there are no include patterns. */
  readonly taken: boolean;
  readonly included?: ActivePatterns | undefined;
  readonly excluded?: ActivePatterns | undefined;
}

/** @param wanted the paths asked for below this directory; undefined for all */
function directoryOf(path: ByteString, wanted: PathNode | undefined, state: PatternState): SelectedDirectory {
  const { rules, taken } = state;
  const enter = (
    layer: PatternLayer | undefined,
    outer: ActivePatterns | undefined,
  ): ActivePatterns | undefined =>
    layer === undefined ? undefined : enterPatterns(outer ?? NO_PATTERNS, layer, [], path);
  const included = taken ? undefined : enter(rules.included, state.included);
  const excluded = enter(rules.excluded, state.excluded);
  const everyPath = wanted === undefined || wanted.whole;

  return {
    selected: taken && everyPath,
    everything: false,
    enter(name) {
      const below = everyPath ? undefined : wanted.children.get(name);
      if (!everyPath && below === undefined) return undefined;
      if (matches(excluded, name, true)) return undefined;
      const childTaken = taken || matches(included, name, true);
      return directoryOf(joinBytes(path, name), below, { rules, taken: childTaken, included, excluded });
    },
    takes(name) {
      if (!everyPath && wanted.children.get(name)?.whole !== true) return false;
      return !matches(excluded, name, false) && (taken || matches(included, name, false));
    },
  };
}

function matches(patterns: ActivePatterns | undefined, name: ByteString, isDirectory: boolean): boolean {
  if (patterns === undefined) return false;
  const rule = decidingRule(patterns.rules, name, isDirectory);
  return rule !== undefined && !rule.negated;
}

/** Directories above the sources only lead to them: they are not chosen themselves. */
function aboveSources(directory: SelectedDirectory, sources: PathNode): SelectedDirectory {
  if (sources.whole || sources.children.size === 0) return directory;
  return {
    selected: false,
    everything: directory.everything,
    enter(name) {
      const below = directory.enter(name);
      const way = sources.children.get(name);
      return below === undefined || way === undefined ? below : aboveSources(below, way);
    },
    takes: (name) => directory.takes(name),
  };
}

function pathTree(paths: readonly ByteString[]): PathNode {
  const root: PathNode = { whole: false, children: new Map() };
  for (const path of paths) {
    let node = root;
    for (const name of namesOf(path)) {
      let child = node.children.get(name);
      if (child === undefined) {
        child = { whole: false, children: new Map() };
        node.children.set(name, child);
      }
      node = child;
    }
    node.whole = true;
  }
  return root;
}
