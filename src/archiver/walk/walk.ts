import { MOST_LOOKS, NotAsMet } from '../source/same-entry.ts';
import { storedNumber } from '../../format/stored-number.ts';
import { statPath } from '../source/stat.ts';
import { DirectoryStep } from './directory-step.ts';
import { parentDirectory, uncountBelow, type ParentDirectory } from '../before/parent.ts';
import { PendingDirectory, type StoredDirectory } from '../store/pending-directory.ts';
import type { SourceNode } from '../source/source-tree.ts';
import type { Descent, Visit, WalkParts } from './walk-parts.ts';

/**
 * The parent's tree cannot be read although it was known to be whole. The run starts again without trusting what the
 * last run learned.
 */
export class TreeNotAsKnown extends Error {
  override readonly name = 'TreeNotAsKnown';
}

/**
 * Walks the sources depth first in byte order, alongside the parent snapshot's tree, and stores every directory as soon
 * as its last entry is known. Resolves when everything has been handed to the readers; `root` is called once the tree
 * is complete.
 */
export async function walk(
  sources: SourceNode,
  parts: WalkParts,
  root: (stored: StoredDirectory) => void,
): Promise<void> {
  const visit: Visit = {
    path: sources.path,
    depth: 0,
    old: undefined,
    oldRoot: parts.parent?.snapshot.record.root,
    stat: undefined,
    inside: { excluder: undefined, scope: undefined, node: sources },
    rulesChanged: false,
  };
  if (!sources.whole) {
    await walkDirectory(visit, parts, root);
    return;
  }
  const stat = statPath(sources.path);
  const excluder = parts.excluderFor(sources.path, 'directory', Number(stat?.dev ?? 0n));
  await walkDirectory({ ...visit, stat, inside: { ...visit.inside, excluder } }, parts, (stored) => {
    const filesBefore = parts.parent?.snapshot.record.counts.files;
    parts.outcomes.completed(sources.path, excluder, { files: stored.totals.files, filesBefore });
    root(stored);
  });
}

/** Walks the directories that replaced files while those waited to be read. */
export async function walkLater(parts: WalkParts): Promise<void> {
  for (let next = parts.later.shift(); next !== undefined; next = parts.later.shift())
    await descend(next, parts);
}

/** Walks a directory. If it was replaced since it was met, it is looked up again by name in the directory that was listed. */
async function descend(first: Descent, parts: WalkParts): Promise<void> {
  let descent: Descent | undefined = first;
  while (descent !== undefined) {
    const { visit, completed, looks }: Descent = descent;
    try {
      await walkDirectory(visit, parts, completed);
      return;
    } catch (error) {
      if (!(error instanceof NotAsMet)) throw error;
      if (looks === MOST_LOOKS) descent.giveUp(error.cause);
      descent = looks === MOST_LOOKS ? undefined : descent.lookAgain();
    }
  }
  const { parent, clean, tally, signal } = parts;
  const { old } = first.visit;
  if (clean !== undefined && parent !== undefined && old !== undefined)
    await uncountBelow(parent, old, tally, signal);
}

/** @throws {NotAsMet} before any of its entries is taken */
async function walkDirectory(
  visit: Visit,
  parts: WalkParts,
  completed: (stored: StoredDirectory) => void,
): Promise<void> {
  const { path } = visit;
  await parts.pace(path);
  if (visit.stat !== undefined) parts.notes?.directory(path, visit.stat);
  const known = await parentDirectory(parts.parent, visit.old, visit.oldRoot, parts.signal);
  const reuse = known?.whole === true ? known.id : undefined;
  const pending = new PendingDirectory(parts.storeChunk, reuse, (stored) =>
    completed({ ...stored, opened: step.opened }),
  );
  const step = new DirectoryStep(visit, parts, pending);
  const oldEntries = known?.entries ?? [];
  try {
    if (known?.whole === true && canSkipListing(visit, parts)) step.reuseListing(oldEntries);
    else step.list(oldEntries);
  } finally {
    step.close();
  }
  const descents = step.descents();
  if (parts.clean !== undefined) await countAnew(step, visit, known, parts);
  for (const descent of descents) await descend(descent, parts);
  pending.listed();
}

/**
 * Takes the parent's counts for a directory that is visited, and for its subdirectories that are gone, out of the tally.
 * @throws {TreeNotAsKnown}
 */
async function countAnew(
  step: DirectoryStep,
  visit: Visit,
  known: ParentDirectory | undefined,
  { parent, tally, signal }: WalkParts,
): Promise<void> {
  if (visit.old === undefined && visit.oldRoot === undefined) return;
  if (parent === undefined || known?.whole !== true) throw new TreeNotAsKnown();
  tally.uncount(known.entries);
  for (const gone of step.gone(known.entries)) await uncountBelow(parent, gone, tally, signal);
}

/** With a change set, a directory needs no listing if its own times are unchanged and nothing in it is reported as changed. */
function canSkipListing({ path, old, stat, inside, rulesChanged }: Visit, { changes }: WalkParts): boolean {
  if (changes === undefined || old === undefined || stat === undefined) return false;
  // A directory on the way to a source is always listed: the way may have been something else before, or missing.
  if (inside.node !== undefined) return false;
  if (rulesChanged) return false;
  // Directories made at the same moment have the same times, and may have been swapped.
  if (storedNumber(stat.ino) !== old.inode) return false;
  return stat.mtimeNs === old.mtimeNs && stat.ctimeNs === old.ctimeNs && !changes.directories.has(path);
}
